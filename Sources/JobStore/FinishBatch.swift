// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// How one attempt ended, ready to be written.
public struct FinishedAttempt: Sendable {
    /// Which row, and the proof that the attempt was ours.
    public var lease: Lease
    /// What becomes of the job.
    public var verdict: Verdict
    /// Nil: nothing is known beyond the verdict (a call that was handed back).
    public var outcome: CallOutcome?
    /// Whether the database is to judge the answer before it is written.
    public var isJudged: Bool
    /// What the end of the job sets off.
    public var followUp: FollowUp
    /// The server that was called; nil: none of several.
    public var server: ServerChoice?
    /// What the call logged in with.
    public var credential: String?
    /// Of its token.
    public var credentialVersion: Int64?
    /// Set while its answer waits for the judging session.
    public var expensive: ExpensiveJudgement?
    /// Whether the answer is a cached one, which the database has.
    public var isCached = false
    /// Whether its job must not be sent again once bytes may have left.
    public var isAtMostOnce = false
    /// Set when the time limit of the session first ends a batch with this attempt: how many batches the worker had
    /// stored by then.
    public var storedBeforeOverrun: UInt64?
    /// How often it has had to wait: its row was found locked, or it waited alone for another lock.
    public var lockWaits = 0
    /// Batches with it that waited for a lock, though its own row was free afterwards.
    public var blocks = 0
    /// How the database has refused it alone; nil: it has not.
    public var refusal: Refusal?
    /// Whether it is already stored without what the database refused of it.
    public var isReduced = false

    /// How the database has refused to store an attempt that was the only one of its batch. Monotonic nanoseconds.
    public struct Refusal: Equatable, Sendable {
        /// Refusals so far.
        public var count: Int
        /// When the last one came.
        public var last: UInt64
        /// How many batches the worker had stored by then.
        public var storedBefore: UInt64
        /// The time between refusals, of those intervals in which the database stored other batches.
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

    /// Whether it is written alone, since it may have been the cause of a batch's failure. A row that was locked
    /// explains one batch that waited, not two.
    public var goesAlone: Bool { storedBeforeOverrun != nil || blocks > 1 || isRefusedAlone || isReduced }

    /// The size of the answer's body, 0 without one.
    public var bodyBytes: Int {
        if case .response(let response) = outcome?.ending { response.body.count } else { 0 }
    }
    /// What it takes in memory, about: body and headers of the answer as it came.
    public let bytes: Int

    /// An attempt with its verdict.
    public init(
        lease: Lease, verdict: Verdict, outcome: CallOutcome?, isJudged: Bool = false, followUp: FollowUp = []
    ) {
        self.lease = lease
        self.verdict = verdict
        self.outcome = outcome
        self.isJudged = isJudged
        self.followUp = followUp
        if case .response(let response) = outcome?.ending {
            bytes = response.body.count + response.headerBlock.count
        } else {
            bytes = 0
        }
    }
}

/// Attempts that are written together; kept until the database has said that it has them.
///
/// Sending a batch twice is harmless: what was stored has lost its lease, and the second time finds no row.
public struct FinishBatch: Sendable {
    /// Ordered by (track, seq): the order in which claim, cancel and reap lock rows.
    public let attempts: [FinishedAttempt]
    /// Whether they are written by `judge`; otherwise by `finish`.
    public let isJudged: Bool
    /// The bytes of its answers.
    public let bytes: Int
    /// The bytes of its largest answer.
    public let largest: Int

    /// A batch of attempts in any order, all to be judged or none.
    public init(_ attempts: [FinishedAttempt]) {
        isJudged = attempts.first?.isJudged ?? false
        self.attempts = attempts.sorted { left, right in
            (left.lease.track, left.lease.seq) < (right.lease.track, right.lease.seq)
        }
        bytes = attempts.reduce(0) { $0 + $1.bytes }
        largest = attempts.reduce(0) { max($0, $1.bytes) }
    }

    /// What the ends in this batch set off, all together.
    public var followUp: FollowUp { attempts.reduce(into: []) { $0.formUnion($1.followUp) } }

    /// The statement that writes the batch.
    public var statement: PGStatement { isJudged ? StoreStatement.judge : StoreStatement.finish }

    /// Writes the parameters of `postrider_internal.finish` or `postrider_internal.judge`.
    ///
    /// - Parameter rows: emptied and filled; its memory is used again from batch to batch.
    public func encode(
        worker: Int32, appVersion: String?, rows: inout AttemptRows, into parameters: inout PGParameters
    ) {
        rows.removeAll()
        for attempt in attempts { rows.append(attempt) }
        parameters.removeAll()
        parameters.append(int32: worker)
        if isJudged {
            parameters.append(text: appVersion)
            rows.encode(into: &parameters)
        } else {
            rows.encode(into: &parameters)
            let waits: Set<Verdict.Kind> = [.held, .delayed, .unprepared, .gainedLittle]
            parameters.append(bool: attempts.contains { waits.contains($0.verdict.kind) })
        }
    }
}
