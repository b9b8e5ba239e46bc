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
    public var sequel: Sequel
    /// The server that was called; nil: none of several.
    public var server: ServerChoice?
    /// What the call logged in with.
    public var credential: String?
    /// Of its token.
    public var credentialVersion: Int64?
    /// Statements with this attempt that the database gave up, since they took too long or too much memory; at least 1 for one that
    /// it refuses to store.
    public var overruns = 0
    /// How often it has had to wait: its row was found locked, it waited alone for another lock, or it was refused even without its answer.
    public var lockWaits = 0
    /// Batches with it that waited for a lock, though its own row was free afterwards.
    public var blocks = 0

    /// Whether batches with it were refused again and again, for a reason that says nothing of one attempt.
    public var isSuspected = false
    /// How many batches had been stored when it was last refused by itself for such a reason.
    public var storedBefore: UInt64?

    /// Whether it is written by itself, since it may have been to blame for a batch that was given up. A row that was locked explains
    /// one batch that waited, not two.
    public var goesAlone: Bool { overruns > 0 || blocks > 1 || isSuspected }

    /// The size of the answer's body, 0 without one.
    public var bodyBytes: Int {
        if case .response(let response) = outcome?.ending { response.body.count } else { 0 }
    }

    /// An attempt with its verdict.
    public init(
        lease: Lease, verdict: Verdict, outcome: CallOutcome?, isJudged: Bool = false, sequel: Sequel = []
    ) {
        self.lease = lease
        self.verdict = verdict
        self.outcome = outcome
        self.isJudged = isJudged
        self.sequel = sequel
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

    /// A batch of attempts in any order, all to be judged or none.
    public init(_ attempts: [FinishedAttempt]) {
        isJudged = attempts.first?.isJudged ?? false
        self.attempts = attempts.sorted { left, right in
            (left.lease.track, left.lease.seq) < (right.lease.track, right.lease.seq)
        }
    }

    /// What the ends in this batch set off, all together.
    public var sequel: Sequel { attempts.reduce(into: []) { $0.formUnion($1.sequel) } }

    /// The statement that writes the batch.
    public var statement: PGStatement { isJudged ? StoreStatement.judge : StoreStatement.finish }

    /// Writes the parameters of `postrider.finish` or `postrider.judge`.
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
            parameters.append(bool: attempts.contains { $0.verdict.kind == .held })
        }
    }
}
