// SPDX-License-Identifier: Apache-2.0

/// Jobs that failed or ended unknown together, with one example, for the log. The error message is left out, because it
/// may contain text of the server.
public struct FailedJobs: Equatable, Sendable {
    /// The number of jobs.
    public var jobs: Int
    /// One of the jobs; nil if none is known.
    public var job: Int64?
    /// The queue of all of them; nil if it is no longer known.
    public var queue: String?
    /// The lane of all of them; nil if they ended before they had one.
    public var lane: String?
    /// The state of all of them: `failed` or `unknown`.
    public var state: String
    /// How many attempts `job` has had; nil if it runs again already.
    public var attempt: Int?
    /// The error code of the failure.
    public var code: String?
    /// The status of the last answer; nil without an answer.
    public var status: Int?

    /// Failed jobs with the known facts about them.
    public init(
        jobs: Int, job: Int64?, queue: String?, lane: String?, state: String, attempt: Int? = nil, code: String? = nil,
        status: Int? = nil
    ) {
        self.jobs = jobs
        self.job = job
        self.queue = queue
        self.lane = lane
        self.state = state
        self.attempt = attempt
        self.code = code
        self.status = status
    }
}
