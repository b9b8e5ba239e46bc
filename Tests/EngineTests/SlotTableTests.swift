// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct SlotTableTests {
    private func job(_ id: Int64, fence: Int64 = 1) -> ClaimedJob {
        ClaimedJob(
            lease: Lease(track: 1, seq: id, fence: fence, jobID: id, attempt: 1), call: HTTPCall(url: "http://h/"),
            isAtMostOnce: false, okStatuses: .success)
    }

    @Test func `each job takes its own slot, and a full table refuses further jobs`() {
        var slots = SlotTable(count: 3)
        let taken = (1...3).compactMap { slots.take(job(Int64($0)), claimedAt: 0) }
        #expect(Set(taken) == [0, 1, 2])
        #expect(slots.take(job(4), claimedAt: 0) == nil)
        #expect((slots.inUse, slots.freeCount) == (3, 0))
    }

    @Test func `a slot can be released only once`() {
        var slots = SlotTable(count: 2)
        let slot = slots.take(job(7), claimedAt: 0) ?? -1
        #expect(slots.release(slot)?.lease.jobID == 7)
        #expect(slots.release(slot) == nil)
        #expect(slots.freeCount == 2)
        #expect(slots.running.isEmpty)
    }

    @Test func `a call is found by its job and fence, not by its job alone`() {
        var slots = SlotTable(count: 2)
        let slot = slots.take(job(7, fence: 40), claimedAt: 0)
        #expect(slots.slot(jobID: 7, fence: 40) == slot)
        #expect(slots.slot(jobID: 7, fence: 41) == nil)
        #expect(slots.slot(jobID: 8, fence: 40) == nil)
    }

    @Test func `the slot table lists calls that were claimed up to a given time`() {
        var slots = SlotTable(count: 3)
        for id in 1...3 { _ = slots.take(job(Int64(id)), claimedAt: UInt64(id) * 10) }
        #expect(slots.jobs(claimedBy: 20).map(\.job.lease.jobID).sorted() == [1, 2])
        #expect(slots.jobs(claimedBy: 9).isEmpty)
    }
}
