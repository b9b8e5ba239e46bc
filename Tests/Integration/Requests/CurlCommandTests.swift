// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `worker show ID --curl`: real curl sends the same request as the worker.
struct CurlCommandTests {
    /// A job with the secrets that its command needs, and a part of the command.
    private struct Case {
        var columns: String
        var values: String
        var secrets: [String] = []
        var contains = ""
    }

    private let httpbin: HttpbinServer

    init() throws {
        httpbin = try HttpbinServer()
    }

    private static let cases = [
        Case(columns: "url, query", values: #"'URL/anything?own=1', '{"key word": "välue & more", "list": [1, 2]}'"#),
        Case(
            columns: "url", values: "'LOGIN/anything'", secrets: ["pa ss"], contains: #"-u "ada:$POSTRIDER_SECRET""#),
        Case(
            columns: "url", values: "'URL/anything?a[]={1}&api_key=a%20b'", secrets: ["a%20b"],
            contains: #"-g "http"#),
        Case(columns: "url, method", values: "'URL/anything', 'DELETE'", contains: "-X DELETE"),
        Case(columns: "url, method", values: "'URL/anything', 'PUT'"),
        Case(
            columns: "url, headers",
            values:
                #"'URL/anything', '{"X-A": ["1", "it''s \"$HOME\" `id` !"], "X-E": "", "Cookie": "a=b", "User-Agent": "me"}'"#,
            secrets: ["a=b"], contains: #"-H "Cookie: $POSTRIDER_SECRET""#),
        Case(
            columns: "url, method, body_json",
            values: #"'URL/anything', 'POST', '{"password": "x\"y", "code": 7, "n": [1, "it''s"], "ü": null}'"#,
            secrets: ["7", #"x\"y"#]),
        Case(
            columns: "url, method, body_form",
            values: #"'URL/anything', 'POST', '{"a": {"b": ["1", "2"]}, "c": "d e", "token": "t&t"}'"#,
            secrets: ["t%26t"]),
        Case(
            columns: "url, method, body, headers",
            values: #"'URL/anything', 'PUT', '\x000102ff27255c0a', '{"Content-Type": "application/x-thing"}'"#,
            contains: "printf '"),
        Case(
            columns: "url, method, body",
            values: #"'URL/anything', 'POST', convert_to('it''s "$HOME" `id` !' || chr(10) || '@x % \n', 'UTF8')"#),
        Case(
            columns: "url, method, body, headers",
            values:
                #"'URL/anything', 'PATCH', convert_to('{ "token" : "abc", "code":1.0}', 'UTF8'), '{"Content-Type": "application/json"}'"#,
            secrets: ["abc", "1.0"]),
        Case(
            columns: "url, method, body",
            values: "'URL/anything', 'POST', convert_to(repeat('0123456789', 20000), 'UTF8')",
            contains: "printf %s "),
        Case(
            columns: "url, method, body_parts",
            values:
                #"'URL/anything', 'POST', '[{"name": "a", "content": "@x;type=1"}, {"name": "b", "content": "y\"z\\", "type": "text/plain; charset=utf-8"}, {"name": "c", "content": "<q>", "filename": "f \"1\".txt", "type": "text/html"}, {"name": "d", "base64": "AQI="}, {"name": "e", "base64": "LQEK"}, {"name": "g", "base64": "LWIB"}, {"name": "token", "content": "t"}]'"#,
            secrets: ["t"], contains: "--form-string "),
        Case(
            columns: "url, method, delivery, body_json", values: "'URL/anything', 'POST', 'at_most_once', '[1, 2]'",
            contains: "Connection: close"),
        Case(
            columns: "service, url, query", values: #"'keyed', 'anything/%C3%BC?x=1', '{"b": "2"}'"#,
            secrets: ["k1", "k2"]),
        Case(
            columns: "service, method, url, body_json", values: "'packed', 'POST', 'anything', '[1]'",
            contains: "gzip -nc"),
        Case(
            columns: "url, credential", values: "'URL/anything', 'bearer'", secrets: ["t0ken"],
            contains: #"-H "Authorization: Bearer $POSTRIDER_SECRET""#),
        Case(
            columns: "url, credential", values: "'URL/anything', 'basic'", secrets: ["eve", "pass"],
            contains: #"-u "$POSTRIDER_SECRET_1:$POSTRIDER_SECRET_2""#),
        Case(
            columns: "url, method, credential, body_json", values: "'URL/anything', 'POST', 'injson', '{\"a\": 1}'",
            secrets: ["t0ken"]),
        Case(
            columns: "url, credential", values: "'URL/anything?access=own', 'inquery'", secrets: ["t0ken"]),
    ]

    private func prepare(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, headers, query, gzip_request) values
              ('keyed', '\(httpbin.url)', '{"X-Api-Key": "k2", "X-Plain": "p"}', '{"sig": "k1"}', false),
              ('packed', '\(httpbin.url)', null, null, true);
            insert into postrider.credentials (name, kind, place) values
              ('bearer', 'bearer', null), ('basic', 'basic', null), ('injson', 'api_key', '{"json": "accessToken"}'),
              ('inquery', 'api_key', '{"query": "access"}');
            update postrider.credentials set allowed_origins = array['\(httpbin.url)'];
            select postrider.log_in('bearer', '{"access_token": "t0ken"}'),
              postrider.log_in('basic', '{"username": "eve", "password": "pass"}'),
              postrider.log_in('injson', '{"api_key": "t0ken"}'), postrider.log_in('inquery', '{"api_key": "t0ken"}')
            """)
    }

    private func command(_ queue: borrowing TestQueue, _ id: Int64) throws -> WorkerProcess.Outcome {
        try WorkerProcess.run(["show", "\(id)", "--curl", "--database", queue.database])
    }

    /// The output of a command in a POSIX shell.
    private func run(_ command: String, _ secrets: [String]) throws -> String {
        var script = ""
        for (index, secret) in secrets.enumerated() {
            let name = secrets.count == 1 ? "POSTRIDER_SECRET" : "POSTRIDER_SECRET_\(index + 1)"
            script += "\(name)='\(secret)'\n"
        }
        let folder = try TestFolder()
        try folder.write("script", script + "exec 2>/dev/null\n" + command)
        return try WorkerProcess.run(["/bin/sh", folder.path("script")], reading: "").output
    }

    /// The boundary of multipart bodies is random.
    private static let normal = "regexp_replace($1, 'boundary=-*[0-9a-zA-Z]+', 'boundary')::jsonb"

    @Test func `curl sends the same method, URL, headers and body as the worker`() throws {
        let queue = try TestQueue()
        try prepare(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let login = httpbin.url.replacing("://", with: "://ada:pa%20ss@")
        var ids: [Int64] = []
        for one in Self.cases {
            let values = one.values.replacing("URL", with: httpbin.url).replacing("LOGIN", with: login)
            ids.append(try queue.insert(one.columns, values))
        }
        try queue.waitUntilDone()
        for (id, one) in zip(ids, Self.cases) {
            let shown = try command(queue, id)
            #expect(shown.status == 0, "\(shown.output)")
            #expect(shown.output.contains(one.contains), "\(shown.output)")
            for secret in one.secrets where secret.count > 3 {
                #expect(!shown.output.contains(secret), "\(shown.output)")
            }
            let echo = try run(shown.output, one.secrets)
            let sent = try queue.text(
                "select convert_from(body, 'UTF8') from postrider.job_status where id = \(id) and state = 'succeeded'")
            let same = queue.areEqual(echo, sent, by: Self.normal)
            #expect(same, "\(shown.output)\n\(echo)\n\(sent ?? "nothing")")
        }
    }

    @Test func `a step with templates has a command once they are filled, a batch has none`() throws {
        let queue = try TestQueue()
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "\(httpbin.url)/anything?x=1"},
              {"method": "POST", "url": "\(httpbin.url)/anything", "body_json": {"url": "{{a.body.url}}"}}]}')
            """)
        let waiting = try command(queue, chain + 2)
        #expect(waiting.status == 64)
        #expect(
            waiting.output.hasPrefix(
                "worker: templates of job \(chain + 2) are not filled yet; Its request is known once"))
        #expect(try command(queue, chain).output.contains("is a chain, which makes no request"))
        #expect(try WorkerProcess.run(["show", "\(chain)", "--database", queue.database]).status == 0)
        #expect(try command(queue, 99).status == 64)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let shown = try command(queue, chain + 2)
        #expect(try run(shown.output, []).contains("anything?x=1"))
    }

    @Test func `a login without the right to services sees none of their values, and a stranger no command`() throws {
        let queue = try TestQueue()
        try prepare(queue)
        let client = try TestRole.client.connect(queue)
        let id = try client.query(
            "insert into postrider.jobs (service, url) values ('keyed', 'anything') returning id"
        ).int64(0, 0)
        func show(_ role: TestRole) throws -> WorkerProcess.Outcome {
            try WorkerProcess.run(["show", "\(id)", "--curl", "--database", role.database(queue.database)])
        }
        #expect(try show(.admin).output.contains("'X-Plain: p'"))
        for role in [TestRole.client, .reader] {
            let shown = try show(role)
            #expect(shown.output.contains(#"-H "X-Plain: $POSTRIDER_SECRET_"#), "\(shown.output)")
        }
        #expect(try show(.stranger).output.contains("job \(id) does not exist"))
        // A ticket of another job, or none, proves nothing.
        #expect(
            try client.query(
                """
                select x.headers::text from postrider_internal.tickets t
                 cross join postrider_internal.job_request(t.id, t.ticket, t.ticket, 'M') x where t.id = \(id)
                """
            ).text(0, 0) == "{X-Plain,M,X-Api-Key,M}")
    }

    @Test func `the page of a job shows the command without values of the service`() throws {
        let queue = try TestQueue()
        try prepare(queue)
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert("service, url, method, body_json", "'keyed', 'anything', 'POST', '{\"pwd\": \"x\"}'")
        let large = try queue.insert(
            "url, method, body", "'\(httpbin.url)/anything', 'POST', convert_to(repeat('x', 70000), 'UTF8')")
        let batch = try queue.number(
            """
            select postrider.submit('{"chain": [{"url": "\(httpbin.url)/status/500", "max_attempts": 1},
              {"url": "\(httpbin.url)/anything?a={{prev.body.a}}"}]}')
            """)
        try queue.waitUntilDone()
        let page = try watched.pages.read("/jobs/\(id)").lines.joined(separator: "\n")
        #expect(page.contains("aria-label=\"curl command\""), "\(page)")
        #expect(page.contains("X-Plain: $POSTRIDER_SECRET_"), "\(page)")
        for other in [large, batch, batch + 2] {
            let answer = try watched.pages.read("/jobs/\(other)")
            #expect(answer.status == 200)
            #expect(!answer.lines.joined().contains("curl command"))
        }
    }
}
