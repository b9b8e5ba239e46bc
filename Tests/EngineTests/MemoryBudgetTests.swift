// SPDX-License-Identifier: Apache-2.0

import JobStore
import Testing

@testable import Engine

/// The memory that calls may take for their bodies.
struct MemoryBudgetTests {
    /// A class around a budget, because an expectation cannot change a struct.
    private final class Fixture {
        var budget: MemoryBudget
        init(_ budget: MemoryBudget) { self.budget = budget }

        func admit(_ slot: Int, _ mib: Int, since: UInt64 = 0, unwritten: Int = 0) -> Bool {
            let results = MemoryBudget.Unwritten(bytes: unwritten, largest: unwritten)
            return budget.admitBody(slot, MemoryBudgetTests.body(mib), since: since, unwritten: results)
        }

        func grant(_ slot: Int, _ wanted: Int, since: UInt64 = 1, unwritten: Int = 0) -> Int? {
            let results = MemoryBudget.Unwritten(bytes: unwritten, largest: min(unwritten, 9))
            return budget.grant(.init(slot: slot, wanted: wanted, since: since), unwritten: results)
        }

        func starts(_ slot: Int, _ most: Int, mayMultiplex: Bool) -> Bool {
            budget.callStarts(slot, mostAnswer: most, mayMultiplex: mayMultiplex, unwritten: .init())
        }
    }

    private static func body(_ mib: Int) -> MemoryBudget.Body { MemoryBudget.Body(cost: mib << 20, fetch: mib << 20) }

    private static func fixture(_ mib: Int = 256, slots: Int = 64) -> Fixture {
        var budget = MemoryBudget(total: mib << 20, slots: slots)
        for slot in 0..<slots {
            budget.began(slot, smallBody: 0)
            _ = budget.callStarts(slot, mostAnswer: 10 << 20, mayMultiplex: false, unwritten: .init())
        }
        return Fixture(budget)
    }

    @Test func `small jobs are claimed freely until the memory budget is used`() {
        let idle = MemoryBudget(total: 256 << 20, slots: 64)
        #expect(idle.claimable(64, unwritten: 0) == 64)
        #expect(idle.claimable(64, unwritten: 230 << 20) == 64)
        #expect(idle.claimable(64, unwritten: 250 << 20) == 0)
        let many = MemoryBudget(total: 256 << 20, slots: 5_000)
        #expect(many.claimable(5_000, unwritten: 0) == 5_000)
    }

    @Test func `request bodies are admitted while memory for one whole answer remains`() {
        let fixture = Self.fixture()
        var granted = 0
        for slot in 0..<64 where fixture.admit(slot, 10) {
            granted += 1
            fixture.budget.bodyCame(slot, copies: 1, bytes: 10 << 20)
        }
        #expect(granted > 10 && granted < 22)
        // One call gets room for its whole answer, independently of the others.
        #expect(fixture.grant(0, 10 << 20) == 1 << 20)
        #expect(fixture.grant(0, 10 << 20) == 10 << 20)
        // The end of that call frees room.
        fixture.budget.ended(0)
        #expect(fixture.admit(63, 10))
    }

    @Test func `a body larger than the budget never fits, and a large body is admitted alone`() {
        let fixture = Self.fixture(64, slots: 16)
        #expect(!fixture.budget.fits(Self.body(200)))
        #expect(fixture.budget.fits(Self.body(16)))
        #expect(fixture.budget.fits(Self.body(25)))
        #expect(fixture.admit(0, 25))
        #expect(!fixture.admit(1, 25))
        fixture.budget.ended(0)
        #expect(!fixture.admit(1, 25, unwritten: 20 << 20))
        #expect(fixture.admit(1, 25))
    }

    @Test func `answers get memory for their whole size in turn until all have ended`() {
        let fixture = Self.fixture()
        var waiting = Array(0..<64)
        var rounds = 0
        var most = 0
        while !waiting.isEmpty, rounds < 100 {
            rounds += 1
            let whole = waiting.filter { fixture.grant($0, 10 << 20, since: UInt64($0)) == 10 << 20 }
            most = max(most, whole.count)
            for slot in whole { fixture.budget.ended(slot) }
            waiting.removeAll { whole.contains($0) }
        }
        #expect(waiting.isEmpty)
        #expect(most > 10 && most < 25)
    }

    @Test func `an answer that waits long blocks later requests until it gets its memory`() {
        let fixture = Self.fixture(256, slots: 8)
        let large = fixture.budget.mostAnswer(64 << 20, 0)
        #expect(large == 64 << 20)
        #expect(!fixture.starts(0, large, mayMultiplex: false))
        #expect(fixture.grant(1, 10 << 20, since: 5) == 1 << 20)
        #expect(fixture.grant(1, 10 << 20, since: 5) == 10 << 20)
        #expect(fixture.grant(0, large, unwritten: 60 << 20) == 1 << 20)
        #expect(fixture.grant(0, large, unwritten: 60 << 20) == nil)
        fixture.budget.looks(oldest: 1, now: 1 + MemoryBudget.patience)
        // No call may overtake slot 0 now, except a call whose end frees a body.
        _ = fixture.grant(2, 2 << 20, since: 7)
        #expect(fixture.grant(2, 2 << 20, since: 7) == nil)
        #expect(!fixture.admit(3, 1, since: 8))
        fixture.budget.ended(1)
        #expect(fixture.grant(0, large) == large)
    }

    @Test func `HTTP/2 calls get memory for their answers at the start, up to half the budget`() {
        let fixture = Fixture(MemoryBudget(total: 256 << 20, slots: 64))
        var shared = 0
        for slot in 0..<64 {
            fixture.budget.began(slot, smallBody: 0)
            if fixture.starts(slot, 10 << 20, mayMultiplex: true) { shared += 1 }
        }
        #expect(shared > 8 && shared < 13)
        for slot in 0..<64 { fixture.budget.ended(slot) }
        // Small answers never wait.
        for slot in 0..<64 {
            fixture.budget.began(slot, smallBody: 0)
            #expect(fixture.starts(slot, 64 << 10, mayMultiplex: true))
        }
    }

    @Test func `ended calls return all their memory to the budget`() {
        let fixture = Fixture(MemoryBudget(total: 256 << 20, slots: 4))
        let before = fixture.budget
        for slot in 0..<4 {
            fixture.budget.began(slot, smallBody: 1_000)
            _ = fixture.starts(slot, 3 << 20, mayMultiplex: slot > 1)
            if slot == 0 {
                #expect(fixture.admit(0, 2))
                fixture.budget.bodyCame(0, copies: 2, bytes: 2 << 20)
            } else {
                fixture.budget.bodyCame(slot, copies: 1, bytes: 50_000)
            }
            _ = fixture.grant(slot, 3 << 20)
            _ = fixture.grant(slot, 3 << 20)
        }
        #expect(fixture.budget != before)
        for slot in 0..<4 { fixture.budget.ended(slot) }
        #expect(fixture.budget == before)
    }

    @Test func `attempts that wait for judgement may use a quarter of the memory`() {
        var dispatcher = Dispatcher(capacity: 4, canListen: true, memory: 64 << 20)
        #expect(dispatcher.expensiveHold == nil)
        for id in 1...64 {
            #expect(dispatcher.expensiveHold == nil)
            dispatcher.judging.put(FinishedAttempt.ofSize(JudgingWork.leastWeight, id: Int64(id)).judgedApart(), now: 0)
        }
        #expect(dispatcher.expensiveHold != nil)
    }
}
