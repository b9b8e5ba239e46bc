// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Statements that take the database too long, with the default time limit.
struct OverrunTests {
    /// Compares each of 30,000 values with all of them, which takes minutes.
    private static let extract = "$[*] ? (exists($[*] ? (@ == 3)))"

    @Test func `an answer that exceeds the judge timeout fails alone and keeps its body`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try TestQueue()
        let evil = try queue.insert("url, extract", "'\(target.url)/large', '\(Self.extract)'")
        try queue.insert(40, "url, extract", "'\(target.url)/small', '$.a'")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded 40")
        #expect(
            try queue.rows(
                "select error_code, error, attempt::text, octet_length(body)::text from postrider.job_status where id = \(evil)"
            ) == [
                [
                    "too_expensive",
                    "judging the answer took longer than 2 s (settings.judge_timeout); simplify extract", "1",
                    "60001",
                ]
            ])
        #expect(try queue.number("select count(*) from postrider_internal.results where result = '1'") == 40)
        #expect(worker.count(of: "statement_failed") == 0)
    }

    @Test func `plain jobs end while expensive answers wait, and explain reports the wait`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try TestQueue()
        let workers = try (1...2).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        defer { workers.kill() }
        for worker in workers { try worker.wait(for: "enlisted") }
        // These answers keep both judging sessions busy for 40 s, at 2 s each.
        try queue.insert(40, "url, extract, lane", "'\(target.url)/large', '\(ExpensiveAnswer.expression)', 'evil'")
        try queue.wait(
            until: """
                select count(*) > 20 and bool_and(coalesce(r.job_id = any (w.judging_jobs), false))
                  from postrider_internal.ready r left join postrider_internal.workers w on w.id = r.worker
                """)
        try queue.insert(300, "url, lane", "'\(target.url)/plain', 'plain'")
        try queue.wait(
            until: "select count(*) = 300 from postrider.job_status where lane = 'plain' and state = 'succeeded'")
        let waiting = try queue.rows(
            "select postrider.explain(id) from postrider.job_status where lane = 'evil' and finished_at is null")
        #expect(waiting.count > 10)
        let sentence = "its call has ended, and its answer waits for the judging session of this worker ("
        for row in waiting { #expect(row[0]?.contains(sentence) == true, "\(row)") }
        #expect(try queue.number("select postrider.cancel_all()") > 10)
        // No attempt waits after the next heartbeat.
        try queue.wait(until: "select bool_and(judging_jobs is null) from postrider_internal.workers")
    }

    /// Two workers with 16 slots each, and 100 rows in the queue.
    @Test(.enabled(if: Soak.isOn))
    func `the p99 of plain jobs during expensive answers stays within three times the quiet p99`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try TestQueue()
        let workers = try (1...2).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        for worker in workers { try worker.wait(for: "enlisted") }
        let quiet = try waits(queue, target)
        try queue.insert(100, "url, extract", "'\(target.url)/large', '\(ExpensiveAnswer.expression)'")
        try queue.wait(until: "select sum(judgements_waiting) > 60 from postrider.worker_status")
        let busy = try waits(queue, target)
        #expect(
            try queue.number("select count(*) from postrider.job_status where url like '%/large' and state = 'running'")
                > 30)
        #expect(busy < 3 * quiet, "\(quiet) s became \(busy) s")
        #expect(try queue.number("select postrider.cancel_all()") > 30)
        try queue.wait(5, until: "select bool_and(state <> 'running') from postrider.job_status")
    }

    /// The p99 of the time from INSERT to the end of the job, in seconds: 1,000 jobs, 100 a second.
    private func waits(_ queue: borrowing TestQueue, _ target: TargetServer) throws -> Double {
        let before = try queue.number("select coalesce(max(id), 0) from postrider.jobs")
        for _ in 1...1_000 {
            try queue.insert("url, lane", "'\(target.url)/plain', 'plain'")
            TestClock.sleep(milliseconds: 10)
        }
        try queue.wait(
            until: "select count(*) = 0 from postrider.job_status where lane = 'plain' and finished_at is null")
        return try queue.connection.query(
            """
            select percentile_cont(0.99) within group (order by extract(epoch
                from r.finished_at - j.created_at))::float8
            from postrider.jobs j join postrider_internal.results r on r.job_id = j.id where j.id > \(before)
            """
        ).float8(0, 0)
    }
}
