// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The place of a cursor in requests and answers, the end of lists without a last page, and `has_more`.
struct PagePlaceTests {
    private static func graphql(_ more: String = "") -> String {
        #"{"style": "cursor", "in": "body", "param": "variables.after", "items": "$.data.items.nodes", "#
            + #""next": "$.data.items.end"\#(more)}"#
    }

    private static let header = #"{"style": "cursor", "in": "header", "param": "X-Cursor", "next": "header:x-next"}"#

    private static func page(_ more: String) -> String {
        #"{"style": "page", "param": "page", "items": "$.data.list", \#(more)}"#
    }

    @Test func `a cursor is sent unchanged in the body, the query or a header`() throws {
        let fixture = try PageFixture()
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let three = "succeeded 1..25 1:10 2:10 3:5"
        let later = #", "start": {"page": 2}, "size": 5, "size_param": "$.variables.first""#
        // A JSON value in a query is sent as its text.
        let query = #"{"style": "cursor", "param": "after", "items": "$.items", "next": "$.items[last]"}"#
        let jobs: [(path: String, paginate: String, body: String?, end: String)] = [
            ("/graphql?of=25", Self.graphql(), #"{"query": "q"}"#, three),
            // The worker reads this body in parts, when it has memory for it.
            ("/graphql?of=25", Self.graphql(), "{\"query\": \"\(String(repeating: "q", count: 80_000))\"}", three),
            ("/graphql?of=25&as=number", Self.graphql(), #"{"variables": null}"#, three),
            ("/graphql?of=25&as=list", Self.graphql(), #"{"variables": {"after": null}}"#, three),
            // All pages have the same cursor: there is a second page, and no third.
            ("/graphql?of=15&as=true", Self.graphql(), "{}", "succeeded 1..15 1:10 2:5"),
            ("/graphql?of=25", Self.graphql(later), "{}", "succeeded 11..25 1:5 2:5 3:5"),
            ("/header?of=25", Self.header, nil, three), ("/header?of=25&last=null", Self.header, nil, three),
            ("/cursor?of=5", query, nil, "failed pagination_loop 1..5 1:5"),
        ]
        var ids: [Int64] = []
        for job in jobs {
            let values = job.body.map { "'POST', '\($0)'" } ?? "'GET', null"
            ids.append(try fixture.insert(job.path, job.paginate, "method, body_json", values))
        }
        try fixture.queue.waitUntilDone()
        for (id, job) in zip(ids, jobs) { #expect(try fixture.look(id) == job.end, "\(job.path)") }
        let next = try fixture.queue.rows(
            #"select next from postrider.pages where page = 2 and next is not null order by next collate "C""#)
        let objects = ["{\"page\": 2}", "{\"page\": 2}", "{\"page\": 4}"]
        #expect(next == (["2", "3", "3", "[2, \"a\"]"] + objects).map { [$0] })
    }

    @Test func `a status of end_statuses ends a list, and a repeated page fails the job`() throws {
        let fixture = try PageFixture()
        let worker = try RunningWorker(fixture.queue.database)
        defer { worker.kill() }
        let ends = #""end_statuses": [204, 404]"#
        let stop = #""max_pages": 2, "on_limit": "stop""#
        let jobs: [(path: String, more: String, needsData: Bool, end: String)] = [
            ("/items?of=20&ends=404", ends, false, "404 false succeeded 1..20 1:10 2:10 3:0"),
            ("/items?of=20&ends=204", ends, false, "204 false succeeded 1..20 1:10 2:10 3:0"),
            ("/items?of=20&ends=410", ends, false, "410 true failed http_status 1:10 2:10"),
            ("/items?of=20&ends=404", #""size": 10"#, false, "404 true failed http_status 1:10 2:10"),
            ("/items?of=20&ends=503", #""end_statuses": [503]"#, false, "503 false succeeded 1..20 1:10 2:10 3:0"),
            // A list without items.
            ("/items?of=0&ends=404", ends, false, "404 false succeeded 1:0"),
            ("/items?of=0&ends=404", ends, true, "404 false failed no_data 1:0"),
            ("/items?of=20&repeats=1", #""max_pages": 9"#, false, "200 true failed pagination_loop 1..20 1:10 2:10"),
            ("/items?of=1&repeats=1", #""max_pages": 9"#, false, "200 true failed pagination_loop 1..1 1:1"),
            ("/items?of=30", #""max_pages": 2"#, false, "200 true failed page_limit 1..20 1:10 2:10"),
            ("/items?of=30", stop, false, "200 true succeeded 1..20 1:10 2:10"),
        ]
        var ids: [Int64] = []
        for job in jobs {
            ids.append(try fixture.insert(job.path, Self.page(job.more), "require_data", "\(job.needsData)"))
        }
        try fixture.queue.waitUntilDone()
        for (id, job) in zip(ids, jobs) {
            let sql = "select status_code || ' ' || has_more from postrider.job_status where id = \(id)"
            let end = try "\(fixture.queue.text(sql) ?? "") \(fixture.look(id))"
            #expect(end == job.end, "\(job.path)")
        }
        let error = try fixture.queue.text(
            "select min(error) from postrider.job_status where error_code = 'pagination_loop'")
        #expect(error == "the page has the same items as page 1; they are left out (page 2)")
        let items = try fixture.queue.text("select jsonb_agg(items)::text from postrider.pages where item_count = 1")
        #expect(items == #"[[{"id": 1, "name": "item 1"}]]"#)
    }

    @Test(arguments: [#""style": "page""#, #""style": "cursor", "next": "$.next""#])
    func `a page with the same items as the page before fails the job`(style: String) throws {
        let target = try TargetServer { request in
            let page = Int(request.path.split(separator: "=").last ?? "") ?? 1
            let list = ["/value": "0", "/pair": "0, 0", "/object": #"{"a": 1}"#, "/list": "[]"]
            let items = list[String(request.path.prefix { $0 != "?" })] ?? ""
            return TargetStep.answer(200, "{\"list\": [\(page < 4 ? items : "")], \"next\": \(page + 1)}")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for path in ["value", "pair", "object", "list"] {
            try queue.insert(
                "url, paginate", #"'\#(target.url)/\#(path)', '{\#(style), "param": "c", "items": "$.list"}'"#)
        }
        try queue.waitUntilDone()
        let ends = try queue.rows("select state, result::text from postrider.job_status order by id")
        #expect(
            ends == [
                ["failed", "[0]"], ["failed", "[0, 0]"], ["failed", #"[{"a": 1}]"#], ["failed", "[[]]"],
            ])
    }

    @Test func `a cursor that is no valid header value fails the job before the call`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"list": [1], "next": "a\r\nX-Evil: 1"}"#) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let paginate =
            #"{"style": "cursor", "in": "header", "param": "X-C", "items": "$.list", "next": "$.next"}"#
        let id = try queue.insert("url, paginate", "'\(target.url)/', '\(paginate)'")
        try queue.wait(for: id, toBe: "failed")
        let end = try queue.rows("select error_code, result::text, has_more::text from postrider.job_status")
        #expect(end == [["bad_header", "[1]", "true"]])
        #expect(target.requests.count == 1)
    }

    @Test func `a paginated step fails if its filled body has no place for the page parameter`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { request in
            TargetStep.answer(200, request.path == "/first" ? #"{"text": "x", "object": {"first": 2}}"# : "[]")
        }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for value in ["text", "object"] {
            let root = try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/first"},
                  {"name": "\(value)", "method": "POST", "url": "\(target.url)/list", "body_json": {"variables": "{{a.body.\(value)}}"},
                   "paginate": {"style": "page", "in": "body", "param": "variables.page"}}]}')
                """)
            try queue.wait(for: root, toBe: value == "object" ? "succeeded" : "failed")
        }
        let error = try queue.rows("select error_code, error from postrider.job_status where name = 'text'")
        #expect(
            error == [
                [
                    "template",
                    "paginate: with the templates of the job filled, $.param has no place in body_json: variables is a string",
                ]
            ])
    }

    @Test func `retry with from_start fetches all pages of a job again, also of a member`() throws {
        let target = try TargetServer { request in
            let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
            if request.path == "/wait" { return [.held] + TargetStep.answer(200) }
            return TargetStep.answer(200, page > 2 ? "[]" : "[\(page)]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"batch": [{"name": "wait", "url": "\(target.url)/wait"},
              {"name": "list", "url": "\(target.url)/list", "paginate": {"style": "page", "param": "page"}}]}')
            """)
        let list = try queue.number("select id from postrider.jobs where name = 'list'")
        try queue.wait(for: list, toBe: "succeeded")
        let error = #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(\(list))") }
        #expect(error?.sqlState?.rawValue == "PR005")
        #expect(
            error?.hint
                == "select postrider.retry(\(list), from_start => true) removes its pages and fetches the list again.")
        try queue.connection.execute("select postrider.retry(\(list), from_start => true)")
        try TestClock.wait(20, for: "both rounds") { target.requests("/list?page=3").count == 2 }
        target.release()
        try queue.wait(for: root, toBe: "succeeded")
        #expect(try queue.text("select result::text from postrider.job_status where id = \(list)") == "[1, 2]")
        let plain = try queue.number("select id from postrider.jobs where name = 'wait'")
        let refusal = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.retry(\(plain), from_start => true)")
        }
        #expect(refusal?.column == "from_start" && refusal?.sqlState?.rawValue == "PR001")
        #expect(try queue.number("select count(*) from postrider.job_status where has_more is null") == 2)
    }
}
