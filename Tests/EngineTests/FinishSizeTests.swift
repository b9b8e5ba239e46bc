// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The number of attempts in one finish.
struct FinishSizeTests {
    @Test(arguments: [
        ([], 256, 1), ([0, 0, 0], 2, 2), ([300, 300, 300], 256, 3), ([9 << 20, 1], 256, 1),
        ([4 << 20, 4 << 20, 1], 256, 2), ([1, 9 << 20], 256, 1),
    ])
    func `a finish stays below the size limit for bodies and holds at least one attempt`(
        bodies: [Int], limit: Int, count: Int
    ) {
        #expect(ExchangePolicy.batch(of: bodies, limit: limit) == count)
    }

    @Test func `no exchange is due while the maximum number of exchanges is in flight`() {
        #expect(
            !ExchangePolicy.isDue(
                underWay: ExchangePolicy.depth, finished: 100, claimable: 100, capacity: 64, waited: 1 << 40))
    }
}
