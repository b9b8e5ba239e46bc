// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Which jobs a list shows, newest first. Each way of asking is a statement of its own, so each has its own plan.
public struct JobFilter: Sendable {
    /// The words of `job_status`, from a job's beginning to its ends.
    public static let states = [
        "waiting", "scheduled", "ready", "running", "succeeded", "failed", "cancelled", "expired", "skipped", "unknown",
    ]

    /// One of `states`; nil: any.
    public var state: String?
    /// Any of these; empty: any.
    public var queues: [String]
    /// nil: any, and jobs without one.
    public var tag: String?
    /// 1 to 10,000.
    public var limit: Int
    /// Whether the login may call `newest_jobs`, which clients may not.
    public var looksUp = true

    /// All jobs, or those that have what is given.
    public init(state: String? = nil, queues: [String] = [], tag: String? = nil, limit: Int) {
        self.state = state
        self.queues = queues
        self.tag = tag
        self.limit = limit
    }

    /// What follows a select list over `job_status s`, with its parameters, which are the statement's first.
    ///
    /// Jobs of a state are looked up where that state's rows are (`newest_jobs`), those of a tag by its index.
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
