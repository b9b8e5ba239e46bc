// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// How exchanges slow down after failures, and which attempts are isolated.
struct FailureBackoffTests {
    private let moment: UInt64 = 5_000_000_000
    private let second: UInt64 = 1_000_000_000

    private func attempts(_ count: Int, isJudged: Bool = false) -> [FinishedAttempt] {
        (1...Int64(count)).map {
            FinishedAttempt(lease: .ofJob($0), verdict: .success, outcome: nil, isJudged: isJudged)
        }
    }

    /// A back-off whose batch has failed, and the queue with its attempts.
    private func failed(
        _ cause: Rejection, _ attempts: [FinishedAttempt], after backoff: FailureBackoff = FailureBackoff()
    ) -> (backoff: FailureBackoff, queue: WriteQueue, recovery: ExchangeRecovery, apart: FinishedAttempt?) {
        var backoff = backoff
        var queue = WriteQueue()
        queue.takeBack(FinishBatch(attempts), now: moment)
        let (recovery, apart) = backoff.batchFailed(FinishBatch(attempts), cause, &queue, now: moment)
        return (backoff, queue, recovery, apart)
    }

    @Test func `after a failure the worker rests for 250 ms`() {
        var backoff = FailureBackoff()
        #expect(backoff.restEnd(now: moment) == nil)
        backoff.rest(now: moment)
        #expect(backoff.restEnd(now: moment) == moment + 250_000_000)
        #expect(backoff.restEnd(now: moment + 250_000_000) == nil)
    }

    @Test func `failed claims wait longer each time, and take leases only for a minute`() {
        var backoff = FailureBackoff()
        backoff.claimFailed(now: moment)
        #expect(!backoff.allowsClaim(now: moment) && backoff.claimDeadline(now: moment) == moment + 250_000_000)
        backoff.claimFailed(now: moment)
        #expect(backoff.claimDeadline(now: moment) == moment + 500_000_000)
        backoff.claimSucceeded()
        #expect(backoff.allowsClaim(now: moment))
        #expect(backoff.takesLeasesOnly(now: moment) && !backoff.allowsSharing(now: moment))
        #expect(!backoff.takesLeasesOnly(now: moment + 60 * second) && backoff.allowsSharing(now: moment + 60 * second))
    }

    @Test func `refused batches get smaller and wait, until one is stored`() {
        var (backoff, queue, recovery, _) = failed(.shortage, attempts(8))
        #expect(recovery == .report && backoff.batchLimit == 2 && backoff.batchesRefusedSince == moment)
        #expect(backoff.waiting(queue)?.count == 8 && backoff.waitingJobs(queue, limit: 2) == [1, 2])
        let isWritable = { (backoff: FailureBackoff, now: UInt64) in
            backoff.writable(finished: 8, isUnderWay: false, isDraining: false, now: now)
        }
        #expect(isWritable(backoff, moment) == 0)
        #expect(isWritable(backoff, moment + 250_000_000) == 8)
        #expect(
            backoff.batchDeadline(hasFinished: true, isUnderWay: false, isDraining: false, now: moment)
                == moment + 250_000_000)
        backoff.batchStored(&queue)
        #expect(backoff.batchLimit == 4 && !backoff.refusesBatches && isWritable(backoff, moment) == 8)
    }

    @Test func `an attempt that is refused alone waits apart, and comes back when others are stored`() {
        var (backoff, queue, _, _) = failed(.failure, attempts(1))
        #expect(backoff.refused.leases.map(\.seq) == [1] && queue.isEmpty)
        backoff.batchStored(&queue)
        #expect(backoff.refused.isEmpty && queue.finished.map(\.lease.seq) == [1])
        (backoff, _, _, _) = failed(.failure, attempts(1))
        backoff.keep([])
        #expect(backoff.refused.isEmpty)
    }

    @Test func `an unstorable attempt is found by halving, and ends without its body`() {
        let several = failed(.unstorable, attempts(8))
        #expect(several.recovery == .report && several.backoff.batchLimit == 4 && several.queue.count == 8)
        let alone = failed(.unstorable, attempts(1))
        #expect(alone.recovery == .reportJob(1))
        #expect(alone.queue.finished.map(\.isReduced) == [true])
    }

    @Test func `a judged attempt that overruns alone is judged apart only if others were stored meanwhile`() {
        let first = failed(.overrun, attempts(1, isJudged: true))
        #expect(first.apart == nil && first.backoff.refused.count == 1)
        var backoff = FailureBackoff()
        var queue = WriteQueue()
        backoff.batchStored(&queue)
        var attempt = attempts(1, isJudged: true)
        attempt[0].storedBeforeOverrun = 0
        let second = failed(.overrun, attempt, after: backoff)
        #expect(second.apart?.lease.seq == 1 && second.queue.isEmpty && second.backoff.refused.isEmpty)
    }

    @Test func `a batch that waited for a lock is deferred without slowing the others`() {
        let result = failed(.locked, attempts(3))
        #expect(result.recovery == .none && !result.backoff.refusesBatches)
        #expect(result.queue.finished.isEmpty && result.queue.deferredLeases.count == 3)
    }
}
