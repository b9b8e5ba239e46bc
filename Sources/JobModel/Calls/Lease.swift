// SPDX-License-Identifier: Apache-2.0

/// What a claim gives a worker: the right to make one attempt, and the proof of it.
public struct Lease: Equatable, Sendable {
    /// The track of the row.
    public var track: Int32
    /// Its place in the track.
    public var seq: Int64
    /// Grows with every claim; a finish that carries an older one changes nothing.
    public var fence: Int64
    /// The job.
    public var jobID: Int64
    /// From 1.
    public var attempt: Int32

    /// A lease as the claim returned it.
    public init(track: Int32, seq: Int64, fence: Int64, jobID: Int64, attempt: Int32) {
        self.track = track
        self.seq = seq
        self.fence = fence
        self.jobID = jobID
        self.attempt = attempt
    }
}

/// What tells a webhook from others, and when it was sent.
public struct WebhookStamp: Equatable, Sendable {
    /// The same on each try.
    public var id: String
    /// Seconds since 1970, by the database's clock.
    public var time: Int64

    /// A stamp.
    public init(id: String, time: Int64) {
        self.id = id
        self.time = time
    }
}

/// What is known of a job whose answer may take long to judge.
public struct ExpensiveJudgement: Equatable, Sendable {
    /// The columns with its expensive expressions, for the error.
    public var columns: String
    /// Answers of different lanes take turns.
    public var lane: String
    /// Whether an answer that is a failure by its status may need these expressions, too.
    public var judgesFailures: Bool

    /// Each part as `postrider_internal.prepare` gives it.
    public init(columns: String, lane: String, judgesFailures: Bool) {
        self.columns = columns
        self.lane = lane
        self.judgesFailures = judgesFailures
    }
}

/// A job that this worker is to call now.
public struct ClaimedJob: Sendable {
    /// The right to make the attempt.
    public var lease: Lease
    /// What to send; nil: the database must prepare it first.
    public var call: HTTPCall?
    /// `delivery = 'at_most_once'`: never sent again once bytes may have left.
    public var isAtMostOnce: Bool
    /// Which statuses are a success.
    public var okStatuses: StatusRanges
    /// How often a person asked for a new Idempotency-Key.
    public var rekey: Int16
    /// Whether the database is to look at the answer before it is written; known once the call is.
    public var isJudged = false
    /// Set if judging the answer may take long; known once the call is.
    public var expensive: ExpensiveJudgement?
    /// Whether a cached answer serves it, which is to be judged instead of a call.
    public var isCached = false
    /// What the end of the job sets off.
    public var followUp: FollowUp = []
    /// For a webhook: what its signature stands over beside the body.
    public var webhook: WebhookStamp?
    /// What its call logs in with; known once the call is.
    public var credential: CredentialUse?
    /// Whether hooks are to run before the call; known once the call is.
    public var hasHooks = false
    /// Its lane's number if this worker keeps limits of the lane, else 0.
    public var lane: Int32 = 0
    /// Whether its call has begun; looked at in lanes with limits only.
    public var isStarted = false
    /// `response_format = 'xml'`: the answer must be well-formed XML.
    public var checksXML = false
    /// The server of its service that is called; nil: the service has none. Known once the call is.
    public var server: ServerChoice?
    /// A body that is still in the database, since it may be large; nil: it has at most 64 KiB.
    public var largeBody: LargeBody?

    /// A job with all that its attempt and its verdict need; without a call it is to be prepared.
    public init(lease: Lease, call: HTTPCall?, isAtMostOnce: Bool, okStatuses: StatusRanges, rekey: Int16 = 0) {
        self.lease = lease
        self.call = call
        self.isAtMostOnce = isAtMostOnce
        self.okStatuses = okStatuses
        self.rekey = rekey
    }
}
