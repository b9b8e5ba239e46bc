// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JobModel

struct FairShareTests {
    @Test func `calls beyond a track's share do not count towards the share of other tracks`() {
        #expect(FairShare(free: 10, held: [100], sharers: 3).calls == 5)
        #expect(FairShare(free: 10, held: [100, 4], sharers: 3).calls == 7)
        #expect(FairShare(free: 1, held: [], sharers: 5).calls == 1)
        #expect(FairShare(free: 2, held: [3, 3], sharers: 2).calls == 4)
    }

    @Test func `the fair share is the smallest number of calls that uses up all free slots`() {
        for free in 1...6 {
            for held in [[], [1], [7, 7], [0, 3, 9], [2, 2, 2, 40], [5, 4, 3, 2, 1]] {
                let sharers = max(2, held.count)
                let calls = FairShare(free: free, held: held, sharers: sharers).calls
                let all = held + Array(repeating: 0, count: sharers - held.count)
                #expect(all.reduce(0) { $0 + max(0, calls - $1) } >= free, "\(free) \(held)")
                #expect(all.reduce(0) { $0 + max(0, calls - 1 - $1) } < free, "\(free) \(held)")
            }
        }
    }
}
