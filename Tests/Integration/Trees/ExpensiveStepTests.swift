// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Steps of batches and chains that begin slowly: because of their run_if, or because they read large answers.
struct ExpensiveStepTests {
    /// 7 MB of JSON: a list of ids, and a part that takes long to parse.
    private static let large =
        #"{"ids": [1, 2, 3], "rest": ["# + Array(repeating: "1", count: 3_500_000).joined(separator: ",") + "]}"

    private static func target() throws -> TargetServer {
        try TargetServer { request in
            TargetStep.answer(
                200,
                request.path == "/large" ? large : request.path == "/list" ? ExpensiveAnswer.list : #"{"a": 1}"#)
        }
    }

    /// Runs `count` chains of two plain steps in a row. Returns the slowest time in seconds.
    private static func plainChains(_ count: Int, _ queue: borrowing TestQueue, _ target: TargetServer) throws -> Double
    {
        var slowest = 0.0
        for _ in 1...count {
            let began = TestClock.now
            let id = try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "x", "url": "\(target.url)/x"},
                  {"url": "\(target.url)/{{x.body.a}}", "run_if": "$.x.body.a == 1"}]}')
                """)
            try queue.wait(20, for: id, toBe: "succeeded")
            slowest = max(slowest, Double(TestClock.now - began) / 1e9)
        }
        return slowest
    }

    @Test func `the judging session begins steps that read a large answer, with correct values`() throws {
        let target = try Self.target()
        let queue = try ExpensiveAnswer.queue("30 s")
        let worker = try RunningWorker(queue.database)
        let id = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/large"},
              {"name": "b", "url": "\(target.url)/{{a.body.ids[0]}}", "run_if": "$.a.body.ids.size() == 3"},
              {"batch": {"each": "{{a.body.ids}}", "do": {"url": "\(target.url)/item/{{item}}"}}},
              {"url": "\(target.url)/never", "run_if": "$.a.body.ids.size() == 4"},
              {"method": "POST", "url": "\(target.url)/last", "body_json": {"id": "{{a.body.ids[2]}}"}}]}')
            """)
        try queue.wait(40, for: id, toBe: "succeeded")
        #expect(
            Set(target.requests.map(\.path)) == ["/large", "/1", "/item/1", "/item/2", "/item/3", "/last"])
        #expect(worker.output.contains("\"session\":\"judging\""))
        #expect(worker.count(of: "statement_failed") == 0)
    }

    @Test func `run_if expressions that take hours delay no other chain, and cancel_all ends their chains`() throws {
        let target = try Self.target()
        let queue = try ExpensiveAnswer.queue()
        let worker = try RunningWorker(queue.database, concurrency: 4)
        try worker.wait(for: "leading")
        for _ in 1...30 {
            _ = try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/list"}, {"url": "\(target.url)/next",
                  "run_if": "exists($.a.body[*] ? (exists($.a.body[*] ? (exists($.a.body[*] ? (@ == 3))))))"}]}')
                """)
        }
        try queue.wait(until: "select count(*) > 3 from postrider_internal.tree_deltas where is_expensive")
        let slowest = try Self.plainChains(5, queue, target)
        #expect(try queue.number("select count(*) from postrider_internal.tree_deltas where is_expensive") > 3)
        #expect(slowest < 2)
        #expect(try queue.number("select postrider.cancel_all()") > 3)
        try queue.wait(5, until: "select bool_and(state <> 'running') from postrider.job_status")
        try queue.wait(until: "select count(*) = 0 from postrider_internal.tree_deltas")
        #expect(worker.count(of: "enlisted") == 1 && !target.requests.contains { $0.path == "/next" })
    }

    @Test(arguments: [
        (#"{"url": "TARGET/{{a.body.ids[0]}}"}"#, "the templates"),
        (#"{"batch": {"each": "{{a.body.ids}}", "do": {"url": "TARGET/{{item}}"}}}"#, "each"),
        (#"{"url": "TARGET/next", "run_if": "$.a.body.ids.size() == 3"}"#, "run_if"),
    ])
    func `a step whose templates, list or run_if exceed judge_timeout fails as too_expensive`(
        step: String, named: String
    ) throws {
        let target = try Self.target()
        let queue = try ExpensiveAnswer.queue("100 ms")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/large"},
              \(step.replacing("TARGET", with: target.url))]}')
            """)
        try queue.wait(for: id, toBe: "failed")
        #expect(
            try queue.rows(
                """
                select state, error from postrider.job_status where error_code = 'too_expensive'
                """)
                == [
                    [
                        "failed",
                        "\(named) took longer than settings.judge_timeout allows; simplify it, or read smaller answers",
                    ]
                ])
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "child_failed")
        #expect(target.requests.count == 1)
    }

    @Test func `a chain that a schedule inserts runs its nested batch and succeeds`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec) values ('often', '* * * * * *',
              '{"chain": [{"url": "\(target.url)/x"}, {"batch": {"each": [7], "do": {"url": "\(target.url)/{{item}}"}}}]}')
            """)
        try queue.wait(
            until: "select exists (select from postrider.job_status where kind = 'chain' and state = 'succeeded')")
        #expect(target.requests.contains { $0.path == "/7" })
    }
}
