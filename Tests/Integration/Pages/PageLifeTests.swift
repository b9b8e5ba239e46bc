// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The pages of a job that is cut off, cancelled or retried.
struct PageLifeTests {
    /// A target with two items on each of `last` pages. Later pages are empty. It waits before each answer.
    ///
    /// For `/fail`, page 3 has status 400 the first time. For `/hang`, the first call of page 3 gets no answer.
    private static func target(last: Int, milliseconds: Int = 0) throws -> TargetServer {
        try TargetServer { request in
            let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
            if page == 3, request.turn == 1 {
                if request.path.hasPrefix("/fail") { return TargetStep.answer(400) }
                if request.path.hasPrefix("/hang") { return [.hang] }
            }
            return [.pause(milliseconds: milliseconds)]
                + TargetStep.answer(200, page > last ? "[]" : "[\(page * 2 - 1), \(page * 2)]")
        }
    }

    private static let style = #""style": "page", "param": "page""#

    /// The rows in `pages` of a job: page and items, in order.
    private func pages(_ queue: borrowing TestQueue, _ id: Int64) throws -> String? {
        try queue.text(
            "select string_agg(page || ':' || item_count, ' ' order by page) from postrider.pages where job_id = \(id)")
    }

    /// Whether the result has all items in order, and `pages` has all pages and the empty page after them.
    private func isWhole(_ queue: borrowing TestQueue, _ id: Int64, last: Int) throws -> Bool {
        try queue.text(
            """
            select (s.result = (select jsonb_agg(n) from generate_series(1, \(last * 2)) n)
                    and (select count(*) from postrider.pages p where p.job_id = s.id) = \(last + 1)
                    and (select sum(p.item_count) from postrider.pages p where p.job_id = s.id) = \(last * 2))::text
              from postrider.job_status s where s.id = \(id)
            """) == "true"
    }

    @Test func `retry gives more attempts to the current page, but not to later pages`() throws {
        let target = try TargetServer { request in
            let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
            return TargetStep.answer(page == 3 || page == 2 && request.turn <= 2 ? 503 : 200, "[\(page)]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "url, paginate, max_attempts, backoff", "'\(target.url)/list', '{\(Self.style)}', 2, '{0 s}'")
        try queue.wait(for: id, toBe: "failed")
        #expect(target.requests("/list?page=2").count == 2)
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(
            until:
                "select count(*) = 2 and exists (select from postrider_internal.results) from postrider_internal.fetched_pages"
        )
        #expect(target.requests("/list?page=2").count == 3)
        #expect(target.requests("/list?page=3").count == 2)
    }

    @Test func `the rate limit of the lane also applies between pages`() throws {
        let target = try Self.target(last: 9)
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, rate_limit) values ('polite', 5)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, lane, paginate", "'\(target.url)/list', 'polite', '{\(Self.style)}'")
        try queue.wait(for: id, toBe: "succeeded")
        let calls = target.requests
        #expect(calls.count == 10)
        // Ten calls at 5 a second span 1.8 s. A busy machine may start the first one late.
        #expect(try #require(calls.last).arrivedAt - #require(calls.first).arrivedAt > 1_200_000_000)
    }

    @Test func `if a worker is killed among 50 pages, another one continues after the last stored page`() throws {
        let target = try Self.target(last: 49, milliseconds: 20)
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        let id = try queue.insert("url, paginate", "'\(target.url)/list', '{\(Self.style)}'")
        try queue.wait(until: "select count(*) >= 20 from postrider.pages where job_id = \(id)")
        first.end(SIGKILL)
        let stored = try queue.number("select count(*) from postrider.pages")
        let second = try RunningWorker(queue.database)
        defer { second.kill() }
        try queue.waitUntilDone(60)
        #expect(try isWhole(queue, id, last: 49))
        let turns = Dictionary(grouping: target.requests, by: \.path).mapValues(\.count)
        #expect(turns.count == 50)
        for page in 1...50 {
            let calls = turns["/list?page=\(page)"] ?? 0
            #expect(calls == 1 || calls == 2 && page == stored + 1, "page \(page): \(calls) calls, \(stored) stored")
        }
    }

    @Test func `if sessions end again and again, no page is lost or stored twice`() throws {
        let target = try Self.target(last: 30, milliseconds: 5)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert(3, "url, paginate", "'\(target.url)/' || i || '/list', '{\(Self.style)}'")
        for round in 1...8 {
            try? TestClock.wait(20, for: "calls") {
                let count = target.requests.count
                let done = try queue.number("select count(*) from postrider_internal.results")
                return count >= round * 9 || done == 3
            }
            try queue.connection.execute(
                """
                select pg_terminate_backend(pid) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()
                """)
        }
        try queue.waitUntilDone(60)
        let ids = try queue.rows("select id::text from postrider.jobs").compactMap { Int64($0[0] ?? "") }
        for id in ids { #expect(try isWhole(queue, id, last: 30)) }
    }

    @Test func `a cancelled job keeps its pages, and retry continues with the next page`() throws {
        let target = try Self.target(last: 5)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, paginate", "'\(target.url)/hang', '{\(Self.style)}'")
        try TestClock.wait(20, for: "page 3") { target.requests("/hang?page=3").count == 1 }
        let running = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(running.contains("is running") && running.contains("page 3 is being fetched"), "\(running)")
        #expect(try queue.text("select postrider.cancel(\(id))::text") == "true")
        #expect(try queue.state(id) == "cancelled")
        #expect(try pages(queue, id) == "1:2 2:2")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try isWhole(queue, id, last: 5))
        #expect(target.requests("/hang?page=1").count == 1)
    }

    @Test func `in a chain, the next step waits for all pages, and reads them`() throws {
        let target = try Self.target(last: 3)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            do $$
            declare v_chain bigint;
            begin
              insert into postrider.jobs (kind) values ('chain') returning id into v_chain;
              insert into postrider.jobs (parent_id, name, url, paginate) values (v_chain, 'list', '\(target.url)/list',
                  '{\(Self.style)}');
              insert into postrider.jobs (parent_id, name, method, url, body_json)
              values (v_chain, 'all', 'POST', '\(target.url)/all', '{"all": "{{list.result}}"}');
            end $$
            """)
        try queue.wait(until: "select state = 'succeeded' from postrider.job_status where kind = 'chain'")
        #expect(target.requests.map(\.path) == (1...4).map { "/list?page=\($0)" } + ["/all"])
        let sent = try queue.text("select body_json::text from postrider_internal.filled_templates")
        #expect(sent == #"{"all": [1, 2, 3, 4, 5, 6]}"#)
    }

    @Test func `explain names the next page of a job that no worker runs`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, paginate", "'http://h/', '{\(Self.style)}'")
        try queue.connection.execute(
            """
            insert into postrider_internal.fetched_pages (job_id, page, url, count, items, next, bytes, total, bound)
            select \(id), n, 'http://h/', 1, '[1]', n + 1, 1, n, 1000 from generate_series(1, 6) n
            """)
        #expect(try queue.text("select postrider.explain(\(id))")?.hasSuffix("; page 7 is next.") == true)
    }

    @Test func `a page with a final failure ends the job, and retry continues at that page`() throws {
        let target = try Self.target(last: 4)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, paginate", "'\(target.url)/fail', '{\(Self.style)}'")
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "http_status")
        #expect(try pages(queue, id) == "1:2 2:2")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try isWhole(queue, id, last: 4))
        #expect(target.requests.count == 6)
        // The job already has all pages, so a retry is refused.
        let refusal = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.retry(\(id))")
        }
        let text = refusal.map { "\($0)" } ?? ""
        #expect(text.contains("job \(id) has fetched its last page, page 5; it has all 8 items"), "\(text)")
        #expect(try queue.state(id) == "succeeded")
        try queue.connection.execute("select postrider.retry(\(id), from_start => true)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try isWhole(queue, id, last: 4))
        #expect(target.requests.count == 11)
    }

    @Test(arguments: ["fail", "stop"])
    func `retry after max_pages fetches as many pages again`(onLimit: String) throws {
        let target = try Self.target(last: 5)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "url, paginate", "'\(target.url)/list', '{\(Self.style), \"max_pages\": 2, \"on_limit\": \"\(onLimit)\"}'")
        try queue.waitUntilDone()
        #expect(try pages(queue, id) == "1:2 2:2")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.waitUntilDone()
        #expect(try pages(queue, id) == "1:2 2:2 3:2 4:2")
        let error = try queue.text("select error from postrider.job_status where id = \(id)")
        #expect(error?.hasPrefix("the list has more than 4 pages, the limit") ?? (onLimit == "stop"))
        #expect(try queue.state(id) == (onLimit == "stop" ? "succeeded" : "failed"))
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.waitUntilDone()
        #expect(try isWhole(queue, id, last: 5))
        #expect(target.requests.count == 6)
    }

    @Test func `retry fetches a page again if its cursor led back to a fetched page`() throws {
        let target = try TargetServer { request in
            let isSecond = request.path.contains("c=b")
            let next = isSecond && request.turn > 1 ? "" : "b"
            return TargetStep.answer(200, "{\"list\": [\(isSecond ? 2 : 1)], \"next\": \"\(next)\"}")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "url, paginate",
            "'\(target.url)/list', '{\"style\": \"cursor\", \"param\": \"c\", \"items\": \"$.list\", \"next\": \"$.next\"}'"
        )
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "pagination_loop")
        #expect(try pages(queue, id) == "1:1 2:1")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try pages(queue, id) == "1:1 2:1")
        #expect(target.requests.map(\.path) == ["/list", "/list?c=b", "/list?c=b"])
    }

    @Test(
        arguments: [
            (#"{"list": null}"#, "succeeded"), (#"{"list": {}}"#, "failed no_more_data"), ("{}", "failed no_more_data"),
            ("[", "failed json_invalid"), (#"{"list": [1], "next": {}}"#, "failed no_data"),
            (#"{"list": [1], "next": true}"#, "failed no_data"), (#"{"list": [1], "next": 7}"#, "succeeded"),
            (#"{"list": [1], "next": "a\nb"}"#, "failed bad_url"),
            (#"{"list": [1], "next": "ftp://h/"}"#, "failed denied_redirect"),
            (#"{"list": [1], "next": "//other/"}"#, "failed denied_redirect"),
            (#"{"list": [1], "next": "//127.0.0.1/"}"#, "failed denied_redirect"),
            (#"{"list": [1], "next": "javascript:alert(1)"}"#, "failed bad_url"),
            (#"{"list": [1], "next": "?c=1"}"#, "failed pagination_loop"),
        ])
    func `each unexpected answer of page 2 has its outcome`(answer: String, expected: String) throws {
        let target = try TargetServer { request in
            // The page to which the next value 7 leads.
            if request.path.hasPrefix("/7") { return TargetStep.answer(200, #"{"list": []}"#) }
            return TargetStep.answer(200, request.path.hasSuffix("c=1") ? answer : #"{"list": [0], "next": "?c=1"}"#)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "url, paginate",
            "'\(target.url)/list', '{\"style\": \"link\", \"items\": \"$.list\", \"next\": \"$.next\"}'")
        try queue.waitUntilDone()
        #expect(
            try queue.text("select concat_ws(' ', state, error_code) from postrider.job_status where id = \(id)")
                == expected)
        if expected == "failed no_data" {
            let isObject = answer.contains("{}")
            #expect(
                try queue.text("select error from postrider.job_status where id = \(id)")
                    == "paginate.next finds \(isObject ? "an object" : "true") instead of a link (page 2)")
        }
    }

    @Test func `the error of a limit of one page uses the singular`() throws {
        let target = try Self.target(last: 5)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, paginate", "'\(target.url)/list', '{\(Self.style), \"max_pages\": 1}'")
        try queue.wait(for: id, toBe: "failed")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(id)")?
                .hasPrefix("the list has more than 1 page, the limit of max_pages;") == true)
    }
}
