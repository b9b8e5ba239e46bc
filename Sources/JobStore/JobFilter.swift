// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Selects the jobs of a list, newest first. Each combination of conditions is its own statement with its own plan.
public struct JobFilter: Sendable {
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
    /// The most jobs, 1 to 10,000.
    public var limit: Int
    /// Whether the login may call `newest_jobs`. Clients may not.
    public var looksUp = true

    /// A filter. Without arguments it selects all jobs.
    public init(state: String? = nil, queues: [String] = [], tag: String? = nil, limit: Int) {
        self.state = state
        self.queues = queues
        self.tag = tag
        self.limit = limit
    }

    /// The part of a statement after its select list over `job_status s`. It appends its parameters, which must be the
    /// first.
    ///
    /// Jobs of a state are found in that state's table (`newest_jobs`), jobs of a tag by its index.
    public func source(_ parameters: inout PGParameters) -> String {
        parameters.append(int32: Int32(clamping: limit))
        var count = 1
        func next(_ value: String) -> String {
            parameters.append(text: value)
            count += 1
            return "$\(count)"
        }
        var conditions: [String] = []
        let state = state.map(next)
        let names = queues.map(next)
        if let tag { conditions.append("s.tag = \(next(tag))") }
        if let state {
            conditions.append("s.state = \(state)")
            if tag == nil && looksUp {
                let newest = (names.isEmpty ? ["null"] : names).map {
                    "select n.id from postrider.newest_jobs(\(state), \($0), $1) n"
                }
                conditions.append("s.id = any (array(\(newest.joined(separator: " union all "))))")
            }
        }
        if names.count == 1 { conditions.append("s.queue = \(names[0])") }
        if names.count > 1 { conditions.append("s.queue in (\(names.joined(separator: ", ")))") }
        let filter = conditions.isEmpty ? "" : "where " + conditions.joined(separator: " and ") + " "
        return "from postrider.job_status s \(filter)order by s.id desc limit $1"
    }
}
