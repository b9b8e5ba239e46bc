// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// One client's expressions take hours over an answer of 30,000 numbers, while another client's plain jobs run.
struct ExpensiveAnswerTests {
    /// Runs 20 plain jobs of another lane in a row. Returns the slowest and the median time in seconds.
    static func plainJobs(_ queue: borrowing TestQueue, _ target: TargetServer) throws -> (
        median: Double, slowest: Double
    ) {
        var times: [Double] = []
        for _ in 1...20 {
            let began = TestClock.now
            let id = try queue.insert("url, lane", "'\(target.url)/plain', 'plain'")
            try TestClock.wait(20, for: "plain job \(id)") {
                try queue.connection.query(
                    "select exists (select from postrider_internal.results where job_id = \(id))"
                ).bool(
                    0, 0)
            }
            times.append(Double(TestClock.now - began) / 1e9)
        }
        times.sort()
        return (times[times.count / 2], times.last ?? 0)
    }

    /// Each column whose expression can take hours over an answer.
    static let entries: [(name: String, columns: String, values: String)] = [
        ("extract", "extract", "'\(ExpensiveAnswer.expression)'"),
        (
            "paginate.items", "paginate",
            "'{\"style\": \"page\", \"param\": \"p\", \"items\": \"\(ExpensiveAnswer.expression)\"}'"
        ),
        (
            "paginate.next", "paginate",
            "'{\"style\": \"cursor\", \"param\": \"p\", \"items\": \"$\", \"next\": \"\(ExpensiveAnswer.expression)\"}'"
        ),
        ("services.envelope", "service", "'evil'"),
    ]

    @Test(arguments: entries.indices)
    func `an expression that takes hours fails as too_expensive, keeps the body and delays no plain job`(entry: Int)
        throws
    {
        let (name, columns, values) = Self.entries[entry]
        let target = try ExpensiveAnswer.target()
        let queue = try ExpensiveAnswer.queue()
        if columns == "service" {
            try queue.connection.execute(
                "insert into postrider.services (name, envelope) values ('evil', '{\"code\": \"\(ExpensiveAnswer.expression)\"}')"
            )
        }
        let worker = try RunningWorker(queue.database, concurrency: 4)
        try worker.wait(for: "leading")
        let quiet = try Self.plainJobs(queue, target)
        try queue.insert(40, "url, \(columns)", "'\(target.url)/large', \(values)")
        try queue.wait(until: "select exists (select from postrider.worker_status where judgements_waiting > 3)")
        let busy = try Self.plainJobs(queue, target)
        #expect(
            try queue.number("select count(*) from postrider.job_status where url like '%/large' and state = 'running'")
                > 4)
        // The bound leaves room for other work on the machine.
        #expect(busy.median < max(0.05, 5 * quiet.median) && busy.slowest < 2, "\(quiet) became \(busy)")
        try queue.wait(until: "select count(*) >= 3 from postrider_internal.results where error_code is not null")
        #expect(
            try queue.rows(
                """
                select distinct error_code, status_code::text, attempt::text, octet_length(body)::text,
                  (error like '%300 ms%simplify \(name)%')::text, state
                from postrider.job_status where error_code is not null
                """) == [["too_expensive", "200", "1", "60001", "true", "failed"]])
        // No waiting answer delays a cancel.
        _ = try queue.number("select postrider.cancel_all()")
        try queue.wait(
            5, until: "select count(*) = count(*) filter (where state <> 'running') from postrider.job_status")
        try queue.wait(until: "select bool_and(judgements_waiting = 0) from postrider.worker_status")
        let next = try queue.insert("url, extract", "'\(target.url)/large', '$[*] ? (@ == 1)'")
        try queue.wait(for: next, toBe: "succeeded")
        #expect(worker.count(of: "enlisted") == 1 && worker.count(of: "worker_reaped") == 0)
    }

    @Test func `an expensive cached answer delays no plain job and keeps its body`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try ExpensiveAnswer.queue()
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        let first = try queue.insert("url, cache_ttl", "'\(target.url)/large', '1 hour'")
        try queue.wait(for: first, toBe: "succeeded")
        let fine = try queue.insert("url, cache_ttl, extract", "'\(target.url)/large', '1 hour', '$[*] ? (@ == 1)'")
        try queue.wait(for: fine, toBe: "succeeded")
        try queue.insert(
            30, "url, cache_ttl, extract", "'\(target.url)/large', '1 hour', '\(ExpensiveAnswer.expression)'")
        try queue.wait(until: "select exists (select from postrider.worker_status where judgements_waiting > 3)")
        let busy = try Self.plainJobs(queue, target)
        #expect(busy.median < 0.5 && busy.slowest < 2, "\(busy)")
        try queue.wait(until: "select count(*) >= 3 from postrider_internal.results where error_code is not null")
        #expect(
            try queue.rows(
                """
                select distinct error_code, status_code::text, octet_length(body)::text, from_cache::text
                from postrider.job_status where error_code is not null
                """) == [["too_expensive", "200", "60001", "true"]])
        #expect(
            try queue.number("select jsonb_array_length(result) from postrider.job_status where id = \(fine)") == 30_000
        )
        _ = try queue.number("select postrider.cancel_all()")
        try queue.wait(
            5, until: "select count(*) = count(*) filter (where state <> 'running') from postrider.job_status")
        #expect(target.requests("/large").count == 1)
    }

    @Test func `large validators and answers above 1 MiB go to the judging session with correct results`() throws {
        let keys = (1...200).map { "\"k\($0)\": " }
        let large =
            "{" + keys.map { $0 + "1" }.joined(separator: ",") + ", \"x\": \"" + String(repeating: "y", count: 2 << 20)
            + "\"}"
        let target = try TargetServer { _ in TargetStep.answer(200, large) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let plain = try queue.insert("url, extract", "'\(target.url)/a', '$.k7'")
        let valid = try queue.insert(
            "url, extract, validator",
            "'\(target.url)/b', '$.k8', '{\(keys.map { $0 + "\"number\"" }.joined(separator: ","))}'")
        let invalid = try queue.insert(
            "url, validator", "'\(target.url)/c', '{\(keys.map { $0 + "\"string\"" }.joined(separator: ","))}'")
        for id in [plain, valid] { try queue.wait(for: id, toBe: "succeeded") }
        try queue.wait(for: invalid, toBe: "failed")
        #expect(
            try queue.rows("select error_code from postrider_internal.results order by job_id") == [
                [nil], [nil], ["validator"],
            ])
        #expect(try queue.number("select count(*) from postrider_internal.results where result = '1'") == 2)
        #expect(worker.output.contains("\"session\":\"judging\""))
    }

    @Test func `an expensive at_most_once job fails without a second call, and a 503 is retried`() throws {
        let target = try TargetServer { request in
            request.path == "/503" ? TargetStep.answer(503) : TargetStep.answer(200, ExpensiveAnswer.list)
        }
        let queue = try ExpensiveAnswer.queue()
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        let once = try queue.insert(
            "url, extract, delivery", "'\(target.url)/large', '\(ExpensiveAnswer.expression)', 'at_most_once'")
        let again = try queue.insert(
            "url, extract, max_attempts, backoff", "'\(target.url)/503', '\(ExpensiveAnswer.expression)', 2, '{10 ms}'")
        try queue.wait(for: once, toBe: "failed")
        try queue.wait(for: again, toBe: "failed")
        #expect(
            try queue.rows("select error_code, attempt::text from postrider.job_status order by id")
                == [["too_expensive", "1"], ["http_status", "2"]])
        _ = try queue.number("select postrider.retry_failed(error_code => 'too_expensive')")
        #expect(try queue.state(once) == "failed")
        #expect(target.requests("/large").count == 1)
    }

    @Test func `a worker whose judging memory is full defers expensive jobs without using an attempt`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try ExpensiveAnswer.queue("10 ms")
        let worker = try RunningWorker(queue.database, concurrency: 16, ["--memory", "64MiB"])
        defer { worker.kill() }
        // The limit is a quarter of 64 MiB, and each answer takes at least 256 KiB.
        try queue.insert(120, "url, extract", "'\(target.url)/large', '\(ExpensiveAnswer.expression)'")
        try queue.wait(until: "select count(*) > 10 from postrider.job_status where state = 'scheduled'")
        #expect(try queue.number("select max(attempt) from postrider.job_status where state = 'scheduled'") == 0)
        try queue.waitUntilDone(90)
        #expect(try queue.states() == "failed 120")
        #expect(target.requests.count == 120)
        #expect(try queue.number("select count(*) from postrider.attempts") == 120)
    }

    @Test func `a stopping worker hands back answers that it has not judged`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try ExpensiveAnswer.queue("20 s")
        let worker = try RunningWorker(queue.database, concurrency: 8, ["--drain", "1s"])
        try queue.insert(3, "url, extract", "'\(target.url)/large', '\(ExpensiveAnswer.expression)'")
        try queue.insert(
            3, "url, extract, delivery", "'\(target.url)/large', '\(ExpensiveAnswer.expression)', 'at_most_once'")
        // The server has sent all answers a moment before the worker has read them.
        try queue.wait(until: "select sum(judgements_waiting) = 6 from postrider.worker_status")
        #expect(worker.end(SIGTERM) == 0)
        #expect(try queue.states() == "scheduled 3, unknown 3")
        #expect(try queue.number("select sum(attempt) from postrider.job_status where state = 'scheduled'") == 0)
        #expect(
            try queue.number("select count(*) from postrider_internal.results where octet_length(body) = 60001") == 3)
    }
}
