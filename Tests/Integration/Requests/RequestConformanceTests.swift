// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The features of a request object on a device, expressed by a row, against httpbin.
struct RequestConformanceTests {
    private let httpbin: HttpbinServer

    init() throws {
        httpbin = try HttpbinServer()
    }

    private func service(_ queue: borrowing TestQueue, base: String = "", _ columns: String = "", _ values: String = "")
        throws
    {
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url\(columns.isEmpty ? "" : ", " + columns))
            values ('bin', '\(httpbin.url)\(base)'\(values.isEmpty ? "" : ", " + values))
            """)
    }

    /// The error code and its number in the closed list.
    private func failure(_ queue: borrowing TestQueue, _ id: Int64) throws -> [String?] {
        try queue.rows(
            """
            select s.error_code, c.number::text
            from postrider.job_status s left join postrider.error_codes c on c.code = s.error_code where s.id = \(id)
            """)[0]
    }

    @Test func `each HTTP method arrives at the server unchanged`() throws {
        let queue = try TestQueue()
        try service(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]
        for method in methods {
            _ = try queue.insert("service, method, url, tag", "'bin', '\(method)', 'anything', '\(method)'")
        }
        try queue.waitUntilDone()
        let seen = try queue.rows(
            "select tag, state, result ->> 'method' from postrider.job_status order by id")
        #expect(
            seen == methods.map { [$0, "succeeded", $0 == "HEAD" || $0 == "OPTIONS" ? nil : $0] })
    }

    @Test func `query arguments, headers and bodies arrive complete`() throws {
        let queue = try TestQueue()
        try service(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let get = try queue.insert(
            "service, url, query, headers",
            "'bin', 'anything?own=1', '{\"key\": \"välue & more\", \"list\": [1, 2]}', '{\"Custom-Header\": \"value\"}'"
        )
        let form = try queue.insert(
            "service, method, url, body_form",
            "'bin', 'POST', 'post', '{\"a\": {\"b\": [\"1\", \"2\"]}, \"c\": \"d e\"}'")
        let json = try queue.insert(
            "service, method, url, body_json", "'bin', 'POST', 'post', '{\"a\": [1, {\"b\": null}], \"c\": \"ü\"}'")
        let list = try queue.insert("service, method, url, body_json", "'bin', 'POST', 'post', '[1, 2, 3]'")
        let raw = try queue.insert(
            "service, method, url, body, headers",
            "'bin', 'PUT', 'put', '\\x000102ff', '{\"Content-Type\": \"application/x-thing\"}'")
        try queue.waitUntilDone()
        func answer(_ id: Int64, _ path: String) throws -> String? {
            try queue.text("select result #>> '{\(path)}' from postrider.job_status where id = \(id)")
        }
        #expect(try answer(get, "args,key") == "välue & more")
        #expect(try answer(get, "args,list") == "[\"1\", \"2\"]")
        #expect(try answer(get, "args,own") == "1")
        #expect(try answer(get, "headers,Custom-Header") == "value")
        #expect(try answer(form, "form") == "{\"c\": \"d e\", \"a[b][]\": [\"1\", \"2\"]}")
        #expect(try answer(json, "json") == "{\"a\": [1, {\"b\": null}], \"c\": \"ü\"}")
        #expect(try answer(list, "json") == "[1, 2, 3]")
        #expect(try answer(raw, "data") == "data:application/octet-stream;base64,AAEC/w==")
        #expect(try answer(raw, "headers,Content-Type") == "application/x-thing")
    }

    @Test func `basic auth in a URL works, a wrong password fails, and job_status hides the password`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let open = httpbin.url.replacing("http://", with: "http://123:456@")
        let good = try queue.insert("url", "'\(open)/basic-auth/123/456'")
        let bad = try queue.insert("url", "'\(open)/basic-auth/123/789'")
        try queue.wait(for: good, toBe: "succeeded")
        try queue.wait(for: bad, toBe: "failed")
        #expect(try failure(queue, bad) == ["http_status", "-8"])
        #expect(try queue.number("select count(*) from postrider.job_status where url like '%456@%'") == 0)
    }

    @Test func `a call over its time limit fails with timeout, a refused connection with connect`() throws {
        let queue = try TestQueue()
        try service(queue, "timeout", "interval '700 ms'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let byJob = try queue.insert("url, timeout, max_attempts", "'\(httpbin.url)/delay/5', '500 ms', 1")
        let byService = try queue.insert("service, url, max_attempts", "'bin', 'delay/5', 1")
        let refused = try queue.insert("url, max_attempts", "'http://127.0.0.1:\(try TargetServer.freePort())/', 1")
        try queue.waitUntilDone()
        #expect(try failure(queue, byJob) == ["timeout", "101"])
        #expect(try failure(queue, byService) == ["timeout", "101"])
        #expect(try failure(queue, refused) == ["connect", "202"])
    }

    @Test func `ok_statuses decides which statuses succeed`() throws {
        let queue = try TestQueue()
        try service(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let teapot = try queue.insert("service, url", "'bin', 'status/418'")
        let allowed = try queue.insert("service, url, ok_statuses", "'bin', 'status/418', '{[200,300),[418,419)}'")
        let created = try queue.insert("service, url, ok_statuses", "'bin', 'status/201', '{[200,201)}'")
        try queue.waitUntilDone()
        #expect(try failure(queue, teapot) == ["http_status", "-8"])
        #expect(try queue.state(allowed) == "succeeded")
        #expect(try failure(queue, created) == ["http_status", "-8"])
    }

    @Test func `300 concurrent requests each get their own answer`() throws {
        let queue = try TestQueue()
        try service(queue)
        let worker = try RunningWorker(queue.database, concurrency: 100)
        defer { worker.kill() }
        try queue.insert(300, "service, url, query, tag", "'bin', 'get', jsonb_build_object('key', i), i::text")
        try queue.waitUntilDone(60)
        #expect(
            try queue.number(
                "select count(*) from postrider.job_status where state = 'succeeded' and result #>> '{args,key}' = tag")
                == 300)
    }

    @Test func `a service adds query and headers to every call, and use_cdn replaces the base URL`() throws {
        let queue = try TestQueue()
        let cdn = try HttpbinServer()
        try service(
            queue, "query, headers, cdn_url", "'{\"app\": \"2.1\"}', '{\"X-Device\": \"d7\"}', '\(cdn.url)/anything'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let plain = try queue.insert("service, url", "'bin', 'get?key=1'")
        let fast = try queue.insert("service, url, use_cdn", "'bin', 'logo.png', true")
        try queue.waitUntilDone()
        #expect(
            try queue.rows(
                """
                select result #>> '{args,app}', result #>> '{args,key}', result #>> '{headers,X-Device}'
                from postrider.job_status where id = \(plain)
                """) == [["2.1", "1", "d7"]])
        #expect(
            try queue.text("select result ->> 'url' from postrider.job_status where id = \(fast)")?
                .hasSuffix("/anything/logo.png?app=2.1") == true)
    }
}
