// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct CallbackWorkTests {
    private func lease(_ id: Int64) -> Lease { Lease(track: 1, seq: id, fence: 1, jobID: id, attempt: 1) }

    @Test func `a worker sends one conclusion at a time and continues while jobs wait`() {
        var callbackWork = CallbackWork()
        let answer1 = callbackWork.concludes(now: 0)
        #expect(!answer1)
        #expect(!callbackWork.hasWork)
        callbackWork.outcomesWait()
        let answer2 = callbackWork.concludes(now: 0)
        #expect(answer2)
        let answer3 = callbackWork.concludes(now: 0)
        #expect(!answer3)
        callbackWork.concluded(more: true, hasFailures: false, now: 0)
        let answer4 = callbackWork.concludes(now: 0)
        #expect(answer4)
        // The job ended after the statement was sent.
        callbackWork.outcomesWait()
        callbackWork.concluded(more: false, hasFailures: false, now: 0)
        let answer5 = callbackWork.concludes(now: 0)
        #expect(answer5)
        callbackWork.concluded(more: false, hasFailures: false, now: 0)
        #expect(callbackWork.isQuiet && !callbackWork.hasWork)
    }

    @Test func `a worker rests after a failed conclusion and marks the failure for deferral`() {
        var callbackWork = CallbackWork()
        callbackWork.outcomesWait()
        _ = callbackWork.concludes(now: 5)
        callbackWork.conclusionFailed(nil, isShortage: false, now: 5)
        #expect(callbackWork.hasFailed)
        let answer6 = callbackWork.concludes(now: 5 + CallbackWork.rest - 1)
        #expect(!answer6)
        #expect(callbackWork.deadline(now: 6) == 5 + CallbackWork.rest)
        let answer7 = callbackWork.concludes(now: 5 + CallbackWork.rest)
        #expect(answer7)
        #expect(!callbackWork.hasFailed)
    }

    @Test func `a session counts as suspect after 4, 8, 16 and 32 refusals in a row`() {
        var callbackWork = CallbackWork()
        var suspicions: [Int] = []
        for count in 1...40 {
            callbackWork.outcomesWait()
            _ = callbackWork.concludes(now: UInt64(count) * CallbackWork.rest)
            callbackWork.conclusionFailed(nil, isShortage: false, now: UInt64(count) * CallbackWork.rest)
            if callbackWork.shouldReplaceSession { suspicions.append(count) }
        }
        #expect(suspicions == [4, 8, 16, 32])
        callbackWork.concluded(more: false, hasFailures: false, now: 0)
        for job in 1...4 {
            #expect(!callbackWork.shouldReplaceSession)
            callbackWork.hooksWait(slot: job, lease(Int64(job)))
            let next = callbackWork.nextBeginning(now: .max)
            _ = callbackWork.requeueStart(next?.number ?? 0, wasLocked: false, now: 0)
        }
        #expect(callbackWork.shouldReplaceSession)
    }

    @Test func `after a conclusion that recorded callback failures, a worker rests without deferring a job`() {
        var callbackWork = CallbackWork()
        callbackWork.outcomesWait()
        _ = callbackWork.concludes(now: 5)
        callbackWork.concluded(more: true, hasFailures: true, now: 7)
        let early = callbackWork.concludes(now: 7 + CallbackWork.rest - 1)
        #expect(!early && !callbackWork.hasFailed && !callbackWork.isQuiet)
        #expect(callbackWork.deadline(now: 8) == 7 + CallbackWork.rest)
        let again = callbackWork.concludes(now: 7 + CallbackWork.rest)
        #expect(again)
    }

    @Test func `hooks that a lost connection interrupted are requested again in order`() {
        var callbackWork = CallbackWork()
        for id in 1...3 { callbackWork.hooksWait(slot: Int(id), lease(Int64(id))) }
        let first = callbackWork.nextBeginning(now: 0)
        let second = callbackWork.nextBeginning(now: 0)
        #expect([first?.lease.jobID, second?.lease.jobID] == [1, 2])
        let begun = callbackWork.begun(first?.number ?? 0, now: 0)
        #expect(begun?.slot == 1)
        let givenUp = callbackWork.connectionLost(now: 0)
        #expect(givenUp.isEmpty)
        let late = callbackWork.begun(second?.number ?? 0, now: 0)
        #expect(late?.slot == nil)
        var again: [Int64] = []
        let early = callbackWork.nextBeginning(now: CallbackWork.rest - 1)
        #expect(early?.number == nil && callbackWork.deadline(now: 0) == CallbackWork.rest)
        while let next = callbackWork.nextBeginning(now: CallbackWork.rest) { again.append(next.lease.jobID) }
        #expect(again == [2, 3])
    }

    @Test
    func `a conclusion that loses the connection twice without a success between is deferred`() {
        var callbackWork = CallbackWork()
        callbackWork.outcomesWait()
        for (loss, isPutOff) in [(1, false), (2, true), (3, true)] {
            let begins = callbackWork.concludes(now: UInt64(loss) * CallbackWork.rest)
            #expect(begins)
            _ = callbackWork.connectionLost(now: UInt64(loss) * CallbackWork.rest)
            #expect(callbackWork.hasFailed == isPutOff, "\(loss)")
        }
        _ = callbackWork.concludes(now: 10 * CallbackWork.rest)
        callbackWork.concluded(more: true, hasFailures: false, now: 10 * CallbackWork.rest)
        _ = callbackWork.concludes(now: 10 * CallbackWork.rest)
        _ = callbackWork.connectionLost(now: 10 * CallbackWork.rest)
        #expect(!callbackWork.hasFailed)
        _ = callbackWork.concludes(now: 11 * CallbackWork.rest)
        callbackWork.concluded(more: true, hasFailures: false, now: 11 * CallbackWork.rest)
        _ = callbackWork.concludes(now: 11 * CallbackWork.rest)
        callbackWork.sessionEnds()
        _ = callbackWork.connectionLost(now: 11 * CallbackWork.rest)
        #expect(callbackWork.hasFailed)
    }

    @Test func `hooks that lose the connection three times are skipped and their job begins without them`() {
        var callbackWork = CallbackWork()
        callbackWork.hooksWait(slot: 4, lease(4))
        for loss in UInt64(1)...5 {
            let begins = callbackWork.nextBeginning(now: loss * CallbackWork.rest)
            #expect(begins?.lease.jobID == 4 && begins?.runsHooks == (loss <= 3))
            let givenUp = callbackWork.connectionLost(now: loss * CallbackWork.rest)
            #expect(givenUp.map(\.jobID) == (loss == 3 ? [4] : []))
        }
        let last = callbackWork.nextBeginning(now: 6 * CallbackWork.rest)
        let begun = callbackWork.begun(last?.number ?? 0, now: 6 * CallbackWork.rest)
        #expect(begun?.slot == 4 && !callbackWork.hasWork)
    }

    @Test(arguments: [true, false])
    func `a job without a known result is queried at doubling intervals and delays no other`(wasLocked: Bool) {
        var callbackWork = CallbackWork()
        callbackWork.hooksWait(slot: 1, lease(1))
        callbackWork.hooksWait(slot: 2, lease(2))
        var first = callbackWork.nextBeginning(now: 1)
        var givenUp: [Int64] = []
        var pauses: [UInt64] = []
        var now: UInt64 = 1
        for turn in 1...8 {
            let entry = callbackWork.requeueStart(first?.number ?? 0, wasLocked: wasLocked, now: now)
            if let entry { givenUp.append(entry.lease.jobID) }
            guard let due = callbackWork.deadline(now: now), entry == nil else { break }
            pauses.append((due - now) / CallbackWork.rest)
            if turn == 1 {
                let other = callbackWork.nextBeginning(now: due - 1)
                #expect(other?.lease.jobID == 2)
                _ = callbackWork.begun(other?.number ?? 0, now: due - 1)
            }
            now = due
            first = callbackWork.nextBeginning(now: now)
            #expect(first?.lease.jobID == 1 && first?.runsHooks == wasLocked)
        }
        #expect(pauses == (wasLocked ? [1, 2, 4, 8, 16, 32, 32, 32] : [1, 2, 4, 8, 16]))
        #expect(givenUp == (wasLocked ? [] : [1]))
    }

    @Test func `a session without an answer for ten seconds is stuck, and each answer restarts the time`() {
        var callbackWork = CallbackWork()
        callbackWork.hooksWait(slot: 1, lease(1))
        callbackWork.hooksWait(slot: 2, lease(2))
        let first = callbackWork.nextBeginning(now: 1)
        _ = callbackWork.nextBeginning(now: 1)
        #expect(callbackWork.deadline(now: 1) == 1 + CallbackWork.longestAnswer)
        var stuck = [callbackWork.isStuck(now: CallbackWork.longestAnswer)]
        // An answer may already be in the socket, as after a SIGSTOP. The worker reads it first.
        stuck.append(callbackWork.isStuck(now: 1 + CallbackWork.longestAnswer))
        _ = callbackWork.begun(first?.number ?? 0, now: 7)
        stuck.append(callbackWork.isStuck(now: 1 + CallbackWork.longestAnswer))
        for _ in 1...2 { stuck.append(callbackWork.isStuck(now: 7 + CallbackWork.longestAnswer)) }
        #expect(stuck == [false, false, false, false, true])
    }
}
