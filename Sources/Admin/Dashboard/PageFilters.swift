// SPDX-License-Identifier: Apache-2.0

internal import JobStore

/// The filters of a page: the arguments of its query. Pure.
enum PageFilters {
    /// The allowed number of jobs in a list.
    static let limits = 1...1000

    private static let known: [String: [String]] = ["/jobs": ["id", "state", "queue", "tag", "limit"]]

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
            return switch name {
            case "state" where !JobFilter.states.contains(value):
                "There is no state \(shown(value)). The states are \(JobFilter.states.joined(separator: ", "))."
            case "limit" where !(Int(value).map(limits.contains) ?? false):
                "The limit \(shown(value)) is not a number from \(limits.lowerBound) to \(limits.upperBound)."
            case "id" where Int64(value) == nil: "The id \(shown(value)) is not a number."
            default: nil
            }
        }
    }

    private static func shown(_ text: String) -> String {
        text.count > 60 ? "“\(text.prefix(60))…”" : "“\(text)”"
    }
}
