// SPDX-License-Identifier: Apache-2.0

/// Jobs that have failed or ended unknown together, for good, and one of them: for the log, so without the sentence of
/// its error, which may hold what the server said.
public struct FailedJobs: Equatable, Sendable {
    /// How many.
    public var jobs: Int
    /// One of them; nil: which is not known.
    public var job: Int64?
    /// Of all of them; nil: not known any more.
    public var queue: String?
    /// Of all of them; nil: they ended before they were in one.
    public var lane: String?
    /// Of all of them: `failed` or `unknown`.
    public var state: String
    /// Tries that the one had; nil: it runs again already.
    public var attempt: Int?
    /// Why it failed, from the closed list.
    public var code: String?
    /// Of the last answer, if there was one.
    public var status: Int?

    /// Failed jobs with what is known of them.
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
