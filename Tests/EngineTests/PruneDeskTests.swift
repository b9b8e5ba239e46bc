// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// When a leader forgets old jobs.
struct PruneDeskTests {
    private static let second: UInt64 = 1_000_000_000

    /// A desk whose connection is up and whose first step is due.
    private func connected() -> PruneDesk {
        var desk = PruneDesk()
        desk.leads(true, now: 0)
        #expect(desk.next(isReady: false, now: PruneDesk.start) == .connect)
        return desk
    }

    @Test func `who does not lead forgets nothing`() {
        var desk = PruneDesk()
        #expect(desk.deadline(now: 0) == nil)
        #expect(desk.next(isReady: false, now: .max) == .none)
    }

    @Test func `a leader connects after ten seconds, and steps once the connection is up`() {
        var desk = PruneDesk()
        desk.leads(true, now: 5)
        #expect(desk.deadline(now: 5) == 5 + PruneDesk.start)
        #expect(desk.next(isReady: false, now: PruneDesk.start) == .none)
        #expect(desk.next(isReady: false, now: 5 + PruneDesk.start) == .connect)
        #expect(desk.next(isReady: false, now: 6 + PruneDesk.start) == .none)
        #expect(desk.deadline(now: 6 + PruneDesk.start) == nil)
        #expect(desk.next(isReady: true, now: 7 + PruneDesk.start) == .step)
        #expect(desk.next(isReady: true, now: 8 + PruneDesk.start) == .none)
    }

    @Test func `a round goes on after a pause as long as the step`() {
        var desk = connected()
        let now = PruneDesk.start
        #expect(desk.next(isReady: true, now: now) == .step)
        #expect(desk.stepped(wait: 0, now: now + 3) == false)
        #expect(desk.deadline(now: now + 3) == now + 6)
        #expect(desk.next(isReady: true, now: now + 5) == .none)
        #expect(desk.next(isReady: true, now: now + 6) == .step)
    }

    @Test func `at the end of a round the connection closes until the next`() {
        var desk = connected()
        let now = PruneDesk.start
        #expect(desk.next(isReady: true, now: now) == .step)
        #expect(desk.stepped(wait: 600 * Self.second, now: now + 3) == true)
        #expect(desk.next(isReady: false, now: now + 4) == .none)
        #expect(desk.deadline(now: now + 4) == now + 3 + 600 * Self.second)
        #expect(desk.next(isReady: false, now: now + 3 + 600 * Self.second) == .connect)
    }

    @Test func `a failure is followed by a rest and a new connection`() {
        var desk = connected()
        let now = PruneDesk.start
        #expect(desk.next(isReady: true, now: now) == .step)
        desk.failed(now: now + 1)
        #expect(desk.deadline(now: now + 1) == now + 1 + PruneDesk.rest)
        #expect(desk.next(isReady: false, now: now + 1 + PruneDesk.rest) == .connect)
    }

    @Test func `who leads no more closes the connection, after the step that is under way`() {
        var desk = connected()
        let now = PruneDesk.start
        #expect(desk.next(isReady: true, now: now) == .step)
        desk.leads(false, now: now + 1)
        #expect(desk.next(isReady: true, now: now + 2) == .none)
        #expect(desk.stepped(wait: 0, now: now + 3) == false)
        #expect(desk.next(isReady: true, now: now + 3) == .close)
        #expect(desk.next(isReady: true, now: now + 3) == .none)
        #expect(desk.deadline(now: now + 3) == nil)
    }
}
