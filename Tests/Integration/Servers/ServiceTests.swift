// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Jobs with a service: the additions to their calls, and the effect of changes to the service.
struct ServiceTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    private func service(_ queue: borrowing TestQueue, _ columns: String = "", _ values: String = "") throws {
        _ = try queue.text(
            """
            insert into postrider.services (name, base_url\(columns.isEmpty ? "" : ", " + columns))
            values ('api', '\(target.url)/ok/v1'\(values.isEmpty ? "" : ", " + values)) returning name
            """)
    }

    @Test(arguments: [
        ("get", "/ok/v1/get"), ("/ok", "/ok"), ("get/val/", "/ok/v1/get/val/"), ("../x?a=1", "/ok/x?a=1"),
        ("?b=2", "/ok/v1/?b=2"),
    ])
    func `a relative URL is resolved against the service's base_url`(url: String, path: String) throws {
        let queue = try TestQueue()
        try service(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("service, url", "'api', '\(url)'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.map(\.path) == [path])
        #expect(try queue.text("select lane from postrider.job_status where id = \(id)") == "api")
    }

    @Test(arguments: [
        ("base_url", "'http://h/'", "name"), ("name, base_url", "'api', 'ftp://h/'", "base_url"),
        ("name, base_url", "'api', 'http://h/?key=secret'", "base_url"),
        ("name, base_url", "'api', 'http://h/v1#a'", "base_url"),
        ("name, cdn_url", "'api', 'http://h/?a=1'", "cdn_url"),
        ("name, cdn_url", "'api', 'h/x'", "cdn_url"), ("name, headers", "'api', '{\"Host\": \"h\"}'", "headers"),
        ("name, query", "'api', '[1]'", "query"), ("name, timeout", "'api', '-1 s'", "timeout"),
        ("name, max_response", "'api', -1", "max_response"), ("name, proxy", "'api', 'ftp://u:secret@p'", "proxy"),
        ("name, proxy", "'api', 'http://u:secret@p:99999'", "proxy"), ("name, proxy", "'api', 'http://p:0/'", "proxy"),
        ("name, proxy", "'api', 'http://127.0.0.1?secret'", "proxy"), ("name, proxy", "'api', 'http://:80'", "proxy"),
        ("name, proxy", "'api', 'http://p#x'", "proxy"), ("name, proxy", "'api', 'http://u:secret@'", "proxy"),
        ("name, proxy, cookies", "'api', 'http://u:secret@p', null", "cookies"),
        ("name, interface", "'api', 'a b'", "interface"), ("name, tls", "'api', '{\"ca\": \"relative.pem\"}'", "tls"),
        ("name, tls", "'api', '{\"ca\": \"/a\\u0001\"}'", "tls"),
        ("name, tls", "'api', '{\"pins\": [\"sha1//x\"]}'", "tls"), ("name, cache_mode", "'api', 'both'", "cache_mode"),
        ("name, envelope", "'api', '{\"kode\": \"$.code\"}'", "envelope"),
        ("name, idempotency_header", "'api', 'a b'", "idempotency_header"),
    ])
    func `an invalid service is refused with its column name and without secrets`(
        columns: String, values: String, named: String
    ) throws {
        let queue = try TestQueue(sharedBy: #function)
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("insert into postrider.services (\(columns)) values (\(values))")
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("services.\(named):"))
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        ("idempotency_header", "'x y'"), ("idempotency_header", "'Host'"), ("idempotency_header", "'Content-Length'"),
        ("idempotency_header", "'TRANSFER-encoding'"), ("idempotency_header", "'connection'"),
        ("idempotency_header", "'Content-Type'"), ("idempotency_header", "'authorization'"),
        ("idempotency_header", "'Cookie'"), ("idempotency_header", "'User-Agent'"),
        ("idempotency_header", "'If-Match'"), ("idempotency_header", "null"), ("idempotency_header", "''"),
        ("cache_max_bytes", "-1"), ("cache_max_bytes", "null"), ("installation", "null"),
        ("judge_timeout", "'9 ms'"), ("judge_timeout", "'61 s'"), ("judge_timeout", "null"),
    ])
    func `an invalid setting is refused with its column name and a hint`(column: String, value: String) throws {
        let queue = try TestQueue(sharedBy: #function)
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.settings set \(column) = \(value)")
        }
        #expect(error?.sqlState?.rawValue == "PR001" && error?.hint?.isEmpty == false)
        #expect(error.map { "\($0)" }?.contains("settings.\(column):") == true)
        guard column == "idempotency_header", value != "null" else { return }
        #expect(throws: PGError.self) {
            try queue.connection.execute(
                "insert into postrider.services (name, \(column)) values ('api', \(value))")
        }
    }

    @Test func `a service's headers and arguments are added, and the job's values take precedence`() throws {
        let queue = try TestQueue()
        try service(
            queue, "headers, query",
            "'{\"X-Common\": \"service\", \"X-Both\": \"service\"}', '{\"key\": \"k\", \"page\": 1, \"in_url\": \"s\"}'"
        )
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "service, url, headers, query", "'api', 'get?in_url=u', '{\"x-both\": \"job\"}', '{\"page\": 7}'")
        try queue.wait(for: id, toBe: "succeeded")
        let request = try #require(target.requests.first)
        #expect(request.path == "/ok/v1/get?in_url=u&key=k&page=7")
        #expect(request.header("x-common") == "service")
        #expect(request.header("x-both") == "job")
    }

    @Test(arguments: [
        ("?a+b=9&%63=5", ""), ("?a%20b&%63", ""), ("?%61+%62=1", "&c=3"), ("?x=%63&%zz=1&%00=2&c%2=3", "&c=3&a%20b=1"),
        ("?%C3%A9=1", "&c=3&a%20b=1"), ("?c=1#?a+b=2", "&a%20b=1"),
    ])
    func `a query name in the URL overrides the service's argument in any encoding`(query: String, added: String) throws
    {
        let queue = try TestQueue()
        try service(queue, "query", "'{\"a b\": 1, \"c\": 3}'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("service, url", "'api', 'get\(query)'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.first?.path == "/ok/v1/get\(query.split(separator: "#")[0])\(added)")
    }

    @Test func `a JSON Content-Type of a service applies to bodies and JSON, not to forms and parts`() throws {
        let queue = try TestQueue()
        try service(queue, "headers", "'{\"content-TYPE\": \"application/vnd.api+json\"}'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let part = "[{\"name\": \"a\", \"content\": \"b\"}]"
        for (column, value) in [
            ("body_json", "{}"), ("body", "{}"), ("body_form", "{\"a\": 1}"), ("body_parts", part),
        ] {
            try queue.wait(
                for: queue.insert("service, method, url, \(column)", "'api', 'POST', '\(column)', '\(value)'"),
                toBe: "succeeded")
        }
        let types = target.requests.map { $0.header("content-type") ?? "" }
        #expect(types.prefix(3) == ["application/vnd.api+json", "application/vnd.api+json", Self.form])
        #expect(types.last?.hasPrefix("multipart/form-data; boundary=") == true && types.count == 4)

        let own = "\(Self.form); charset=utf-8"
        try queue.connection.execute("update postrider.services set headers = '{\"Content-Type\": \"\(own)\"}'")
        let id = try queue.insert("service, method, url, body_form", "'api', 'POST', 'own', '{\"a\": 1}'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.last?.header("content-type") == own)
    }

    @Test(arguments: [
        "http://p", "HTTPS://u:p%40w@proxy.example.com:3128/", "socks5h://[::1]:1080", "socks5://u@127.0.0.1",
        "http://a@b:c@p:1", "http://u:1@p",
    ])
    func `a valid proxy URL is accepted`(proxy: String) throws {
        let queue = try TestQueue()
        try service(queue, "proxy", "'\(proxy)'")
    }

    private static let form = "application/x-www-form-urlencoded"

    @Test(arguments: [false, true])
    func `a service's headers, query and cookies go to foreign origins only with apply_to_absolute`(
        isApplied: Bool
    ) throws {
        let queue = try TestQueue()
        let other = try TargetServer()
        let cdn = try TargetServer { request in
            TargetStep.answer(200, headers: request.path.hasPrefix("/set") ? ["Set-Cookie: visitor=v"] : [])
        }
        let spare = try TargetServer()
        try service(
            queue, "headers, query, cookies, cdn_url, apply_to_absolute",
            "'{\"X-Common\": \"service\"}', '{\"key\": \"k\"}', true, '\(cdn.url)', \(isApplied)")
        try queue.connection.execute(
            "insert into postrider.servers (service, position, base_url, environment) values ('api', 1, '\(spare.url)', 'elsewhere')"
        )
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        // A cookie of this host, for every port.
        try queue.wait(for: queue.insert("service, url", "'api', '\(cdn.url)/set'"), toBe: "succeeded")
        let own = [target, cdn, spare]
        for server in own + [other] { try queue.insert("service, url", "'api', '\(server.url)/ok/here'") }
        let chain =
            #"{"chain": [{"name": "a", "url": "\#(other.url)/ok"}, {"url": "\#(other.url)/{{a.status}}", "service": "api"}]}"#
        try queue.connection.execute("select postrider.submit('\(chain)')")
        try queue.waitUntilDone()
        for server in own {
            let request = try #require(server.requests.last)
            #expect(request.path == "/ok/here?key=k" && request.header("x-common") == "service")
            #expect(request.header("cookie") == "visitor=v")
        }
        for request in other.requests where request.path != "/ok" {
            #expect(request.path.hasSuffix("?key=k") == isApplied)
            #expect((request.header("x-common") != nil) == isApplied)
            #expect((request.header("cookie") != nil) == isApplied)
        }
        #expect(other.requests.count == 3)
    }

    @Test func `the commit refuses headers or query of a service without origin unless apply_to_absolute is set`()
        throws
    {
        let queue = try TestQueue()
        for (columns, values, column) in [
            ("headers", "'{\"A\": \"b\"}'", "headers"),
            ("query, envelope", "'{\"a\": 1}', '{\"code\": \"$.a\"}'", "query"),
        ] {
            let insert = "insert into postrider.services (name, \(columns)) values ('api', \(values))"
            let error = #expect(throws: PGError.self) { try queue.connection.execute(insert) }
            #expect(error?.sqlState?.rawValue == "PR001" && error?.hint?.contains("apply_to_absolute") == true)
            #expect(error.map { "\($0)" }?.contains("services.\(column):") == true)
            try queue.connection.execute(
                """
                begin; \(insert); insert into postrider.servers (service, position, base_url) values ('api', 1,
                    'http://h/'); commit;
                delete from postrider.servers; delete from postrider.services
                """)
        }
        try queue.connection.execute(
            "insert into postrider.services (name, query, apply_to_absolute) values ('api', '{\"a\": 1}', true)")
    }

    @Test func `a changed service applies to the next call without a restart`() throws {
        let queue = try TestQueue()
        try service(queue, "headers", "'{\"X-Common\": \"old\"}'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: try queue.insert("service, url", "'api', 'a'"), toBe: "succeeded")
        _ = try queue.text(
            "update postrider.services set headers = '{\"X-Common\": \"new\"}', base_url = base_url || '2' returning name"
        )
        try queue.wait(for: try queue.insert("service, url", "'api', 'b'"), toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/ok/v1/a", "/ok/v12/b"])
        #expect(target.requests.map { $0.header("x-common") } == ["old", "new"])
    }

    @Test func `a job whose service was deleted fails with config, and other jobs run`() throws {
        let queue = try TestQueue()
        try service(queue)
        _ = try queue.text(
            "insert into postrider.services (name, base_url) values ('gone', 'http://h/') returning name")
        let lost = try queue.insert("service, url", "'gone', 'x'")
        let fine = try queue.insert("service, url", "'api', 'x'")
        _ = try queue.text("delete from postrider.services where name = 'gone' returning name")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: lost, toBe: "failed")
        try queue.wait(for: fine, toBe: "succeeded")
        let row = try queue.rows("select error_code, error from postrider.job_status where id = \(lost)")
        #expect(row[0][0] == "config")
        #expect(row[0][1]?.contains("service gone no longer exists") == true)
    }

    @Test func `an answer that arrives after its service was deleted is not judged and fails as config`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        _ = try queue.text(
            """
            insert into postrider.services (name, base_url, envelope)
            values ('gone', '\(target.url)', '{"code": "$.code", "success": [200]}') returning name
            """)
        let id = try queue.insert("service, url", "'gone', 'wait/1000/x'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        _ = try queue.text("delete from postrider.services where name = 'gone' returning name")
        try queue.wait(for: id, toBe: "failed")
        let row = try queue.rows(
            "select error_code, error, status_code::text from postrider.job_status where id = \(id)")
        #expect(row[0][0] == "config" && row[0][2] == "200")
        #expect(row[0][1]?.hasPrefix("service gone was removed during the call") == true)
    }

    @Test func `cookies that a server sets are sent with the service's next call`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        _ = try queue.text(
            "insert into postrider.services (name, base_url, cookies) values ('bin', '\(httpbin.url)', true) returning name"
        )
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(
            for: try queue.insert("service, url", "'bin', '/cookies/set?flavour=oat&gone=1'"), toBe: "succeeded")
        try queue.wait(for: try queue.insert("service, url", "'bin', '/cookies/delete?gone='"), toBe: "succeeded")
        let id = try queue.insert("service, url", "'bin', '/cookies'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text("select result ->> 'cookies' from postrider.job_status where id = \(id)")
                == "{\"flavour\": \"oat\"}")
    }

    @Test func `job_status shows the progress of a long transfer only while the transfer runs`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url", "'\(httpbin.url)/drip?duration=8&numbytes=80&delay=0'")
        try queue.wait(
            until: "select bytes_done between 1 and 79 and bytes_total = 80 from postrider.job_status where id = \(id)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.text("select bytes_done::text from postrider.job_status where id = \(id)") == nil)
        try queue.wait(until: "select count(*) = 0 from postrider_internal.progress")
    }

    @Test func `service jobs and plain jobs all succeed although their worker is killed`() throws {
        let queue = try TestQueue()
        try service(queue)
        let first = try RunningWorker(queue.database, concurrency: 16)
        try queue.connection.execute(
            """
            with plain as (insert into postrider.jobs (url) select '\(target.url)/ok/plain/' || n
                           from generate_series(1, 200) n)
            insert into postrider.jobs (service, url) select 'api', 'rich/' || n from generate_series(1, 200) n
            """)
        try queue.wait(until: "select count(*) > 20 from postrider_internal.results")
        _ = first.end(SIGKILL)
        let second = try RunningWorker(queue.database, concurrency: 16)
        defer { second.kill() }
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded 400")
        #expect(Set(target.requests.map(\.path)).count == 400)
    }
}
