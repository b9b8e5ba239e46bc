// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// What takes the database too long to look at. The worker gives a statement 30 s; the short test ends it by hand.
struct OverrunTests {
    /// Compares each of 30,000 values with all of them: minutes.
    private static let extract = "$[*] ? (exists($[*] ? (@ == 3)))"

    private static func target() throws -> TargetServer {
        let large = "[" + Array(repeating: "1", count: 30_000).joined(separator: ",") + "]"
        return try TargetServer { request in TargetStep.answer(200, request.path == "/large" ? large : "{\"a\": 1}") }
    }

    @Test func `an answer that takes too long to judge fails alone and keeps its body, and its batch mates succeed`()
        throws
    {
        let target = try Self.target()
        let queue = try TestQueue()
        let evil = try queue.insert("url, extract", "'\(target.url)/large', '\(Self.extract)'")
        try queue.insert(40, "url, extract", "'\(target.url)/small', '$.a'")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try cancelStatements(of: "judge", queue, until: evil)
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded 40")
        #expect(
            try queue.rows(
                "select error_code, attempt::text, octet_length(body)::text from postrider.job_status where id = \(evil)"
            )
                == [["internal", "1", "60001"]])
        #expect(try queue.number("select count(*) from postrider.results where result = '1'") == 40)
        #expect(worker.count(of: "result_unstorable") == 1)
    }

    @Test func `a cached answer that takes too long to judge fails its job alone`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64)
        for path in ["large", "small"] {
            let first = try queue.insert("url, cache_ttl", "'\(target.url)/\(path)', '1 hour'")
            try queue.wait(for: first, toBe: "succeeded")
        }
        try queue.connection.execute("begin")
        let evil = try queue.insert("url, cache_ttl, extract", "'\(target.url)/large', '1 hour', '\(Self.extract)'")
        try queue.insert(40, "url, cache_ttl, extract", "'\(target.url)/small', '1 hour', '$.a'")
        try queue.connection.execute("commit")
        try cancelStatements(of: "prepare", queue, until: evil)
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded 42")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(evil)") == "internal")
        #expect(target.requests.count == 2)
        _ = worker
    }

    @Test(.enabled(if: Soak.isOn)) func `the worker gives such a statement up by itself`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let evil = try queue.insert(
            "url, extract", "'\(target.url)/large', '$[*] ? (exists($[*] ? (exists($[*] ? (@ == 3)))))'")
        try queue.insert(40, "url, extract", "'\(target.url)/small', '$.a'")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try queue.wait(150, for: evil, toBe: "failed")
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded 40")
        _ = worker
    }

    /// Ends statements that call a function for over a second, as a timeout does, until a job is final.
    private func cancelStatements(of function: String, _ queue: borrowing TestQueue, until job: Int64) throws {
        var ended: Int64 = 0
        try TestClock.wait(60, for: "job \(job) to end; \(ended) statements were ended") {
            ended += try queue.number(
                """
                select count(*) filter (where pg_cancel_backend(pid)) from pg_stat_activity
                where datname = current_database() and state = 'active' and query like '%postrider.\(function)(%'
                  and pid <> pg_backend_pid() and query_start < clock_timestamp() - interval '1 s'
                """)
            TestClock.sleep(milliseconds: 100)
            return try queue.state(job) == "failed"
        }
        #expect(ended >= 2)
    }
}
