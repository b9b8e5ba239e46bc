// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// A `run_if` that takes minutes to evaluate over an answer of some size.
struct HeavyRunIfTests {
    @Test(arguments: ["a", "fan.a"])
    func `a run_if that takes minutes fails its own chain without delaying heartbeats or other chains`(step: String)
        throws
    {
        let large = "[" + Array(repeating: "1", count: 30_000).joined(separator: ",") + "]"
        let target = try TargetServer { request in
            TargetStep.answer(200, request.path == "/large" ? large : "{\"a\": 1}")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        let first = #"{"name": "a", "url": "\#(target.url)/large"}"#
        let before = step == "a" ? first : #"{"name": "fan", "batch": [\#(first)]}"#
        let evil = try queue.number(
            """
            select postrider.submit('{"chain": [\(before), {"url": "\(target.url)/next",
              "run_if": "exists($.\(step).body[*] ? (exists($.\(step).body[*] ? (@ == 3))))"}]}')
            """)
        try queue.wait(until: "select count(*) = 1 from postrider.job_status where name = 'a' and state = 'succeeded'")
        var rounds = 0
        try TestClock.wait(90, for: "the chain to end") {
            let other = try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "x", "url": "\(target.url)/x"},
                  {"url": "\(target.url)/y", "run_if": "$.x.body.a == 1"}]}')
                """)
            try queue.wait(20, for: other, toBe: "succeeded")
            rounds += 1
            return try queue.state(evil) == "failed"
        }
        #expect(rounds > 3)
        #expect(
            try queue.rows(
                "select error_code, (error like 'run_if took longer than%')::text from postrider.job_status where url like '%/next'"
            )
                == [["too_expensive", "true"]])
        #expect(try queue.text("select error_code from postrider.job_status where id = \(evil)") == "child_failed")
        #expect(try queue.text("select state from postrider.job_status where name = 'a'") == "succeeded")
        #expect(!target.requests.contains { $0.path == "/next" })
        #expect(worker.count(of: "enlisted") == 1 && worker.count(of: "worker_reaped") == 0)
    }

    @Test func `ten slow run_if expressions do not stop the leader from finding a lost worker`() throws {
        let large = "[" + Array(repeating: "1", count: 30_000).joined(separator: ",") + "]"
        let target = try TargetServer { _ in TargetStep.answer(200, large) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "leading")
        let other = try RunningWorker(queue.database)
        try other.wait(for: "enlisted")
        for _ in 1...10 {
            _ = try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/large"}, {"url": "\(target.url)/next",
                  "run_if": "exists($.a.body[*] ? (exists($.a.body[*] ? (@ == 3))))"}]}')
                """)
        }
        let isJudging = "select count(*) > 3 from postrider_internal.tree_deltas where is_expensive"
        try queue.wait(until: isJudging)
        other.end(SIGKILL)
        // As if both workers had run for a while, and one of them had been silent since.
        try queue.connection.execute(
            """
            update postrider_internal.workers set steady_since = clock_timestamp() - interval '1 h';
            update postrider_internal.workers set heartbeat_at = clock_timestamp() - interval '1 min'
             where id <> (select owner from postrider_internal.leases where name = 'leader')
            """)
        try queue.wait(20, until: "select count(*) = 1 from postrider_internal.workers where lost")
        #expect(try queue.connection.query(isJudging).bool(0, 0))
        #expect(worker.count(of: "enlisted") == 1)
    }

    @Test func `a lock on the charset catalogue defers the step's run_if instead of skipping the step`() throws {
        let target = try TargetServer { _ in
            TargetStep.answer(200, "{\"a\": 1}", headers: ["Content-Type: application/json; charset=iso-8859-1"])
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        // A new session may rebuild its relation cache, which opens all catalogue tables. So it connects before the lock.
        let client = try PGConnection(queue.database)
        // A session that has not yet converted Latin 1 reads this catalogue table.
        try queue.connection.execute("begin; lock table pg_catalog.pg_conversion in access exclusive mode")
        let id = try client.query(
            """
            select postrider.submit('{"chain": [{"url": "\(target.url)/a", "name": "a"},
              {"url": "\(target.url)/next", "run_if": "$.a.body.a == 1"}]}')
            """
        ).int64(0, 0)
        let isPutOff = """
            select exists (select from postrider_internal.tree_deltas where due_at is not null)
                or exists (select from postrider_internal.results where job_id = \(id))
            """
        try TestClock.wait(20, for: "the step to be put off") { try client.query(isPutOff).bool(0, 0) }
        try queue.connection.execute("commit")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests("/next").count == 1)
    }

    @Test func `a disk read error defers only the step that reads the bad block`() throws {
        let target = try TargetServer { TargetStep.answer(200, "{\"path\": \"\($0.path)\"}") }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        // As if the disk block with this one answer were bad.
        try queue.connection.execute(
            """
            alter function postrider_internal.answer_text(bytea, text) rename to answer_text_read;
            create function postrider_internal.answer_text(p_body bytea, p_charset text) returns text language plpgsql stable strict as $$
            begin
              if position('/bad'::bytea in p_body) > 0 then
                raise io_error;
              end if;
              return postrider_internal.answer_text_read(p_body, p_charset);
            end $$
            """)
        func chain(_ path: String) throws -> Int64 {
            try queue.number(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)\(path)"},
                  {"url": "\(target.url)\(path)/next", "run_if": "$.a.body.path == \\"\(path)\\""}]}')
                """)
        }
        let bad = try chain("/bad")
        try queue.wait(until: "select exists (select from postrider_internal.tree_deltas where due_at is not null)")
        try queue.wait(for: chain("/good"), toBe: "succeeded")
        #expect(try queue.state(bad) == "running")
        try queue.connection.execute(
            """
            drop function postrider_internal.answer_text(bytea, text);
            alter function postrider_internal.answer_text_read(bytea, text) rename to answer_text
            """)
        try queue.wait(for: bad, toBe: "succeeded")
        #expect(Set(target.requests.map(\.path)) == ["/bad", "/bad/next", "/good", "/good/next"])
    }

    @Test(arguments: [
        ("$.a.status == 201", true), ("$.a.body.fresh == true && $.b.status < 300", true),
        ("exists($.a.body.id)", true), (#"$.a.body.name starts with "x""#, true), ("$.a.body == $.b.body", false),
        ("$.a.body[*] == 1", true), ("exists($.a.body ? (@.x == 1))", false), ("$.a.** == 1", false),
        ("$.a.body < ($.b.body)", false), (#"$.a.body like_regex "(a+)+b""#, false), ("$.a.body <> -$.b.body", false),
    ])
    func `jsonpath_is_cheap is false for a path that may compare many values with many`(
        path: String, isCheap: Bool
    ) throws {
        let queue = try TestQueue(sharedBy: #function)
        #expect(
            try queue.text("select postrider_internal.jsonpath_is_cheap('\(path)')::text") == "\(isCheap)")
    }
}
