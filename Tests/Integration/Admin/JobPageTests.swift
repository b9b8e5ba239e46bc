// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// The page of a job as the worker serves it.
struct JobPageTests {
    private static func page(_ watched: WatchedWorker, _ path: String) throws -> String {
        try watched.pages.read(path).lines.joined(separator: "\n")
    }

    @Test func `the page shows the request as sent, the answer, and copies of both without secrets`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, headers, query) values
              ('shop', '\(target.url)', '{"X-App": "desk", "X-Api-Key": "5ecret"}', '{"app": "7"}')
            """)
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert(
            "service, url, method, headers, body_json, tag, max_attempts",
            #"""
            'shop', 'ok/orders?lang=de', 'POST', '{"Authorization": "Bearer 5ecret"}',
            '{"order": 17, "password": "5ecret", "note": "it''s"}', 'orders', 3
            """#)
        try queue.wait(for: id, toBe: "succeeded")
        let page = try Self.page(watched, "/jobs/\(id)")
        for words in [
            ">Request<", "\(target.url)/ok/orders?lang=de", "app=", "X-App", "Authorization</dt><dd><code>***</code>",
            "application/json", "<span class=\"key\">&quot;order&quot;</span>: <span class=\"word\">17</span>",
            ">Answer<", "Status <b class=\"good\">200</b>", "href=\"/jobs/\(id)/body\"",
            "insert into postrider.jobs (", "&#39;orders&#39;", "select postrider.retry(\(id));",
            "select postrider.explain(\(id));", "curl -X POST", "$POSTRIDER_SECRET", "data-copy", ">Attempts<",
            "class=\"timeline\"",
        ] {
            #expect(page.contains(words), "\(words) in \(page)")
        }
        #expect(!page.contains("5ecret") && !page.contains("/act?"))
        // The INSERT makes a job like it: only *** stands in the place of the secrets.
        let copy = try #require(
            try queue.text(
                """
                select postrider_internal.job_insert(\(id), (
                  select t.ticket from postrider_internal.tickets t where t.id = \(id)))
                """))
        let twin = try queue.number(copy)
        let columns = "service, url, method, tag, max_attempts, body_json - 'password', queue, headers -> 'x'"
        #expect(
            try queue.rows("select \(columns) from postrider.jobs where id = \(id)")
                == queue.rows("select \(columns) from postrider.jobs where id = \(twin)"))
    }

    @Test func `an INSERT names only what a job sets itself, also with an operation or filled templates`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        func insert(_ id: Int64) throws -> String? {
            try queue.text(
                """
                select postrider_internal.job_insert(\(id), (
                  select t.ticket from postrider_internal.tickets t where t.id = \(id)))
                """)
        }
        let plain = try queue.insert("url, tag, max_attempts, notify", "'http://h/a', E'a\\\\b''c', 3, true")
        #expect(
            try insert(plain) == """
                insert into postrider.jobs (max_attempts, url, notify, tag)
                values (3,
                        'http://h/a',
                        true,
                        E'a\\\\b''c')
                returning id;
                """)
        try queue.connection.execute(
            """
            insert into postrider.operations (name, arguments, spec) values
              ('order', '{"id": "number"}', '{"url": "\(target.url)/ok/{{arg.id}}", "method": "PUT"}')
            """)
        let called = try queue.insert("operation, arguments, priority", "'order', '{\"id\": 5}', 4")
        let text = try #require(try insert(called))
        #expect(text.contains("(priority, operation, arguments)") && !text.contains("PUT"), "\(text)")
        let chain = try queue.submit(
            to: target,
            #"{"chain": [{"name": "one", "url": "URL/ok/1"}, {"url": "URL/ok/{{one.status}}"}]}"#)
        #expect(try insert(chain) == nil)
        let step = try queue.number("select max(id) from postrider.jobs")
        #expect(try insert(step) == nil)
        let worker = try RunningWorker(queue.database)
        try queue.wait(for: chain, toBe: "succeeded")
        worker.kill()
        #expect(try insert(step)?.contains("\(target.url)/ok/200") == true)
    }

    @Test func `the page of a step says that its templates wait, and shows its place in the chain`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("select postrider.pause_queue('default')")
        let watched = try WatchedWorker(queue.database)
        let chain = try queue.submit(
            to: target,
            """
            {"name": "signup", "chain": [{"name": "one", "url": "URL/ok/1"}, {"name": "two", "url": "URL/ok/{{one.status}}"},
             {"name": "three", "batch": [{"url": "URL/ok/3"}, {"url": "URL/ok/4"}]}]}
            """)
        let step = try queue.number("select id from postrider.job_status where name = 'two'")
        let page = try Self.page(watched, "/jobs/\(step)")
        for words in [
            "The request is not known: templates of job \(step) are not filled yet.", ">Tree<",
            "href=\"/jobs/\(chain)\"", "class=\"here\"", "0 of 3 ended", ">three batch<",
            "select postrider.cancel(\(step));",
        ] {
            #expect(page.contains(words), "\(words) in \(page)")
        }
        try queue.connection.execute("select postrider.resume_queue('default')")
        try queue.wait(for: chain, toBe: "succeeded")
        #expect(try Self.page(watched, "/jobs/\(step)").contains("\(target.url)/ok/200</code>"))
    }

    @Test func `a batch of thousands is shown around its first failure, and its members page by page`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let batch = try queue.submit(
            to: target,
            """
            {"mode": "settle", "batch": {"each": [\((1...3000).map { "\($0)" }.joined(separator: ","))],
             "do": {"url": "URL/ok/{{item}}"}}}
            """)
        try queue.wait(60, until: "select children_finished = 3000 from postrider.job_status where id = \(batch)")
        let page = try watched.pages.read("/jobs/\(batch)")
        let text = page.lines.joined(separator: "\n")
        #expect(text.contains("3000 of 3000 ended") && text.contains("Later members, 3000 in all"), "\(text)")
        #expect(text.utf8.count < 60_000, "\(text.utf8.count)")
        let list = try Self.page(watched, "/jobs/\(batch)/members/2950")
        #expect(list.contains("Earlier members") && !list.contains("Later members"))
        #expect(list.ranges(of: "<tr>").count == 52, "\(list.ranges(of: "<tr>").count)")
        #expect(try watched.status("/jobs/\(batch)/members") == 200)
        for path in ["/jobs/\(batch)/members/x", "/jobs/\(batch)/none", "/jobs/\(batch)/", "/jobs/x/body"] {
            #expect(try watched.status(path) == 404, "\(path)")
        }
    }

    @Test func `a large body of a request is left out, and its other parts are shown`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert(
            "method, url, body_json, headers",
            "'POST', '\(target.url)/ok/1', to_jsonb(repeat('x', 3000000)), '{\"X-Mark\": \"here\"}'")
        try queue.wait(for: id, toBe: "succeeded")
        let page = try Self.page(watched, "/jobs/\(id)")
        for words in ["The body is larger than 64 KiB", "X-Mark", "application/json"] {
            #expect(page.contains(words), "\(words) in \(page)")
        }
        #expect(!page.contains("xxxxx") && !page.contains("curl "))
    }

    /// The type is chosen by the bytes, so an API cannot make a browser run its answer on this origin.
    @Test(arguments: [
        ("text/html", #""<script>alert(1)</script>""#, "text/plain; charset=utf-8", "txt"),
        ("image/svg+xml", #""<svg onload=alert(1)>""#, "text/plain; charset=utf-8", "txt"),
        ("text/javascript", #""alert(1)""#, "text/plain; charset=utf-8", "txt"),
        ("text/html; x=\\\"y", #"{"a": "<script>"}"#, "application/json", "json"),
    ])
    func `a download has a safe type, even if the API names another one`(
        type: String, body: String, safe: String, name: String
    ) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, stub) values
              ('evil', 'http://h/', '[{"body": \(body), "headers": {"Content-Type": "\(type)"}}]')
            """)
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert("service, url", "'evil', 'x'")
        try queue.wait(for: id, toBe: "succeeded")
        let file = try watched.pages.read("/jobs/\(id)/body")
        #expect(file.status == 200 && file.headers["content-type"] == safe)
        #expect(file.headers["content-disposition"] == "attachment; filename=\"job-\(id)-body.\(name)\"")
        #expect(file.headers["x-content-type-options"] == "nosniff")
        #expect(file.headers["content-security-policy"]?.hasPrefix("sandbox; default-src 'none'") == true)
        #expect(file.headers["cache-control"] == "no-store")
        let page = try Self.page(watched, "/jobs/\(id)")
        #expect(!page.contains("<script>alert") && !page.contains("<svg onload"))
    }

    @Test func `a body that is missing or too large is not downloaded`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let id = try queue.insert("url, run_at", "'http://h/', now() + interval '1 h'")
        #expect(try watched.status("/jobs/\(id)/body") == 404)
        #expect(try watched.status("/jobs/999999/body") == 404)
        let target = try TargetServer()
        let large = try queue.insert("url", "'\(target.url)/ok/1'")
        try queue.wait(for: large, toBe: "succeeded")
        try queue.connection.execute(
            "update postrider_internal.results set body = convert_to(repeat('x', 9000000), 'UTF8') where job_id = \(large)"
        )
        let refused = try watched.pages.read("/jobs/\(large)/body")
        #expect(refused.status == 413 && refused.lines.joined().contains("larger than 8 MiB"))
        let page = try Self.page(watched, "/jobs/\(large)")
        #expect(page.contains("The first 64 KiB are shown.") && page.contains("It is larger than 8 MiB"))
        #expect(page.utf8.count < 150_000)
    }
}
