// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The filters of a page: the arguments of its query. Pure.
struct PageFilters: Sendable {
    /// The allowed number of jobs in a list.
    static let limits = 1...1000
    /// The pages of a list of lanes, queues and the like.
    static let pages = 1...10_000
    /// The ranges of the charts.
    static let ranges = ["1h", "24h", "7d"]
    /// The filters of lists of jobs.
    static let ofJobs = [
        "queue", "state", "lane", "service", "operation", "tag", "error_code", "error_name", "status", "since", "until",
        "url",
    ]

    private static let known: [String: [String]] = [
        "/": ["queue", "lane", "service", "range"],
        "/jobs": ["id"] + ofJobs + ["before", "limit"],
        "/failures": ofJobs,
        "/queues": ["queue", "range", "page"],
        "/lanes": ["lane", "range", "page"],
        "/services": ["service", "range", "page"],
        "/operations": ["operation", "service", "page"],
        "/credentials": ["page"],
        "/schedules": ["page"],
        "/clients": ["page"],
        "/cache": ["service"],
        "/log": ["before"],
    ]

    /// The path of the page; empty: jobs are selected for an act.
    let path: String
    /// The usable arguments, in the order of the page's fields.
    let values: [(String, String)]

    /// The filters of a request. Arguments that the page cannot use are left out.
    init(_ request: AdminRequest) {
        path = request.path
        values = (PageFilters.known[request.path] ?? []).compactMap { name in
            guard let value = request.arguments[name], PageFilters.defect(name, value, request.path) == nil else {
                return nil
            }
            return (name, value)
        }
    }

    /// The arguments that select jobs, checked by the caller.
    init(ofJobs fields: [String: String]) {
        path = ""
        values = PageFilters.ofJobs.compactMap { name in fields[name].map { (name, $0) } }
    }

    /// Whether the list at a path has pages.
    static func isPaged(_ path: String) -> Bool { known[path]?.contains("page") ?? false }

    /// The number of the page, from 1 on.
    var page: Int { self["page"].flatMap(Int.init) ?? 1 }

    subscript(name: String) -> String? { values.first { $0.0 == name }?.1 }

    /// The arguments that select jobs, without those that page through them.
    var ofJobs: [(String, String)] { values.filter { PageFilters.ofJobs.contains($0.0) } }

    /// The filter of a list of jobs.
    func jobFilter(limit: Int) -> JobFilter {
        JobFilter(
            state: self["state"], queues: self["queue"].map { [$0] } ?? [], tag: self["tag"], lane: self["lane"],
            service: self["service"], operation: self["operation"], errorCode: self["error_code"],
            errorName: self["error_name"], url: self["url"], status: self["status"].flatMap(Int.init),
            since: self["since"], until: self["until"], before: self["before"].flatMap(Int64.init), limit: limit)
    }

    // MARK: Defects

    /// A sentence for each unusable filter of a request. The page is shown without the filter. Only a job's page is not
    /// shown without its id.
    static func defects(_ request: AdminRequest) -> [String] {
        let known = known[request.path] ?? []
        return request.arguments.sorted { $0.key < $1.key }.compactMap { name, value in
            guard known.contains(name) else {
                return known.isEmpty
                    ? "This page has no filters: \(shown(name)) changes nothing."
                    : "There is no filter \(shown(name)). The filters are \(known.joined(separator: ", "))."
            }
            return defect(name, value, request.path)
        }
    }

    private static func defect(_ name: String, _ value: String, _ path: String) -> String? {
        switch name {
        case "state" where path == "/failures" && !FailuresPage.states.contains(value):
            "There is no failure \(shown(value)). The states are \(FailuresPage.states.joined(separator: ", "))."
        case "state" where !JobFilter.states.contains(value):
            "There is no state \(shown(value)). The states are \(JobFilter.states.joined(separator: ", "))."
        case "limit" where !(Int(value).map(limits.contains) ?? false):
            "The limit \(shown(value)) is not a number from \(limits.lowerBound) to \(limits.upperBound)."
        case "page" where !(Int(value).map(pages.contains) ?? false):
            "The page \(shown(value)) is not a number from \(pages.lowerBound) to \(pages.upperBound)."
        case "status" where !(Int(value).map((100...599).contains) ?? false):
            "The status \(shown(value)) is not a number from 100 to 599."
        case "error_code" where ErrorCode(rawValue: value) == nil:
            "There is no error code \(shown(value)). See select code, meaning from postrider.error_codes."
        case "since" where !TimeText.isValid(value), "until" where !TimeText.isValid(value):
            "The filter \(name) is not a time: \(shown(value)). Write it like 2026-01-31 18:00, in UTC."
        case "range" where !ranges.contains(value):
            "There is no range \(shown(value)). The ranges are \(ranges.joined(separator: ", "))."
        case "id" where Int64(value) == nil, "before" where Int64(value) == nil:
            "The \(name == "id" ? "id" : "place") \(shown(value)) is not a number."
        default: nil
        }
    }

    private static func shown(_ text: String) -> String {
        text.count > 60 ? "“\(text.prefix(60))…”" : "“\(text)”"
    }
}
