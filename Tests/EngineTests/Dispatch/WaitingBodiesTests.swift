// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Jobs that wait for memory, and exchanges that wait for their answers.
struct WaitingBodiesTests {
    @Test func `jobs without a slot are dropped, and the others keep their order and their starts`() {
        var slots = SlotTable(count: 3)
        var bodies = WaitingBodies()
        for seq in 1...3 as ClosedRange<Int64> {
            let job = ClaimedJob(lease: .ofJob(seq), call: nil, isAtMostOnce: false, okStatuses: .success)
            guard let slot = slots.take(job, claimedAt: 0) else { continue }
            bodies.put(
                .init(slot: slot, lease: .ofJob(seq)), LargeBody(bytes: 1 << 20, isPlain: seq != 3), now: UInt64(seq))
        }
        _ = slots.slot(jobID: 1, fence: 7).map { slots.release($0) }
        bodies.dropEnded(slots)
        #expect(bodies.count == 2 && bodies.oldest == 2 && bodies.starts.values.sorted() == [2, 3])
        let all = bodies.takeAll()
        #expect(bodies.isEmpty)
        // Parts exist twice, and once more while they are fetched.
        #expect(all.map(\.body.cost) == [1 << 20, 2 << 20] && all.map(\.body.fetch) == [1 << 20, 3 << 20])
        for waiting in all { bodies.putBack(waiting) }
        #expect(bodies.takeAll().map(\.entry.lease.seq) == [2, 3])
    }

    @Test func `the claim and the batch of an exchange are answered one after the other`() {
        var table = ExchangeTable()
        let attempt = FinishedAttempt(lease: .ofJob(1), verdict: .success, outcome: nil)
        var exchange = Exchange(batch: FinishBatch([attempt]))
        exchange.claim = Exchange.Claim(limit: 3, visits: [], above: 0)
        table.put(exchange, 1)
        #expect(table.reserved == 3 && table.isWriting && table.numbers == [1])
        table.outdateClaims()
        #expect(table.removeBatch(1)?.hasClaim == true)
        #expect(table.removeBatch(1) == nil && !table.isWriting && !table.isEmpty)
        #expect(table.removeClaim(1)?.isOutdated == true)
        #expect(table.isEmpty && table.reserved == 0)
    }
}
