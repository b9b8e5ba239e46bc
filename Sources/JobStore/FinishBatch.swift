// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// How one attempt ended, ready to be written.
public struct FinishedAttempt: Sendable {
    /// The lease: the row, and the proof that this worker made the attempt.
    public var lease: Lease
    /// The effect on the job.
    public var verdict: Verdict
    /// The outcome of the call; nil if only the verdict is known, as after a hand-back.
    public var outcome: CallOutcome?
    /// Whether the database judges the answer.
    public var isJudged: Bool
    /// The work that follows when the job has ended.
    public var followUp: FollowUp
    /// The server that was called; nil if the service has no list of servers.
    public var server: ServerChoice?
    /// The credential of the call.
    public var credential: String?
    /// The version of its token.
    public var credentialVersion: Int64?
    /// The name of the job's service; nil: none.
    public var service: String?
    /// How long the job had been due when it was claimed, in microseconds. Nil unless this is the first attempt.
    public var waited: Int64?
    /// Set while its answer waits for the judging session.
    public var expensive: ExpensiveJudgement?
    /// Whether the answer is a cached one. The database has it.
    public var isCached = false
    /// Whether its job must not be sent again once bytes may have left.
    public var isAtMostOnce = false
    /// How many batches the worker had stored when a batch with this attempt first exceeded the session's time limit.
    /// Nil if none has.
    public var storedBeforeOverrun: UInt64?
    /// How often it has waited: its row was locked, or it waited alone for another lock.
    public var lockWaits = 0
    /// How many batches with it waited for a lock although its own row was free afterwards.
    public var blocks = 0
    /// Refusals of this attempt alone; nil if there were none.
    public var refusal: Refusal?
    /// Whether the parts that the database refused were already removed.
    public var isReduced = false

    /// The refusals of an attempt that was alone in its batch. Times are monotonic nanoseconds.
    public struct Refusal: Equatable, Sendable {
        /// Refusals so far.
        public var count: Int
        /// When the last refusal came.
        public var last: UInt64
        /// How many batches the worker had stored at that time.
        public var storedBefore: UInt64
        /// The time between refusals. It counts only intervals in which the database stored other batches.
        public var alone: UInt64 = 0

        /// The first refusal.
        public init(at now: UInt64, storedBefore: UInt64) {
            count = 1
            last = now
            self.storedBefore = storedBefore
        }
    }

    /// Whether the database has refused it while it stored others.
    public var isRefusedAlone: Bool { (refusal?.alone ?? 0) > 0 }

    /// Whether it is written alone, because it may have caused the failure of a batch.
    ///
    /// One wait of a batch may come from a locked row that is free again. Two waits make this attempt suspect.
    public var goesAlone: Bool { storedBeforeOverrun != nil || blocks > 1 || isRefusedAlone || isReduced }

    /// The size of the answer's body, 0 without one.
    public var bodyBytes: Int {
        if case .response(let response) = outcome?.ending { response.body.count } else { 0 }
    }
    /// Its approximate size in memory: body and headers of the answer as received.
    public let bytes: Int

    /// An attempt with its verdict.
    public init(
        lease: Lease, verdict: Verdict, outcome: CallOutcome?, isJudged: Bool = false, followUp: FollowUp = []
    ) {
        bytes = FinishedAttempt.size(of: outcome)
        self.lease = lease
        self.verdict = verdict
        self.outcome = outcome
        self.isJudged = isJudged
        self.followUp = followUp
    }

    private static func size(of outcome: CallOutcome?) -> Int {
        guard case .response(let response) = outcome?.ending else { return 0 }
        return response.body.count + response.headerBlock.count
    }
}

/// Attempts that are written together. They are kept until the database has confirmed them.
///
/// A second execution is harmless: stored attempts have lost their lease, so it finds no rows.
public struct FinishBatch: Sendable {
    /// The attempts, ordered by (track, seq). Claim, cancel and reap lock rows in the same order.
    public let attempts: [FinishedAttempt]
    /// Whether `judge` writes them, or `finish`.
    public let isJudged: Bool
    /// The bytes of its answers.
    public let bytes: Int
    /// The bytes of its largest answer.
    public let largest: Int

    /// The work that follows from all attempts.
    public let followUp: FollowUp

    /// Whether some attempt has a verdict of `waits`. Otherwise `finish` skips a check of each attempt.
    private let hasWaits: Bool
    private static let waits: Set<Verdict.Kind> = [.held, .delayed, .unprepared, .gainedLittle]

    /// A batch of attempts in any order. Either all of them need judging, or none.
    ///
    /// Loops over attempts use indices: a loop over the elements copies each attempt, 400 instructions.
    public init(_ attempts: consuming [FinishedAttempt]) {
        var sorted = attempts
        sorted.sort { left, right in (left.lease.track, left.lease.seq) < (right.lease.track, right.lease.seq) }
        let sums = FinishBatch.sums(sorted)
        isJudged = sorted.first?.isJudged ?? false
        bytes = sums.bytes
        largest = sums.largest
        followUp = sums.followUp
        hasWaits = sums.hasWaits
        self.attempts = sorted
    }

    private static func sums(
        _ attempts: [FinishedAttempt]
    ) -> (bytes: Int, largest: Int, followUp: FollowUp, hasWaits: Bool) {
        var sums = (bytes: 0, largest: 0, followUp: FollowUp(), hasWaits: false)
        for place in attempts.indices {
            sums.bytes += attempts[place].bytes
            sums.largest = max(sums.largest, attempts[place].bytes)
            sums.followUp.formUnion(attempts[place].followUp)
            sums.hasWaits = sums.hasWaits || waits.contains(attempts[place].verdict.kind)
        }
        return sums
    }

    /// The statement that writes the batch.
    public var statement: PGStatement { isJudged ? StoreStatement.judge : StoreStatement.finish }

    /// Appends the parameters of `postrider_internal.finish` or `postrider_internal.judge`.
    ///
    /// - Parameter rows: emptied and filled. Its memory is reused from batch to batch.
    public func encode(
        worker: Int32, appVersion: String?, rows: inout AttemptRows, into parameters: inout PGParameters
    ) {
        rows.removeAll()
        for place in attempts.indices { rows.append(attempts[place]) }
        parameters.removeAll()
        parameters.append(int32: worker)
        if isJudged {
            parameters.append(text: appVersion)
            rows.encode(into: &parameters)
        } else {
            rows.encode(into: &parameters)
            parameters.append(bool: hasWaits)
        }
    }
}
