// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Which attempts one statement writes, and which of them wait.
struct WriteQueueTests {
    private let moment: UInt64 = 5_000_000_000

    private func attempt(_ seq: Int64, isJudged: Bool = false) -> FinishedAttempt {
        FinishedAttempt(lease: .ofJob(seq), verdict: .success, outcome: nil, isJudged: isJudged)
    }

    private func queue(_ attempts: [FinishedAttempt]) -> WriteQueue {
        var queue = WriteQueue()
        for attempt in attempts { queue.put(attempt, now: moment) }
        return queue
    }

    private func batch(_ queue: inout WriteQueue, limit: Int = 256, at now: UInt64? = nil) -> FinishBatch {
        queue.nextBatch(refused: nil, limit: limit, bytes: 1 << 20, now: now ?? moment)
    }

    @Test func `a batch contains judged attempts or others, the oldest first, and the rest keep their order`() {
        var queue = queue([1, 2, 3, 4, 5].map { attempt($0, isJudged: $0 % 2 == 0) })
        #expect(batch(&queue, limit: 2).attempts.map(\.lease.seq) == [1, 3])
        #expect(queue.finished.map(\.lease.seq) == [2, 4, 5])
        #expect(batch(&queue).attempts.map(\.lease.seq) == [2, 4])
        #expect(batch(&queue).attempts.map(\.lease.seq) == [5])
        #expect(queue.isEmpty)
    }

    @Test func `an attempt that exceeded the time limit or was refused goes alone`() {
        var queue = queue([attempt(1), attempt(2), attempt(3)])
        queue.noteOverrun(1, stored: 7)
        #expect(batch(&queue).attempts.map(\.lease.seq) == [1])
        let refused = queue.nextBatch(refused: attempt(9), limit: 256, bytes: 1 << 20, now: moment)
        #expect(refused.attempts.map(\.lease.seq) == [9])
        #expect(queue.finished.map(\.lease.seq) == [2, 3])
    }

    @Test func `after a batch of four the next ones wait 2 ms, the oldest at most 3 ms`() {
        var queue = queue((1...3).map { attempt($0) })
        _ = batch(&queue)
        #expect(queue.pausedUntil == 0)
        for seq in 4...7 as ClosedRange<Int64> { queue.put(attempt(seq), now: moment) }
        _ = batch(&queue)
        #expect(queue.deadline(underWay: 0, mayAct: true, isRefused: false, now: moment) == moment + 2_000_000)
        queue.put(attempt(8), now: moment + 500)
        queue.put(attempt(9), now: moment + 700)
        #expect(queue.waited(now: moment + 1_000) == 500)
        #expect(queue.deadline(underWay: 1, mayAct: true, isRefused: false, now: moment) == moment + 3_000_500)
        #expect(queue.deadline(underWay: 1, mayAct: true, isRefused: true, now: moment) == nil)
        #expect(queue.deadline(underWay: 2, mayAct: true, isRefused: false, now: moment) == nil)
    }

    @Test func `attempts in locked rows wait apart, and the free ones are written first`() {
        var queue = queue((1...3).map { attempt($0) })
        let failed = batch(&queue)
        queue.takeBack(failed, now: moment)
        #expect(queue.deferBatch(failed, now: moment) == .none)
        #expect(queue.finished.isEmpty && !queue.isEmpty && queue.count == 3)
        var numbers = StatementNumbers()
        let question = queue.nextQuestion(numbers: &numbers, isDraining: false, now: moment)
        #expect(question?.leases.map(\.seq) == [1, 2, 3])
        #expect(queue.questionAnswered(question?.number ?? 0, locked: [2], now: moment) == false)
        #expect(queue.finished.map(\.lease.seq) == [1, 3] && queue.deferredLeases.map(\.seq) == [2])
        let next = batch(&queue)
        // The transaction that locks row 2 may hold other locks too.
        #expect(queue.hasShortLockTimeout(next, isDraining: false))
        #expect(!WriteQueue().hasShortLockTimeout(FinishBatch([attempt(4)]), isDraining: false))
    }

    @Test func `a lost or failed question is asked again`() {
        var numbers = StatementNumbers()
        for isLost in [false, true] {
            var queue = queue([attempt(1)])
            _ = queue.deferBatch(FinishBatch([attempt(1)]), now: moment)
            let first = queue.nextQuestion(numbers: &numbers, isDraining: false, now: moment)
            #expect(queue.questionDue(isDraining: false) == nil)
            if isLost { queue.connectionLost() } else { queue.questionFailed(first?.number ?? 0, now: moment) }
            #expect(queue.questionDue(isDraining: false) == (isLost ? moment : moment + 1_000_000_000))
        }
    }

    @Test func `attempts whose leases have ended are dropped`() {
        var queue = queue([attempt(1), attempt(2)])
        _ = queue.deferBatch(FinishBatch([attempt(1)]), now: moment)
        queue.put(attempt(3), now: moment)
        queue.keep([1, 3])
        #expect(queue.finished.map(\.lease.seq) == [3] && queue.deferredLeases.map(\.seq) == [1])
    }
}
