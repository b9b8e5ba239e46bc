// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Which jobs a preparation contains, and how failed preparations change the next ones.
struct PreparationQueueTests {
    private let moment: UInt64 = 5_000_000_000

    /// A queue with the jobs 1 to `count`, each in its slot.
    private struct Fixture {
        var queue = PreparationQueue()
        var slots: SlotTable
        var numbers = StatementNumbers()

        init(_ count: Int) {
            slots = SlotTable(count: count)
            for seq in 1...Int64(count) {
                let job = ClaimedJob(lease: .ofJob(seq), call: nil, isAtMostOnce: false, okStatuses: .success)
                if let slot = slots.take(job, claimedAt: 0) { queue.put(.init(slot: slot, lease: .ofJob(seq))) }
            }
        }

        /// The next preparation: its number and its jobs.
        mutating func next(_ now: UInt64) -> (number: UInt64, seqs: [Int64])? {
            queue.next(slots, numbers: &numbers, now: now).map { ($0.number, $0.entries.map(\.lease.seq)) }
        }
    }

    @Test func `one preparation is under way at a time, and it contains at most 64 jobs`() {
        var fixture = Fixture(100)
        #expect(fixture.next(moment)?.seqs == Array(1...64))
        #expect(fixture.next(moment) == nil)
        #expect(fixture.queue.returned(1, fixture.slots)?.count == 64)
        #expect(fixture.next(moment)?.seqs == Array(65...100))
    }

    @Test func `a preparation that was taken back keeps its place before the other jobs`() {
        var fixture = Fixture(70)
        let number = fixture.next(moment)?.number ?? 0
        #expect(fixture.queue.slots.count == 70)
        fixture.queue.takeBack(number)
        #expect(fixture.queue.returned(number, fixture.slots) == nil)
        #expect(fixture.next(moment)?.seqs == Array(1...64))
    }

    @Test func `a job that has lost its slot is not prepared`() {
        var fixture = Fixture(3)
        _ = fixture.slots.slot(jobID: 2, fence: 7).map { fixture.slots.release($0) }
        #expect(fixture.next(moment)?.seqs == [1, 3])
    }

    @Test func `an unstorable job is found by halving, and the log names it unless it was cancelled`() {
        for isCancelled in [false, true] {
            var fixture = Fixture(2)
            let both = fixture.next(moment)?.number ?? 0
            let first = fixture.queue.failed(both, .unstorable, slots: fixture.slots, now: moment)
            #expect(first.recovery == .report && first.ended.isEmpty)
            let alone = fixture.next(moment)
            #expect(alone?.seqs == [1])
            if isCancelled { _ = fixture.slots.slot(jobID: 1, fence: 7).map { fixture.slots.release($0) } }
            let second = fixture.queue.failed(alone?.number ?? 0, .unstorable, slots: fixture.slots, now: moment)
            #expect(second.recovery == (isCancelled ? .none : .reportJob(1)))
            #expect(second.ended.map(\.verdict.kind) == [.failed])
            #expect(fixture.next(moment)?.seqs == [2])
        }
    }

    @Test func `jobs that waited for a lock go alone, in turn with groups of other jobs`() {
        var fixture = Fixture(2)
        let both = fixture.next(moment)?.number ?? 0
        #expect(!fixture.queue.hasShortLockTimeout(both))
        #expect(fixture.queue.failed(both, .locked, slots: fixture.slots, now: moment).recovery == .report)
        for seq in 3...4 as ClosedRange<Int64> {
            fixture.queue.put(.init(slot: 0, lease: .ofJob(seq)))
        }
        // Both new jobs have no slot, so only the two others are left.
        let alone = fixture.next(moment)
        #expect(alone?.seqs == [1])
        #expect(fixture.queue.hasShortLockTimeout(alone?.number ?? 0))
        #expect(
            fixture.queue.failed(alone?.number ?? 0, .locked, slots: fixture.slots, now: moment).recovery == .none)
        #expect(fixture.next(moment)?.seqs == [2])
        _ = fixture.queue.returned(3, fixture.slots)
        #expect(fixture.queue.deadline(now: moment) == moment + 500_000_000)
    }

    @Test func `a lost connection counts as a refusal, and the next preparation waits and is smaller`() {
        var fixture = Fixture(8)
        let number = fixture.next(moment)?.number ?? 0
        #expect(fixture.queue.connectionLost(number, now: moment).ended.isEmpty)
        #expect(fixture.queue.connectionLost(number, now: moment).recovery == .none)
        #expect(fixture.next(moment) == nil)
        #expect(fixture.queue.deadline(now: moment) == moment + StatementBackoff.first)
        #expect(fixture.next(moment + StatementBackoff.first)?.seqs == [1, 2])
    }

    @Test func `a worker that was declared lost prepares its jobs again`() {
        var fixture = Fixture(2)
        let number = fixture.next(moment)?.number ?? 0
        let failure = fixture.queue.failed(number, .workerLost, slots: fixture.slots, now: moment)
        #expect(failure.recovery == .enlist && failure.ended.isEmpty)
        #expect(fixture.next(moment)?.seqs == [1, 2])
    }
}
