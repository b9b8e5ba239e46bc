// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import TestSupport
import Testing

/// Verdict `p`: a download broke off and is longer than before.
struct ProgressedFinishTests {
    /// Ends attempt 3 of 3 with this verdict; the backoff list is 40 s, then 900 s.
    private func finish(_ kind: Verdict.Kind, expired: Bool = false) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.insert(
            "url, max_attempts, backoff, expires_at",
            "'http://h/', 3, '{40 s, 900 s}', \(expired ? "now() + interval '1 ms'" : "null")")
        if expired { TestClock.sleep(milliseconds: 20) }
        try FinishDesk.finish(queue, attempt: 3, Verdict(kind, .truncated, "cut"))
        return queue
    }

    @Test func `progress uses no attempt, not even the last, and waits as after a first one`() throws {
        let queue = try finish(.progressed)
        #expect(try queue.number("select attempt::bigint from postrider.scheduled") == 2)
        let wait = try queue.number("select round(extract(epoch from run_at - now()))::bigint from postrider.scheduled")
        #expect((35...40).contains(wait))
        #expect(try queue.text("select error_code from postrider.tries") == "truncated")
        #expect(try queue.text("select states[1]::text from postrider.tallies") == "p")
    }

    @Test func `the same end without progress is the job's end`() throws {
        #expect(try finish(.retryable).text("select state::text from postrider.results") == "f")
    }

    @Test(arguments: [Verdict.Kind.progressed, .handedBack])
    func `progress, or being handed back, after expires_at ends the job with its last error`(kind: Verdict.Kind) throws
    {
        let queue = try finish(kind, expired: true)
        #expect(try queue.text("select state::text || error_code from postrider.results") == "ftruncated")
        #expect(try queue.number("select count(*) from postrider.scheduled") == 0)
    }
}
