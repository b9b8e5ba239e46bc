// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The sentences of a page about filters in its URL that it cannot use.
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
    func `each unknown or bad filter is named`(path: String, arguments: [String: String], defects: [String]) {
        #expect(PageFilters.defects(AdminRequest(path: path, arguments: arguments)) == defects)
    }

    @Test func `an unknown state is named with the list of states, and a long name is cut`() throws {
        let defects = PageFilters.defects(AdminRequest(path: "/jobs", arguments: ["state": "faild"]))
        #expect(defects.first?.hasPrefix("There is no state “faild”. The states are waiting, scheduled,") == true)
        let long = PageFilters.defects(
            AdminRequest(path: "/", arguments: [String(repeating: "a", count: 1000): "1"]))
        #expect(long.first.map { $0.count < 120 } == true)
    }
}
