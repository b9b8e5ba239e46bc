// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The jobs of a filter of `/jobs` that an act may change. Pure.
struct JobSelection: Equatable, Sendable {
    /// The arguments of `/jobs` and `/act`.
    let fields: [FormField]
    /// The filter, with the state of the arguments.
    private let filter: JobFilter
    /// The states of the jobs that the act may change.
    let states: [String]

    /// How many jobs of one state are counted, or rescheduled.
    static let mostCounted = 10_000

    /// Reads the arguments.
    ///
    /// - Throws: the defect of one of them. Without any, too: an act on all jobs of all queues is too large for one click.
    init(_ fields: [String: String], for kind: Act.Kind) throws(ActDefect) {
        let filters = PageFilters(ofJobs: fields)
        guard !filters.values.isEmpty else {
            throw ActDefect("id", "is missing: tick jobs in a list, or give an id or a filter such as queue")
        }
        if let text = fields["status"], !(Int(text).map((100...999).contains) ?? false) {
            throw ActDefect("status", "is not an HTTP status")
        }
        let possible = JobSelection.states(for: kind)
        if let state = fields["state"] {
            guard JobFilter.states.contains(state) else {
                throw ActDefect("state", "must be one of \(JobFilter.states.joined(separator: ", "))")
            }
            guard possible.contains(state) else {
                throw ActDefect("state", "is \(state), but only jobs that are \(possible.joined(separator: ", ")) fit")
            }
        }
        // Without a state only failures are retried: the filter may also match jobs that succeeded.
        states = fields["state"].map { [$0] } ?? (kind == .retry ? ["failed"] : possible)
        filter = filters.jobFilter(limit: JobSelection.mostCounted)
        self.fields = filters.values.map { FormField($0.0, $0.1) }
    }

    /// The states of jobs that an act can change.
    static func states(for kind: Act.Kind) -> [String] {
        switch kind {
        case .cancel: ["running", "scheduled", "waiting", "ready"]
        case .reschedule: ["scheduled", "ready"]
        default: ["failed", "cancelled", "skipped", "unknown", "succeeded"]
        }
    }

    /// How many rows of an index the count of one state, or one step of an act, looks at. A page counts up to four
    /// states. An index serves the queue of ready jobs, which are most of the jobs of a queue.
    var window: Int { states.count > 2 && fields.contains { $0.name != "queue" } ? 5_000 : 10_000 }

    /// Whether the filter names the state.
    var namesState: Bool { filter.state != nil }

    /// Whether `at_most_once` jobs are retried on which the server may have acted. The user must have named their
    /// state, for example unknown.
    var repeatsDoubtfulJobs: Bool { namesState && states != ["failed"] }

    /// The filter of one of the states.
    ///
    /// - Parameters:
    ///   - until: jobs that ended or were inserted before this time.
    ///   - before: jobs with lower ids.
    func filter(
        state: String, until: String? = nil, before: Int64? = nil, limit: Int = JobSelection.mostCounted
    ) -> JobFilter {
        var one = filter
        one.state = state
        one.until = until ?? filter.until
        one.before = before
        one.limit = limit
        return one
    }

    /// The end of the filtered time; nil: none.
    var until: String? { filter.until }
}
