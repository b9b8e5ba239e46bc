// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Selects the jobs of a list, newest first. Each combination of conditions is its own statement with its own plan.
public struct JobFilter: Sendable, Equatable {
    /// The states of `job_status`, in the order of a job's life.
    public static let states = [
        "waiting", "scheduled", "ready", "running", "succeeded", "failed", "cancelled", "expired", "skipped", "unknown",
    ]
    /// How many of the newest jobs of a state `newest_jobs` returns at most.
    public static let newestOfState = 10_000

    /// One of `states`; nil: all.
    public var state: String?
    /// The queues; empty: all.
    public var queues: [String]
    /// The tag; nil: all jobs, with or without one.
    public var tag: String?
    /// The lane; nil: all.
    public var lane: String?
    /// The service; nil: all jobs, with or without one.
    public var service: String?
    /// The operation; nil: all jobs, with or without one.
    public var operation: String?
    /// One of `postrider.error_codes`; nil: all jobs, with or without one.
    public var errorCode: String?
    /// The name of an error by the envelope of a service or by an answer rule; nil: all.
    public var errorName: String?
    /// A part of the URL as it is shown: secret arguments are `***`. Nil: all.
    public var url: String?
    /// The HTTP status of the last answer; nil: all.
    public var status: Int?
    /// A timestamp as text, checked by the caller. Jobs that ended at this time or later, and unfinished jobs that were
    /// inserted then or later; nil: all.
    public var since: String?
    /// A timestamp as text, checked by the caller. Jobs that ended before this time, and unfinished jobs that were
    /// inserted before it; nil: all.
    public var until: String?
    /// Only jobs with a lower id; nil: all. The list goes on with the last id of the page before.
    public var before: Int64?
    /// The most jobs, 1 to 10,000.
    public var limit: Int
    /// Whether the login may call `newest_jobs`. Clients may not.
    public var looksUp = true

    /// A filter. Without arguments it selects all jobs.
    public init(
        state: String? = nil, queues: [String] = [], tag: String? = nil, lane: String? = nil, service: String? = nil,
        operation: String? = nil, errorCode: String? = nil, errorName: String? = nil, url: String? = nil,
        status: Int? = nil, since: String? = nil, until: String? = nil, before: Int64? = nil, limit: Int
    ) {
        self.state = state
        self.queues = queues
        self.tag = tag
        self.lane = lane
        self.service = service
        self.operation = operation
        self.errorCode = errorCode
        self.errorName = errorName
        self.url = url
        self.status = status
        self.since = since
        self.until = until
        self.before = before
        self.limit = limit
    }

    /// The part of a statement after its select list over `job_status s`. It appends its parameters.
    ///
    /// Jobs of a state are found in that state's table (`newest_jobs`), jobs of a tag by its index. With a further
    /// condition, the newest 10,000 jobs of the state are searched.
    public func source(_ parameters: inout PGParameters) -> String {
        parameters.append(int32: Int32(clamping: limit))
        let limit = "$\(parameters.count)"
        var conditions = narrowConditions(&parameters)
        let most = conditions.isEmpty && before == nil ? limit : "\(JobFilter.newestOfState)"
        let state = state.map { JobFilter.next($0, &parameters) }
        let names = queues.map { JobFilter.next($0, &parameters) }
        if let before {
            parameters.append(int64: before)
            conditions.append("s.id < $\(parameters.count)")
        }
        if let tag { conditions.append("s.tag = \(JobFilter.next(tag, &parameters))") }
        if let state {
            conditions.append("s.state = \(state)")
            if tag == nil && looksUp {
                let newest = (names.isEmpty ? ["null"] : names).map {
                    "select n.id from postrider.newest_jobs(\(state), \($0), \(most)) n"
                }
                conditions.append("s.id = any (array(\(newest.joined(separator: " union all "))))")
            }
        }
        if names.count == 1 { conditions.append("s.queue = \(names[0])") }
        if names.count > 1 { conditions.append("s.queue in (\(names.joined(separator: ", ")))") }
        let filter = conditions.isEmpty ? "" : "where " + conditions.joined(separator: " and ") + " "
        return "from postrider.job_status s \(filter)order by s.id desc limit \(limit)"
    }

    /// The conditions that no index serves.
    private func narrowConditions(_ parameters: inout PGParameters) -> [String] {
        var conditions: [String] = []
        for (column, value) in [
            ("lane", lane), ("service", service), ("operation", operation), ("error_code", errorCode),
            ("error_name", errorName),
        ] {
            if let value { conditions.append("s.\(column) = \(JobFilter.next(value, &parameters))") }
        }
        if let url {
            let part = JobFilter.next(url, &parameters)
            conditions.append("position(\(part) in postrider_internal.url_with_masked_query(s.url, '{}')) > 0")
        }
        if let status {
            parameters.append(int32: Int32(clamping: status))
            conditions.append("s.status_code = $\(parameters.count)")
        }
        for (comparison, value) in [(">=", since), ("<", until)] {
            if let value {
                let time = JobFilter.next(value, &parameters)
                conditions.append("coalesce(s.finished_at, s.created_at) \(comparison) \(time)::timestamptz")
            }
        }
        return conditions
    }

    /// Appends a text and returns its place in the statement, like `$2`.
    private static func next(_ text: String, _ parameters: inout PGParameters) -> String {
        parameters.append(text: text)
        return "$\(parameters.count)"
    }
}
