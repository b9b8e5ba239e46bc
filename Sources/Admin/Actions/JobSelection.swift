// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The jobs of a filter of `/jobs` that an act may change. Pure.
struct JobSelection: Equatable, Sendable {
    /// The filter, without a state.
    private let filter: JobFilter
    /// The states of the jobs that the act may change.
    let states: [String]
    /// Whether the filter names the state.
    let namesState: Bool

    /// The names of the arguments, as on `/jobs`.
    private static let names = [
        "queue", "state", "lane", "service", "operation", "tag", "error_code", "error_name", "status", "since", "until",
        "url",
    ]

    /// How many jobs of one state are counted, or rescheduled.
    static let mostCounted = 10_000

    /// Reads the arguments.
    ///
    /// - Throws: the defect of one of them, or of their absence: an act on all jobs of all queues is too large for one
    ///   click.
    init(_ fields: [String: String], for kind: Act.Kind) throws(ActDefect) {
        guard JobSelection.names.contains(where: { fields[$0] != nil }) else {
            throw ActDefect("id", "is missing: give the id of a job, or a filter such as queue")
        }
        var status: Int?
        if let text = fields["status"] {
            guard let number = Int(text), (100...999).contains(number) else {
                throw ActDefect("status", "is not an HTTP status")
            }
            status = number
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
        namesState = fields["state"] != nil
        // Without a state only failures are retried: the filter may also match jobs that succeeded.
        states = fields["state"].map { [$0] } ?? (kind == .retry ? ["failed"] : possible)
        filter = JobFilter(
            queues: fields["queue"].map { [$0] } ?? [], tag: fields["tag"], lane: fields["lane"],
            service: fields["service"], operation: fields["operation"], errorCode: fields["error_code"],
            errorName: fields["error_name"], url: fields["url"], status: status, since: fields["since"],
            until: fields["until"], limit: JobSelection.mostCounted)
    }

    private static func states(for kind: Act.Kind) -> [String] {
        switch kind {
        case .cancel: ["running", "scheduled", "waiting", "ready"]
        case .reschedule: ["scheduled", "ready"]
        default: ["failed", "cancelled", "skipped", "unknown", "succeeded"]
        }
    }

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

    /// The arguments of `/jobs` and `/act`.
    var fields: [FormField] {
        let values: [(String, String?)] = [
            ("queue", filter.queues.first), ("state", namesState ? states.first : nil), ("lane", filter.lane),
            ("service", filter.service), ("operation", filter.operation), ("tag", filter.tag),
            ("error_code", filter.errorCode), ("error_name", filter.errorName),
            ("status", filter.status.map { "\($0)" }), ("since", filter.since), ("until", filter.until),
            ("url", filter.url),
        ]
        return values.compactMap { name, value in value.map { FormField(name, $0) } }
    }
}
