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
        desk.concluded(more: true)
        let answer4 = desk.concludes(now: 0)
        #expect(answer4)
        // An end that came after the statement was sent.
        desk.endsWait()
        desk.concluded(more: false)
        let answer5 = desk.concludes(now: 0)
        #expect(answer5)
        desk.concluded(more: false)
        #expect(desk.isQuiet && !desk.hasWork)
    }

    @Test func `after a failure it rests, and what failed is to be put off`() {
        var desk = CallbackDesk()
        desk.endsWait()
        _ = desk.concludes(now: 5)
        desk.conclusionFailed(now: 5)
        #expect(desk.hasFailed)
        let answer6 = desk.concludes(now: 5 + CallbackDesk.rest - 1)
        #expect(!answer6)
        #expect(desk.deadline(now: 6) == 5 + CallbackDesk.rest)
        let answer7 = desk.concludes(now: 5 + CallbackDesk.rest)
        #expect(answer7)
        #expect(!desk.hasFailed)
    }

    @Test func `hooks that a lost connection cut off are asked for again, in order`() {
        var desk = CallbackDesk()
        for id in 1...3 { desk.hooksWait(slot: Int(id), lease(Int64(id))) }
        let first = desk.nextBeginning()
        let second = desk.nextBeginning()
        #expect([first?.jobID, second?.jobID] == [1, 2])
        let begun = desk.begun(first?.number ?? 0)
        #expect(begun?.slot == 1)
        desk.connectionLost()
        let late = desk.begun(second?.number ?? 0)
        #expect(late?.slot == nil)
        var again: [Int64] = []
        while let next = desk.nextBeginning() { again.append(next.jobID) }
        #expect(again == [2, 3])
    }
}
