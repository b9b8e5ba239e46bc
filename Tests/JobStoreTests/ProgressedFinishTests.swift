// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import TestSupport
import Testing

/// Verdict `p`: a download broke off, but its file has grown.
struct ProgressedFinishTests {
    /// Ends attempt 3 of 3 with this verdict. The backoff list is 40 s, then 900 s.
    private func finish(_ kind: Verdict.Kind, expired: Bool = false) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.insert(
            "url, max_attempts, backoff, expires_at",
            "'http://h/', 3, '{40 s, 900 s}', \(expired ? "now() + interval '1 ms'" : "null")")
        if expired { try queue.wait(until: "select expires_at < now() from postrider.jobs") }
        try FinishFixture.finish(queue, attempt: 3, Verdict(kind, .truncated, "cut"))
        return queue
    }

    @Test func `a download with progress uses no attempt and waits for the first backoff`() throws {
        let queue = try finish(.progressed)
        #expect(try queue.number("select attempt::bigint from postrider_internal.scheduled") == 2)
        let wait = try queue.number(
            "select round(extract(epoch from run_at - now()))::bigint from postrider_internal.scheduled")
        #expect((35...40).contains(wait))
        #expect(try queue.text("select error_code from postrider_internal.past_attempts") == "truncated")
        #expect(try queue.text("select states[1]::text from postrider_internal.job_deltas") == "p")
    }

    /// Ends an attempt after earlier ones, oldest first. True stands for an attempt that received little.
    private func finish(after earlier: [Bool]) throws -> TestQueue {
        let queue = try TestQueue()
        let id = try queue.insert("url, max_attempts, backoff", "'http://h/', 3, '{40 s}'")
        for (number, gainedLittle) in earlier.enumerated() {
            try queue.connection.execute(
                """
                insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, gained_little)
                values (\(id), \(number + 1), now(), 7, 3, \(gainedLittle))
                """)
        }
        try queue.connection.execute("update postrider_internal.ready set fence = 100")
        try FinishFixture.finish(queue, attempt: 3, fence: 100, Verdict(.gainedLittle, .truncated, "cut"))
        return queue
    }

    @Test func `the twentieth download attempt in a row with little progress fails the job`() throws {
        let queue = try finish(after: Array(repeating: true, count: 19))
        #expect(
            try queue.rows("select state::text, error_code, error from postrider_internal.results") == [
                ["f", "truncated", "cut; 20 attempts in a row brought less than 64 KiB each"]
            ])
    }

    @Test(arguments: [
        [], Array(repeating: true, count: 18), Array(repeating: true, count: 19) + [false],
        [true, false] + Array(repeating: true, count: 18),
    ]) func `an attempt with more progress resets the count of attempts with little`(earlier: [Bool]) throws {
        let queue = try finish(after: earlier)
        #expect(try queue.number("select attempt::bigint from postrider_internal.scheduled") == 2)
        #expect(
            try queue.number("select count(*) from postrider_internal.past_attempts where gained_little")
                == earlier.count { $0 } + 1)
    }

    @Test func `a last attempt without progress fails the job`() throws {
        #expect(try finish(.retryable).text("select state::text from postrider_internal.results") == "f")
    }

    @Test(arguments: [Verdict.Kind.progressed, .handedBack])
    func `a download with progress or a handed-back job ends after expires_at with its last error`(kind: Verdict.Kind)
        throws
    {
        let queue = try finish(kind, expired: true)
        #expect(try queue.text("select state::text || error_code from postrider_internal.results") == "ftruncated")
        #expect(try queue.number("select count(*) from postrider_internal.scheduled") == 0)
    }
}
