// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Jobs that fetch page after page, from a real API with lists of every style.
struct PaginationTests {
    @Test(
        arguments: [
            (
                "/items",
                #"{"style": "page", "param": "page", "size_param": "limit", "size": 40, "items": "$.data.list"}"#
            ),
            ("/items?limit=40", #"{"style": "page", "param": "page", "items": "$.data.list", "size": 40}"#),
            ("/offset", #"{"style": "offset", "param": "offset", "size_param": "limit", "size": 40}"#),
            (
                "/cursor",
                #"{"style": "cursor", "param": "after", "size_param": "limit", "size": 40, "items": "$.items", "next": "$.next"}"#
            ),
            ("/cursor?limit=40", #"{"style": "cursor", "param": "after", "items": "$.items", "next": "$.next"}"#),
            ("/link?limit=40", #"{"style": "link"}"#),
            ("/link", #"{"style": "link", "size_param": "limit", "size": 40}"#),
            ("/link?limit=40&as=path", #"{"style": "link"}"#), ("/link?limit=40&as=query", #"{"style": "link"}"#),
            ("/link?limit=40&in=body", #"{"style": "link", "items": "$.items", "next": "$.links.next"}"#),
            ("/link?limit=40&in=body&as=query", #"{"style": "link", "items": "$.items", "next": "$.links.next"}"#),
        ])
    func `each pagination style fetches every item in order`(path: String, paginate: String) throws {
        let fixture = try PageFixture()
        #expect(try fixture.run(path, paginate) == "succeeded 1..95 1:40 2:40 3:15")
    }

    @Test(
        arguments: [
            // The last page is full. Only the empty page after it ends the list.
            ("/offset?of=20", #"{"style": "offset", "param": "offset"}"#, "succeeded 1..20 1:10 2:10 3:0"),
            (
                "/offset?of=20", #"{"style": "offset", "param": "offset", "start": 5, "size": 10}"#,
                "succeeded 6..20 1:10 2:5"
            ),
            (
                "/items", #"{"style": "page", "param": "page", "start": 9, "items": "$.data.list", "size": 10}"#,
                "succeeded 81..95 1:10 2:5"
            ),
            (
                "/cursor",
                #"{"style": "cursor", "param": "after", "start": "p=10", "items": "$.items", "next": "$.next"}"#,
                "succeeded 91..95 1:5"
            ),
            // If the API has no items, the result is an empty list.
            ("/offset?of=0", #"{"style": "offset", "param": "offset"}"#, "succeeded 1:0"),
            ("/link?of=0", #"{"style": "link"}"#, "succeeded 1:0"),
            // The answer has no list, on the first page or on a later one.
            ("/items", #"{"style": "page", "param": "page", "items": "$.list"}"#, "failed no_data"),
            ("/items", #"{"style": "page", "param": "page"}"#, "failed no_data"),
            (
                "/items?odd=3", #"{"style": "page", "param": "page", "items": "$.data.list"}"#,
                "failed no_more_data 1:10 2:10"
            ),
            // A next page that repeats, leads to another host, or comes after too many pages.
            (
                "/cursor?loop=3", #"{"style": "cursor", "param": "after", "items": "$.items", "next": "$.next"}"#,
                "failed pagination_loop disorder 1:10 2:10 3:10 4:10"
            ),
            ("/link?loop=2", #"{"style": "link"}"#, "failed pagination_loop disorder 1:10 2:10 3:10"),
            ("/link?page=1&limit=10&loop=2", #"{"style": "link"}"#, "failed pagination_loop 1..20 1:10 2:10"),
            ("/link?away=2", #"{"style": "link"}"#, "failed denied_redirect 1..20 1:10 2:10"),
            (
                "/items", #"{"style": "page", "param": "page", "items": "$.data.list", "max_pages": 3}"#,
                "failed page_limit 1..30 1:10 2:10 3:10"
            ),
            (
                "/items",
                #"{"style": "page", "param": "page", "items": "$.data.list", "max_pages": 3, "on_limit": "stop"}"#,
                "succeeded 1..30 1:10 2:10 3:10"
            ),
            (
                "/cursor?of=30",
                #"{"style": "cursor", "param": "after", "items": "$.items", "next": "$.next", "max_pages": 3}"#,
                "succeeded 1..30 1:10 2:10 3:10"
            ),
        ])
    func `a list ends at its last page, or fails on bad pages, loops and limits`(
        path: String, paginate: String, expected: String
    ) throws {
        let fixture = try PageFixture()
        #expect(try fixture.run(path, paginate) == expected)
    }

    @Test func `a failed page is retried alone, and attempts shows its error`() throws {
        let fixture = try PageFixture()
        let state = try fixture.run(
            "/items?fail=3",
            #"{"style": "page", "param": "page", "items": "$.data.list", "size": 10, "max_pages": 4, "on_limit": "stop"}"#,
            "backoff, max_attempts", "array['10 ms']::interval[], 2")
        #expect(state == "succeeded 1..40 1:10 2:10 3:10 4:10")
        let tries = try fixture.queue.rows(
            "select attempt::text, status_code::text, error_code from postrider.attempts order by fence")
        #expect(
            tries == [
                ["1", "200", nil], ["1", "200", nil], ["1", "503", "http_status"], ["2", "200", nil],
                ["1", "200", nil],
            ])
    }

    @Test func `validator, envelope and ok_statuses apply to each page`() throws {
        let fixture = try PageFixture()
        let paginate = #"{"style": "page", "param": "page", "items": "$.data.list"}"#
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, envelope, query)
            values ('api', '\(fixture.url)', '{"code": "$.code", "result": "$.data.list"}', '{"key": "s3cret"}')
            """)
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let shape = try fixture.insert(
            "/items?odd=2", paginate, "validator", #"'{"data": {"list": [{"id": "number"}]}}'"#)
        let envelope = try fixture.queue.insert(
            "service, url, paginate", "'api', '/items?of=15', '{\"style\": \"page\", \"param\": \"page\"}'")
        let outside = try fixture.queue.insert(
            "service, url, paginate", "'api', '/offset?of=15', '{\"style\": \"offset\", \"param\": \"offset\"}'")
        let status = try fixture.insert("/link?limit=5", #"{"style": "link"}"#, "ok_statuses", "'{[201,202)}'")
        try fixture.queue.waitUntilDone()
        #expect(try fixture.look(shape) == "failed no_more_data 1:10")
        #expect(try fixture.look(envelope) == "succeeded 1..15 1:10 2:5 3:0")
        #expect(try fixture.look(outside) == "failed envelope")
        #expect(try fixture.look(status) == "failed http_status")
        #expect(
            try fixture.queue.text("select right(error, 9) from postrider.job_status where id = \(status)")
                == " (page 1)")
        #expect(
            try fixture.queue.number("select count(*) from postrider.pages where concat(url, next) ~ 's3cret'") == 0)
    }

    @Test
    func
        `a next link uses the service's password, headers and query, and pages store no key`()
        throws
    {
        let fixture = try PageFixture()
        let target = try TargetServer { request in
            let page = request.path.contains("page=2") ? 2 : 1
            return TargetStep.answer(
                200, "[\(page)]",
                headers: page == 1
                    ? ["Link: <http://x:y@\(request.header("host") ?? "")/v1/list?page=2&key=s3cret>; rel=next"] : [])
        }
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, query, headers, apply_to_absolute)
            values ('api', 'http://u:pw@127.0.0.1:\(target.port)/v1', '{"key": "s3cret"}', '{"X-Common": "1"}', false)
            """)
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let id = try fixture.queue.insert(
            "service, url, query, paginate", #"'api', 'list', '{"a": "b c"}', '{"style": "link"}'"#)
        try fixture.queue.waitUntilDone()
        #expect(try fixture.queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2]")
        #expect(target.requests.map(\.path) == ["/v1/list?key=s3cret&a=b%20c", "/v1/list?page=2&key=s3cret"])
        #expect(target.requests.map { $0.header("authorization") } == ["Basic dTpwdw==", "Basic dTpwdw=="])
        #expect(target.requests.map { $0.header("x-common") } == ["1", "1"])
        let rows = try fixture.queue.rows("select url, next from postrider.pages order by page")
        let base = "http://127.0.0.1:\(target.port)/v1/list"
        #expect(rows == [["\(base)?a=b%20c", "\(base)?page=2"], ["\(base)?page=2", nil]])
    }

    @Test func `a relative next link is resolved against the redirected URL`() throws {
        let fixture = try PageFixture()
        let target = try TargetServer { request in
            switch request.path {
            case "/items": TargetStep.answer(301, headers: ["Location: /items/"])
            case "/items/": TargetStep.answer(200, "[1]", headers: ["Link: <page2>; rel=next"])
            case "/items/page2": TargetStep.answer(200, "[2]", headers: ["Link: <?page=3>; rel=next"])
            case "/items/page2?page=3": TargetStep.answer(200, "[3]")
            default: TargetStep.answer(404)
            }
        }
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('api', '\(target.url)')")
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let id = try fixture.queue.insert("service, url, paginate", #"'api', '/items', '{"style": "link"}'"#)
        try fixture.queue.waitUntilDone()
        #expect(try fixture.queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2, 3]")
        #expect(target.requests.map(\.path) == ["/items", "/items/", "/items/page2", "/items/page2?page=3"])
    }

    @Test func `each page of a POST has its own Idempotency-Key, the same on each attempt`() throws {
        let fixture = try PageFixture()
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let run = "keys\(TestClock.now)"
        let id = try fixture.insert(
            "/items?fail=2&of=25&run=\(run)",
            #"{"style": "page", "param": "page", "items": "$.data.list", "size": 10}"#,
            "method, body_json, backoff", "'POST', '{}', array['10 ms']::interval[]")
        try fixture.queue.waitUntilDone()
        #expect(try fixture.look(id) == "succeeded 1..25 1:10 2:10 3:5")
        let calls = try fixture.queue.insert("url", "'\(fixture.url)/calls'")
        try fixture.queue.waitUntilDone()
        let keys = try fixture.queue.rows(
            """
            select right(c ->> 'key', -37) from postrider.job_status s cross join jsonb_array_elements(s.result) c
             where s.id = \(calls) and c ->> 'path' like '%run=\(run)%'
            """)
        #expect(keys == [["\(id)"], ["\(id)-1"], ["\(id)-1"], ["\(id)-2"]])
    }

    @Test func `20 paginated jobs that run together do not mix their items`() throws {
        let fixture = try PageFixture()
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let paginate = #"{"style": "offset", "param": "offset", "size": 10}"#
        try fixture.queue.insert(20, "url, paginate", "'\(fixture.url)/offset?of=' || (i * 7), '\(paginate)'")
        try fixture.queue.waitUntilDone()
        let rows = try fixture.queue.rows(
            """
            select s.id::text from postrider.job_status s
             where s.state <> 'succeeded'
                or s.result <> coalesce((select jsonb_agg(jsonb_build_object('id', n, 'name', 'item ' || n) order by n)
                                           from generate_series(1, (regexp_match(s.url, 'of=(\\d+)'))[1]::int) n), '[]')
            """)
        #expect(rows == [])
    }

    @Test(
        arguments: [
            ("{{a.headers.location}}", "page"), ("/list?{{a.body.key}}={{a.body.value}}", "page"),
            ("{{a.body.size}}", "per page"), ("{{a.body.plain}}", nil),
        ] as [(String, String?)])
    func `a step fails before its call if a template puts a paginate argument into the URL`(
        url: String, argument: String?
    ) throws {
        let queue = try TestQueue()
        let target = try TargetServer { request in
            guard request.path == "/first" else { return TargetStep.answer(200, "[]") }
            return TargetStep.answer(
                200, #"{"key": "page", "value": 7, "size": "/list?per%20page=3", "plain": "/list?a=page#?page=7"}"#,
                headers: ["Location: /list?a=1&p%61ge=7"])
        }
        try queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('api', '\(target.url)')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/first"}, {"service": "api", "url": "\(url)",
              "paginate": {"style": "page", "param": "page", "size_param": "per page", "size": 5}}]}')
            """)
        try queue.wait(for: root, toBe: argument == nil ? "succeeded" : "failed")
        let step = try queue.rows(
            "select state, error_code, error from postrider.job_status where parent_id = \(root) and name is null")
        if let argument {
            let sentence =
                "url: with its templates filled it sets the argument \(argument), which paginate sets too; "
                + "remove it from the URL or from paginate"
            #expect(step == [["failed", "template", sentence]])
            #expect(target.requests.map(\.path) == ["/first"])
        } else {
            #expect(step == [["succeeded", nil, nil]])
            #expect(target.requests.map(\.path).last == "/list?a=page&page=1&per%20page=5")
        }
    }
}
