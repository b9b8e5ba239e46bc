// SPDX-License-Identifier: Apache-2.0

/// The right of one worker to make one attempt, with its proof.
public struct Lease: Equatable, Sendable {
    /// The track of the row.
    public var track: Int32
    /// Its place in the track.
    public var seq: Int64
    /// The fence. Each claim gets a higher one, and a result with an older fence is not stored.
    public var fence: Int64
    /// The job.
    public var jobID: Int64
    /// The number of the attempt, from 1.
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

/// The identity of a webhook, and the time at which it was sent.
public struct WebhookStamp: Equatable, Sendable {
    /// The id. It is the same in each attempt.
    public var id: String
    /// The time in seconds since 1970, by the database's clock.
    public var time: Int64

    /// The headers of a webhook (Standard Webhooks).
    public func headers(signature: String) -> [HTTPHeader] {
        [
            HTTPHeader("webhook-id", id), HTTPHeader("webhook-timestamp", "\(time)"),
            HTTPHeader("webhook-signature", signature),
        ]
    }

    /// A stamp.
    public init(id: String, time: Int64) {
        self.id = id
        self.time = time
    }
}

/// The facts about a job whose answer may take long to judge.
public struct ExpensiveJudgement: Equatable, Sendable {
    /// The columns with its expensive expressions, for the error message.
    public var columns: String
    /// The lane. Answers of different lanes take turns.
    public var lane: String
    /// Whether an answer with a failure status may also need these expressions.
    public var judgesFailures: Bool

    /// The facts as `postrider_internal.prepare` returns them.
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
    /// The call; nil: the database must prepare it first.
    public var call: HTTPCall?
    /// `delivery = 'at_most_once'`: it is not sent again once bytes may have left.
    public var isAtMostOnce: Bool
    /// The statuses that count as success.
    public var okStatuses: StatusRanges
    /// How often a user has requested a new Idempotency-Key.
    public var rekey: Int16
    /// Whether the database judges the answer. Known once the call is prepared.
    public var isJudged = false
    /// Whether answer rules may read its answer, also a failure. Known once the call is prepared.
    public var hasRules = false
    /// Set if judging the answer may take long. Known once the call is prepared.
    public var expensive: ExpensiveJudgement?
    /// Whether a cached answer is judged instead of a call.
    public var isCached = false
    /// The work that follows when the job has ended.
    public var followUp: FollowUp = []
    /// The signed data of a webhook in addition to its body.
    public var webhook: WebhookStamp?
    /// The login of its call. Known once the call is prepared.
    public var credential: CredentialUse?
    /// Whether hooks run before the call. Known once the call is prepared.
    public var hasHooks = false
    /// The number of its lane if this worker keeps limits of the lane, otherwise 0.
    public var lane: Int32 = 0
    /// Whether its call has begun. Only set in lanes with limits.
    public var isStarted = false
    /// `response_format = 'xml'`: the answer must be well-formed XML.
    public var checksXML = false
    /// The chosen server of its service; nil if the service has none. Known once the call is prepared.
    public var server: ServerChoice?
    /// The name of its service; nil: it has none, or the call is not prepared yet.
    public var service: String?
    /// How long it had been due when it was claimed, in microseconds; nil: not known.
    public var waited: Int64?
    /// The trace of this attempt; nil: none, or it is not known yet.
    public var trace: JobTrace?
    /// The body that is still in the database; nil: the claim has brought it, with at most 64 KiB.
    public var largeBody: LargeBody?

    /// A job. Without a call it must be prepared.
    public init(lease: Lease, call: HTTPCall?, isAtMostOnce: Bool, okStatuses: StatusRanges, rekey: Int16 = 0) {
        self.lease = lease
        self.call = call
        self.isAtMostOnce = isAtMostOnce
        self.okStatuses = okStatuses
        self.rekey = rekey
    }
}
