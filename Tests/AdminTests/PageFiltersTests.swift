// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The sentences of a page about filters in its URL that it cannot use.
struct PageFiltersTests {
    private static let unknown =
        "There is no filter “colour”. The filters are id, queue, state, lane, service, operation, tag, error_code, "
        + "error_name, status, since, until, url, before, limit."

    private static let all = [
        "queue": "q", "state": "failed", "lane": "l", "service": "s", "operation": "o", "tag": "t",
        "error_code": "timeout", "error_name": "n", "status": "503", "since": "2026-01-31", "until": "2026-02-01 12:00",
        "url": "/x",
    ]

    @Test(
        arguments: [
            ("/jobs", all.merging(["limit": "7", "before": "9"]) { a, _ in a }, []), ("/failures", all, []),
            ("/lanes", [:], []), ("/lanes", ["lane": "l", "range": "24h"], []),
            ("/", ["queue": "q", "lane": "l", "service": "s", "range": "7d"], []),
            ("/jobs", ["colour": "a"], [unknown]),
            ("/jobs", ["limit": "0"], ["The limit “0” is not a number from 1 to 1000."]),
            ("/jobs", ["id": "x7", "colour": "a"], [unknown, "The id “x7” is not a number."]),
            ("/lanes", ["page": "0"], ["The page “0” is not a number from 1 to 10000."]),
            ("/jobs", ["before": "x"], ["The place “x” is not a number."]),
            ("/jobs", ["status": "99"], ["The status “99” is not a number from 100 to 599."]),
            (
                "/jobs", ["error_code": "tiemout"],
                ["There is no error code “tiemout”. See select code, meaning from postrider.error_codes."]
            ),
            (
                "/failures", ["since": "yesterday"],
                ["The filter since is not a time: “yesterday”. Write it like 2026-01-31 18:00, in UTC."]
            ),
            (
                "/failures", ["state": "ready"],
                ["There is no failure “ready”. The states are failed, unknown, expired."]
            ),
            ("/queues", ["range": "1y"], ["There is no range “1y”. The ranges are 1h, 24h, 7d."]),
            ("/lanes", ["queue": "q"], ["There is no filter “queue”. The filters are lane, range, page."]),
            ("/workers", ["queue": "q"], ["This page has no filters: “queue” changes nothing."]),
        ] as [(String, [String: String], [String])])
    func `each unknown or bad filter is named`(path: String, arguments: [String: String], defects: [String]) {
        #expect(PageFilters.defects(AdminRequest(path: path, arguments: arguments)) == defects)
    }

    @Test func `an unknown state is named with the list of states, and a long name is cut`() throws {
        let defects = PageFilters.defects(AdminRequest(path: "/jobs", arguments: ["state": "faild"]))
        #expect(defects.first?.hasPrefix("There is no state “faild”. The states are waiting, scheduled,") == true)
        let long = PageFilters.defects(
            AdminRequest(path: "/workers", arguments: [String(repeating: "a", count: 1000): "1"]))
        #expect(long.first.map { $0.count < 120 } == true)
    }

    @Test func `a page uses all usable arguments and no other, in the order of its filters`() {
        var arguments = Self.all
        arguments["status"] = "tea"
        arguments["before"] = "77"
        arguments["colour"] = "red"
        let filters = PageFilters(AdminRequest(path: "/jobs", arguments: arguments))
        #expect(filters["before"] == "77" && filters["status"] == nil && filters["colour"] == nil)
        #expect(
            filters.ofJobs.map(\.0) == [
                "queue", "state", "lane", "service", "operation", "tag", "error_code", "error_name", "since", "until",
                "url",
            ])
        #expect(filters.ofJobs.allSatisfy { Self.all[$0.0] == $0.1 })
    }

    @Test(arguments: [
        ("2026-01-31", true), ("2024-02-29", true), ("2026-02-29", false), ("2026-04-31", false), ("0000-01-01", false),
        ("2026-1-31", false), ("2026-01-31 18:00", true), ("2026-01-31T18:00", true), ("2026-01-31T18:00:59", true),
        ("2026-01-31T18:00:59.123456Z", true), ("2026-01-31T18:00:59.1234567Z", false), ("2026-01-31T18:00+01", true),
        ("2026-01-31T18:00-03:30", true), ("2026-01-31T18:00+15:00", false), ("2026-01-31T24:00", false),
        ("2026-01-31T18", false), ("2026-01-31Z", false), ("now", false), ("infinity", false), ("", false),
        ("2026-01-31 18:00 ", false), ("２026-01-31", false), ("2026-01-31T18:00Zx", false),
    ])
    func `a time in a URL is a date, or a date with a time of day`(text: String, isValid: Bool) {
        #expect(TimeText.isValid(text) == isValid)
    }
}
