// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

struct StatusRangesTests {
    @Test(arguments: [(199, false), (200, true), (299, true), (300, false), (0, false), (-1, false)])
    func `a success status is 200 to 299`(status: Int, isIn: Bool) {
        #expect(StatusRanges.success.contains(status) == isIn)
    }

    @Test func `a set of several ranges contains each status of each range`() {
        let ranges = StatusRanges(bounds: [200, 201, 404, 410])
        #expect([200, 404, 409].allSatisfy(ranges.contains))
        #expect(![201, 403, 410].contains(where: ranges.contains))
    }

    @Test func `empty, reversed and incomplete ranges contain no status`() {
        #expect(!StatusRanges(bounds: []).contains(200))
        #expect(!StatusRanges(bounds: [300, 200]).contains(250))
        #expect(!StatusRanges(bounds: [200, 200]).contains(200))
        #expect(!StatusRanges(bounds: [200]).contains(200))
        #expect(StatusRanges(bounds: [200, 300, 400]).contains(204))
        #expect(!StatusRanges(bounds: [200, 300, 400]).contains(400))
    }

    @Test func `the largest and smallest integers are outside the success range`() {
        #expect(!StatusRanges.success.contains(Int.max))
        #expect(!StatusRanges.success.contains(Int.min))
    }
}
