// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

struct PageFiltersTests {
    private static let unknown = "There is no filter “lane”. The filters are id, state, queue, tag, limit."

    @Test(
        arguments: [
            ("/jobs", ["state": "failed", "queue": "q", "tag": "t", "limit": "7"], []), ("/lanes", [:], []),
            ("/jobs", ["lane": "a"], [unknown]),
            ("/jobs", ["limit": "0"], ["The limit “0” is not a number from 1 to 1000."]),
            ("/jobs", ["id": "x7", "lane": "a"], ["The id “x7” is not a number.", unknown]),
            ("/lanes", ["queue": "q"], ["This page has no filters: “queue” changes nothing."]),
        ] as [(String, [String: String], [String])])
    func `each filter that is unknown or bad is named`(path: String, arguments: [String: String], defects: [String]) {
        #expect(PageFilters.defects(PageRequest(path: path, arguments: arguments)) == defects)
    }

    @Test func `a state that there is none of is named with those there are`() throws {
        let defects = PageFilters.defects(PageRequest(path: "/jobs", arguments: ["state": "faild"]))
        #expect(defects.first?.hasPrefix("There is no state “faild”. The states are waiting, scheduled,") == true)
        let long = PageFilters.defects(
            PageRequest(path: "/", arguments: [String(repeating: "a", count: 1000): "1"]))
        #expect(long.first.map { $0.count < 120 } == true)
    }
}
