// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct CallbackDeskTests {
    private func lease(_ id: Int64) -> Lease { Lease(track: 1, seq: id, fence: 1, jobID: id, attempt: 1) }

    @Test func `one conclusion is under way at a time, and goes on while there is more`() {
        var desk = CallbackDesk()
        let answer1 = desk.concludes(now: 0)
        #expect(!answer1)
        #expect(!desk.hasWork)
        desk.endsWait()
        let answer2 = desk.concludes(now: 0)
        #expect(answer2)
        let answer3 = desk.concludes(now: 0)
        #expect(!answer3)
        desk.concluded(more: true, hasFailures: false, now: 0)
        let answer4 = desk.concludes(now: 0)
        #expect(answer4)
        // An end that came after the statement was sent.
        desk.endsWait()
        desk.concluded(more: false, hasFailures: false, now: 0)
        let answer5 = desk.concludes(now: 0)
        #expect(answer5)
        desk.concluded(more: false, hasFailures: false, now: 0)
        #expect(desk.isQuiet && !desk.hasWork)
    }

    @Test func `after a failure it rests, and what failed is to be put off`() {
        var desk = CallbackDesk()
        desk.endsWait()
        _ = desk.concludes(now: 5)
        desk.conclusionFailed(nil, isShortage: false, now: 5)
        #expect(desk.hasFailed)
        let answer6 = desk.concludes(now: 5 + CallbackDesk.rest - 1)
        #expect(!answer6)
        #expect(desk.deadline(now: 6) == 5 + CallbackDesk.rest)
        let answer7 = desk.concludes(now: 5 + CallbackDesk.rest)
        #expect(answer7)
        #expect(!desk.hasFailed)
    }

    @Test func `four refusals in a row make the session suspect, then eight, and one that is stored forgives`() {
        var desk = CallbackDesk()
        var suspicions: [Int] = []
        for count in 1...40 {
            desk.endsWait()
            _ = desk.concludes(now: UInt64(count) * CallbackDesk.rest)
            desk.conclusionFailed(nil, isShortage: false, now: UInt64(count) * CallbackDesk.rest)
            if desk.distrustsSession { suspicions.append(count) }
        }
        #expect(suspicions == [4, 8, 16, 32])
        desk.concluded(more: false, hasFailures: false, now: 0)
        for job in 1...4 {
            #expect(!desk.distrustsSession)
            desk.hooksWait(slot: job, lease(Int64(job)))
            let next = desk.nextBeginning(now: .max)
            _ = desk.beginsAgain(next?.number ?? 0, withHooks: false, now: 0)
        }
        #expect(desk.distrustsSession)
    }

    @Test func `after one that stored no end but why not it rests, and nothing more is put off`() {
        var desk = CallbackDesk()
        desk.endsWait()
        _ = desk.concludes(now: 5)
        desk.concluded(more: true, hasFailures: true, now: 7)
        let early = desk.concludes(now: 7 + CallbackDesk.rest - 1)
        #expect(!early && !desk.hasFailed && !desk.isQuiet)
        #expect(desk.deadline(now: 8) == 7 + CallbackDesk.rest)
        let again = desk.concludes(now: 7 + CallbackDesk.rest)
        #expect(again)
    }

    @Test func `hooks that a lost connection cut off are asked for again, in order`() {
        var desk = CallbackDesk()
        for id in 1...3 { desk.hooksWait(slot: Int(id), lease(Int64(id))) }
        let first = desk.nextBeginning(now: 0)
        let second = desk.nextBeginning(now: 0)
        #expect([first?.lease.jobID, second?.lease.jobID] == [1, 2])
        let begun = desk.begun(first?.number ?? 0, now: 0)
        #expect(begun?.slot == 1)
        let givenUp = desk.connectionLost(now: 0)
        #expect(givenUp.isEmpty)
        let late = desk.begun(second?.number ?? 0, now: 0)
        #expect(late?.slot == nil)
        var again: [Int64] = []
        let early = desk.nextBeginning(now: CallbackDesk.rest - 1)
        #expect(early?.number == nil && desk.deadline(now: 0) == CallbackDesk.rest)
        while let next = desk.nextBeginning(now: CallbackDesk.rest) { again.append(next.lease.jobID) }
        #expect(again == [2, 3])
    }

    @Test
    func `a conclusion that ends the connection twice in a row is to be put off, and one that is stored forgives`() {
        var desk = CallbackDesk()
        desk.endsWait()
        for (loss, isPutOff) in [(1, false), (2, true), (3, true)] {
            let begins = desk.concludes(now: UInt64(loss) * CallbackDesk.rest)
            #expect(begins)
            _ = desk.connectionLost(now: UInt64(loss) * CallbackDesk.rest)
            #expect(desk.hasFailed == isPutOff, "\(loss)")
        }
        _ = desk.concludes(now: 10 * CallbackDesk.rest)
        desk.concluded(more: true, hasFailures: false, now: 10 * CallbackDesk.rest)
        _ = desk.concludes(now: 10 * CallbackDesk.rest)
        _ = desk.connectionLost(now: 10 * CallbackDesk.rest)
        #expect(!desk.hasFailed)
        _ = desk.concludes(now: 11 * CallbackDesk.rest)
        desk.concluded(more: true, hasFailures: false, now: 11 * CallbackDesk.rest)
        _ = desk.concludes(now: 11 * CallbackDesk.rest)
        desk.sessionEnds()
        _ = desk.connectionLost(now: 11 * CallbackDesk.rest)
        #expect(desk.hasFailed)
    }

    @Test func `hooks that end the connection three times are left out, and what became of their job is asked`() {
        var desk = CallbackDesk()
        desk.hooksWait(slot: 4, lease(4))
        for loss in UInt64(1)...5 {
            let begins = desk.nextBeginning(now: loss * CallbackDesk.rest)
            #expect(begins?.lease.jobID == 4 && begins?.runsHooks == (loss <= 3))
            let givenUp = desk.connectionLost(now: loss * CallbackDesk.rest)
            #expect(givenUp.map(\.jobID) == (loss == 3 ? [4] : []))
        }
        let last = desk.nextBeginning(now: 6 * CallbackDesk.rest)
        let begun = desk.begun(last?.number ?? 0, now: 6 * CallbackDesk.rest)
        #expect(begun?.slot == 4 && !desk.hasWork)
    }

    @Test(arguments: [true, false])
    func `a job of which nothing is known yet is asked for again, ever later, and holds up no other`(withHooks: Bool) {
        var desk = CallbackDesk()
        desk.hooksWait(slot: 1, lease(1))
        desk.hooksWait(slot: 2, lease(2))
        var first = desk.nextBeginning(now: 1)
        var givenUp: [Int64] = []
        var pauses: [UInt64] = []
        var now: UInt64 = 1
        for turn in 1...8 {
            let entry = desk.beginsAgain(first?.number ?? 0, withHooks: withHooks, now: now)
            if let entry { givenUp.append(entry.lease.jobID) }
            guard let due = desk.deadline(now: now), entry == nil else { break }
            pauses.append((due - now) / CallbackDesk.rest)
            if turn == 1 {
                let other = desk.nextBeginning(now: due - 1)
                #expect(other?.lease.jobID == 2)
                _ = desk.begun(other?.number ?? 0, now: due - 1)
            }
            now = due
            first = desk.nextBeginning(now: now)
            #expect(first?.lease.jobID == 1 && first?.runsHooks == withHooks)
        }
        #expect(pauses == (withHooks ? [1, 2, 4, 8, 16, 32, 32, 32] : [1, 2, 4, 8, 16]))
        #expect(givenUp == (withHooks ? [] : [1]))
    }

    @Test func `no answer for ten seconds means that the session is stuck, and each answer begins them anew`() {
        var desk = CallbackDesk()
        desk.hooksWait(slot: 1, lease(1))
        desk.hooksWait(slot: 2, lease(2))
        let first = desk.nextBeginning(now: 1)
        _ = desk.nextBeginning(now: 1)
        #expect(desk.deadline(now: 1) == 1 + CallbackDesk.longestAnswer)
        var stuck = [desk.isStuck(now: CallbackDesk.longestAnswer)]
        // An answer may lie there, as after a SIGSTOP: it is read first.
        stuck.append(desk.isStuck(now: 1 + CallbackDesk.longestAnswer))
        _ = desk.begun(first?.number ?? 0, now: 7)
        stuck.append(desk.isStuck(now: 1 + CallbackDesk.longestAnswer))
        for _ in 1...2 { stuck.append(desk.isStuck(now: 7 + CallbackDesk.longestAnswer)) }
        #expect(stuck == [false, false, false, false, true])
    }
}
