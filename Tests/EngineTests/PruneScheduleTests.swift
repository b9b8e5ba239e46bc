// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The moments at which a leader prunes old jobs.
struct PruneScheduleTests {
    private static let second: UInt64 = 1_000_000_000

    /// A schedule whose connection is up and whose first step is due.
    private func connected() -> PruneSchedule {
        var pruneSchedule = PruneSchedule()
        pruneSchedule.leads(true, now: 0)
        #expect(pruneSchedule.next(isReady: false, now: PruneSchedule.start) == .connect)
        return pruneSchedule
    }

    @Test func `a worker that does not lead prunes nothing`() {
        var pruneSchedule = PruneSchedule()
        #expect(pruneSchedule.deadline(now: 0) == nil)
        #expect(pruneSchedule.next(isReady: false, now: .max) == .none)
    }

    @Test func `a leader connects for pruning after ten seconds and starts once it is connected`() {
        var pruneSchedule = PruneSchedule()
        pruneSchedule.leads(true, now: 5)
        #expect(pruneSchedule.deadline(now: 5) == 5 + PruneSchedule.start)
        #expect(pruneSchedule.next(isReady: false, now: PruneSchedule.start) == .none)
        #expect(pruneSchedule.next(isReady: false, now: 5 + PruneSchedule.start) == .connect)
        #expect(pruneSchedule.next(isReady: false, now: 6 + PruneSchedule.start) == .none)
        #expect(pruneSchedule.deadline(now: 6 + PruneSchedule.start) == nil)
        #expect(pruneSchedule.next(isReady: true, now: 7 + PruneSchedule.start) == .step)
        #expect(pruneSchedule.next(isReady: true, now: 8 + PruneSchedule.start) == .none)
    }

    @Test func `a pruning round pauses after each step for as long as the step took`() {
        var pruneSchedule = connected()
        let now = PruneSchedule.start
        #expect(pruneSchedule.next(isReady: true, now: now) == .step)
        #expect(pruneSchedule.stepped(wait: 0, now: now + 3) == false)
        #expect(pruneSchedule.deadline(now: now + 3) == now + 6)
        #expect(pruneSchedule.next(isReady: true, now: now + 5) == .none)
        #expect(pruneSchedule.next(isReady: true, now: now + 6) == .step)
    }

    @Test func `the pruning connection closes at the end of a round until the next round`() {
        var pruneSchedule = connected()
        let now = PruneSchedule.start
        #expect(pruneSchedule.next(isReady: true, now: now) == .step)
        #expect(pruneSchedule.stepped(wait: 600 * Self.second, now: now + 3) == true)
        #expect(pruneSchedule.next(isReady: false, now: now + 4) == .none)
        #expect(pruneSchedule.deadline(now: now + 4) == now + 3 + 600 * Self.second)
        #expect(pruneSchedule.next(isReady: false, now: now + 3 + 600 * Self.second) == .connect)
    }

    @Test func `pruning rests after a failure and then opens a new connection`() {
        var pruneSchedule = connected()
        let now = PruneSchedule.start
        #expect(pruneSchedule.next(isReady: true, now: now) == .step)
        pruneSchedule.failed(now: now + 1)
        #expect(pruneSchedule.deadline(now: now + 1) == now + 1 + PruneSchedule.rest)
        #expect(pruneSchedule.next(isReady: false, now: now + 1 + PruneSchedule.rest) == .connect)
    }

    @Test func `a worker that lost leadership finishes its pruning step and closes the connection`() {
        var pruneSchedule = connected()
        let now = PruneSchedule.start
        #expect(pruneSchedule.next(isReady: true, now: now) == .step)
        pruneSchedule.leads(false, now: now + 1)
        #expect(pruneSchedule.next(isReady: true, now: now + 2) == .none)
        #expect(pruneSchedule.stepped(wait: 0, now: now + 3) == false)
        #expect(pruneSchedule.next(isReady: true, now: now + 3) == .close)
        #expect(pruneSchedule.next(isReady: true, now: now + 3) == .none)
        #expect(pruneSchedule.deadline(now: now + 3) == nil)
    }
}
