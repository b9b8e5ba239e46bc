// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

struct ExchangePolicyTests {
    private func isDue(
        underWay: Int = 0, finished: Int = 0, claimable: Int = 0, capacity: Int = 64, waited: UInt64 = 0,
        isPaused: Bool = false
    ) -> Bool {
        ExchangePolicy.isDue(
            underWay: underWay, finished: finished, claimable: claimable, capacity: capacity, waited: waited,
            isPaused: isPaused)
    }

    @Test func `a worker without results and claimable slots sends no exchange`() {
        #expect(!isDue())
        #expect(!isDue(underWay: 1, waited: .max))
    }

    @Test func `an idle worker sends a single result or claim at once`() {
        #expect(isDue(finished: 1))
        #expect(isDue(claimable: 1))
    }

    @Test func `during a pause after a dense exchange, fewer than 16 results or free slots wait`() {
        #expect(!isDue(finished: 15, isPaused: true))
        #expect(isDue(finished: 16, isPaused: true))
        #expect(!isDue(claimable: 15, isPaused: true))
        #expect(!isDue(finished: 1, claimable: 1, isPaused: true))
        #expect(isDue(finished: 1, claimable: 16, isPaused: true))
    }

    @Test func `a worker has at most two exchanges in flight`() {
        #expect(isDue(underWay: 1, finished: 256, claimable: 64))
        #expect(!isDue(underWay: 2, finished: 256, claimable: 64, waited: .max))
    }

    @Test func `a second exchange needs 16 results, 16 free slots or a result 3 ms old`() {
        #expect(!isDue(underWay: 1, finished: 15))
        #expect(isDue(underWay: 1, finished: 16))
        #expect(!isDue(underWay: 1, claimable: 15))
        #expect(isDue(underWay: 1, claimable: 16))
        #expect(!isDue(underWay: 1, finished: 1, waited: 2_999_999))
        #expect(isDue(underWay: 1, finished: 1, waited: 3_000_000))
        #expect(!isDue(underWay: 1, claimable: 1, waited: 3_000_000))
    }

    @Test(arguments: [(1, 1), (4, 1), (8, 2), (64, 16), (128, 32), (10_000, 32)])
    func `the minimum size of a second exchange grows with the slots up to 32 results`(capacity: Int, worth: Int) {
        #expect(isDue(underWay: 1, finished: worth, capacity: capacity))
        #expect(!isDue(underWay: 1, finished: worth - 1, capacity: capacity))
    }
}
