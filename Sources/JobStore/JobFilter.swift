// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Selects the jobs of a list, newest first. Each combination of conditions is its own statement with its own plan.
public struct JobFilter: Sendable, Equatable {
    /// The states of `job_status`, in the order of a job's life.
    public static let states = [
        "waiting", "scheduled", "ready", "running", "succeeded", "failed", "cancelled", "expired", "skipped", "unknown",
    ]
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
    /// Whether the login may call `newest_jobs` and `find_jobs`. Clients may not.
    public var mayFindJobs = true

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
    /// All jobs are searched, by the index that serves the most of the filter (`find_jobs`).
    public func source(_ parameters: inout PGParameters) -> String {
        guard mayFindJobs else { return clientSource(&parameters) }
        let call = findCall(&parameters, window: nil)
        return """
            from postrider.job_status s where s.id = any (array(select unnest(f.ids) from \(call) f)) \
            order by s.id desc limit \(limit)
            """
    }

    /// The jobs that the filter selects, among the next `window` rows of the index that serves the most of it.
    ///
    /// - Throws: an error if the statement fails, for example if the login may not call `find_jobs`.
    public func search(_ connection: borrowing PGConnection, window: Int) throws(PGError) -> JobSearch {
        var parameters = PGParameters()
        let call = findCall(&parameters, window: window)
        let result = try connection.query("select \(JobSearch.FoundColumn.selectList) from \(call) f", &parameters)
        return JobSearch(
            ids: result.int64s(0, JobSearch.FoundColumn.ids),
            reached: result.optionalInt64(0, JobSearch.FoundColumn.reached))
    }

    private func findCall(_ parameters: inout PGParameters, window: Int?) -> String {
        let filter = json(&parameters)
        parameters.append(int64: before)
        parameters.append(int32: Int32(clamping: limit))
        parameters.append(int32: window.map { Int32(clamping: $0) })
        let last = parameters.count
        return "postrider_internal.find_jobs(\(filter), $\(last - 2), $\(last - 1), $\(last))"
    }

    /// The filter as an expression of jsonb, without `before` and `limit`. Its keys are the names of the arguments in
    /// the URL of a page; see `job_conditions`. It appends its parameters.
    public func json(_ parameters: inout PGParameters) -> String {
        var pairs: [String] = []
        for (key, value) in [
            ("state", state), ("tag", tag), ("lane", lane), ("service", service), ("operation", operation),
            ("error_code", errorCode), ("error_name", errorName), ("url", url), ("status", status.map(String.init)),
            ("since", since), ("until", until),
        ] {
            if let value { pairs.append("'\(key)', \(JobFilter.next(value, &parameters))") }
        }
        if !queues.isEmpty {
            parameters.append(texts: queues)
            pairs.append("'queue', to_jsonb($\(parameters.count))")
        }
        return "jsonb_build_object(\(pairs.joined(separator: ", ")))"
    }

    /// The source for clients, which may call no function that lists jobs of others. It walks over the client's jobs.
    private func clientSource(_ parameters: inout PGParameters) -> String {
        parameters.append(int32: Int32(clamping: limit))
        let limit = "$\(parameters.count)"
        var conditions = narrowConditions(&parameters)
        if let before {
            parameters.append(int64: before)
            conditions.append("s.id < $\(parameters.count)")
        }
        for (column, value) in [("tag", tag), ("state", state)] {
            if let value { conditions.append("s.\(column) = \(JobFilter.next(value, &parameters))") }
        }
        if !queues.isEmpty {
            let names = queues.map { JobFilter.next($0, &parameters) }
            conditions.append("s.queue in (\(names.joined(separator: ", ")))")
        }
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

/// The jobs that a filter has found, and how far it has looked.
public struct JobSearch: Sendable, Equatable {
    /// Newest first.
    public let ids: [Int64]
    /// No job with this id or a higher one is missing. Older jobs may match: a search with `before: reached` finds
    /// them. Nil: all older jobs have been looked at.
    public let reached: Int64?

    /// The columns of `find_jobs`.
    enum FoundColumn: Int, PGColumn {
        case ids, reached

        var sql: StaticString {
            switch self {
            case .ids: "ids"
            case .reached: "reached"
            }
        }
    }
}
