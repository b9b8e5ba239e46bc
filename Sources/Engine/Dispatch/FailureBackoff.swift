// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Decides how a worker slows down after failed exchanges: waits, smaller batches, claims of leases only. Pure.
struct FailureBackoff {
    /// A failed claim may fail each time: one of its rows may hold a value that cannot be written out. So for a minute
    /// a claim shares no transaction with attempts, and takes leases only. `prepare` then finds the job that causes it.
    static let leasesOnlyPeriod: UInt64 = 60_000_000_000
    /// The rest after a failure: 250 ms. It spares a database in trouble.
    static let rest: UInt64 = 250_000_000

    /// After a failure nothing is sent before this moment.
    private var restUntil: UInt64 = 0
    /// After a failed claim, claims until this moment take leases only.
    private var leasesOnlyUntil: UInt64 = 0
    /// The waits between claims while these are refused.
    private var claimPause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// The pace of writes, and the attempts that the database has refused.
    private var writes = WriteThrottle()

    /// Sends nothing for 250 ms.
    mutating func rest(now: UInt64) { restUntil = now + FailureBackoff.rest }

    /// When the rest ends; nil if the worker does not rest.
    func restEnd(now: UInt64) -> UInt64? { now < restUntil ? restUntil : nil }

    // MARK: claims

    /// Whether a claim may be sent.
    func allowsClaim(now: UInt64) -> Bool { now >= claimPause.until }

    /// Whether claims take leases only.
    func takesLeasesOnly(now: UInt64) -> Bool { now < leasesOnlyUntil }

    /// Whether a claim may share its transaction with a batch.
    func allowsSharing(now: UInt64) -> Bool { now >= leasesOnlyUntil && !writes.pause.isOn }

    /// How many of `free` slots a claim may fill.
    func claimable(_ free: Int, slots: SlotTable, reserved: Int, finished: Int, now: UInt64) -> Int {
        writes.claimable(
            free, capacity: slots.capacity, inUse: slots.inUse + reserved, finished: finished, now: now)
    }

    /// Records that a claim is sent.
    mutating func claimSent(now: UInt64) { writes.claims(now: now) }

    /// Records that a claim has succeeded.
    mutating func claimSucceeded() { claimPause.succeeded() }

    /// Records that a claim has failed.
    mutating func claimFailed(now: UInt64) {
        leasesOnlyUntil = now + FailureBackoff.leasesOnlyPeriod
        claimPause.refused(now: now)
    }

    /// When a claim may be sent again, nil if none has to wait.
    func claimDeadline(now: UInt64) -> UInt64? {
        [writes.claimDeadline(now: now), claimPause.deadline(now: now)].lazy.compactMap { $0 }.min()
    }

    // MARK: batches

    /// The most attempts of one batch.
    var batchLimit: Int { writes.batchLimit }

    /// Whether the last batch was refused.
    var refusesBatches: Bool { writes.pause.isOn }

    /// Since when all batches are refused, nil if they are not.
    var batchesRefusedSince: UInt64? { writes.pause.since }

    /// The attempts that were refused alone. They still hold their leases.
    var refused: RefusedAttempts { writes.refused }

    /// How many results wait because the database has refused them, and since when. Nil if none waits.
    func waiting(_ queue: WriteQueue) -> (count: Int, since: UInt64)? { writes.waiting(queue.finished) }

    /// The leases of these results, at most `limit`.
    func waitingLeases(_ queue: WriteQueue, limit: Int) -> [Lease] {
        writes.waitingLeases(queue.finished, limit: limit)
    }

    /// The jobs of these results, at most `limit`.
    func waitingJobs(_ queue: WriteQueue, limit: Int) -> [Int64] {
        waitingLeases(queue, limit: limit).map(\.jobID)
    }

    /// How many attempts the next batch may choose from; 0 while it has to wait.
    func writable(finished: Int, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> Int {
        writes.writable(finished: finished, isUnderWay: isUnderWay, isDraining: isDraining, now: now)
    }

    /// The refused attempt to write alone next, nil if none is due. It takes turns with the other attempts.
    mutating func nextRefused(hasOthers: Bool, isDraining: Bool, now: UInt64) -> FinishedAttempt? {
        writes.nextRefused(hasOthers: hasOthers, isDraining: isDraining, now: now)
    }

    /// When the next batch may be sent. Nil if none waits, or if it may be sent now.
    func batchDeadline(hasFinished: Bool, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> UInt64? {
        writes.deadline(hasFinished: hasFinished, isUnderWay: isUnderWay, isDraining: isDraining, now: now)
    }

    /// Records that a batch was stored. The attempts that were refused only while the database stored nothing go back
    /// to the others.
    mutating func batchStored(_ queue: inout WriteQueue) { queue.put(released: writes.succeeded()) }

    /// Drops the attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) { writes.keep(held) }

    /// Handles a batch that failed. Its attempts stand at the front of the queue.
    ///
    /// - Returns: the reaction, and the attempt that moves to the judging session.
    mutating func batchFailed(
        _ batch: FinishBatch, _ cause: Rejection, _ queue: inout WriteQueue, now: UInt64
    ) -> (recovery: ExchangeRecovery, apart: FinishedAttempt?) {
        switch cause {
        case .unstorable: (isolate(batch, &queue, now: now), nil)
        case .locked: (queue.deferBatch(batch, now: now), nil)
        case .overrun where batch.isJudged: separate(batch, &queue, now: now)
        default: (refuse(batch, &queue, now: now), nil)
        }
    }

    /// Handles a refusal that no single attempt has caused, such as a shortage. Smaller batches follow after growing
    /// waits. An attempt that is refused alone then waits apart from the others.
    @discardableResult
    mutating func refuse(_ batch: FinishBatch, _ queue: inout WriteQueue, now: UInt64) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writes.refusedBatch(batch.attempts.count, now: now)
            return .report
        }
        guard let givenUp = writes.refusedAlone(queue.removeFirst(), now: now) else { return .report }
        let reason = "the database refused the result for 15 minutes while it stored others"
        queue.put(givenUp.reduced(reason), now: now)
        return .reportJob(givenUp.lease.jobID)
    }

    /// Searches for the attempt with a value that the database cannot store. Smaller batches find it. It is stored
    /// alone, without its body.
    private mutating func isolate(
        _ batch: FinishBatch, _ queue: inout WriteQueue, now: UInt64
    ) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writes.shrink(batch.attempts.count, by: 2)
            return .report
        }
        guard !batch.attempts[0].isReduced else { return refuse(batch, &queue, now: now) }
        _ = queue.removeFirst()
        writes.shrink(1, by: 2)
        queue.put(batch.attempts[0].reduced("the database cannot store the body of the answer"), now: now)
        return .reportJob(batch.attempts[0].lease.jobID)
    }

    /// Handles a batch of judged attempts that exceeded the time limit of the session. Each attempt goes alone. If one
    /// exceeds the limit alone while others are stored, it moves to the judging session. No attempt ends because of
    /// this limit.
    private mutating func separate(
        _ batch: FinishBatch, _ queue: inout WriteQueue, now: UInt64
    ) -> (recovery: ExchangeRecovery, apart: FinishedAttempt?) {
        queue.noteOverrun(batch.attempts.count, stored: writes.stored)
        guard batch.attempts.count == 1 else {
            writes.refusedBatch(batch.attempts.count, now: now)
            return (.report, nil)
        }
        let attempt = queue.finished[0]
        guard attempt.verdict.code != .tooExpensive, writes.stored > attempt.storedBeforeOverrun ?? 0 else {
            return (refuse(batch, &queue, now: now), nil)
        }
        return (.report, queue.removeFirst())
    }
}
