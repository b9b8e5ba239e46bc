// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// A job from its preparation to its end: its call, its memory, its lane and its judgement.
extension Dispatcher {
    // MARK: preparations

    /// Records the answer of a preparation. `callPrepared` completes its rows. The database itself has finished or
    /// moved the jobs without a row.
    ///
    /// - Returns: the jobs that still wait for the preparation, by id. Nil if the worker has given up its number: then
    ///   jobs whose leases hold are prepared again.
    mutating func preparationReturned(_ number: UInt64) -> [Int64: (slot: Int, job: ClaimedJob)]? {
        guard worker > 0 else {
            preparations.takeBack(number)
            return nil
        }
        return preparations.returned(number, slots)
    }

    /// Stores the call of a prepared job, which the caller starts now.
    mutating func callPrepared(slot: Int, _ job: ClaimedJob) {
        if let call = job.call { memory.bodyCame(slot, copies: call.bodyCopies, bytes: call.body.byteCount) }
        slots.update(slot, job)
    }

    /// Handles a refused preparation.
    mutating func preparationFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        carryOut(preparations.failed(number, cause, slots: slots, now: now), now: now)
    }

    /// Ends the jobs of a failed preparation that are not called.
    @discardableResult
    mutating func carryOut(_ failure: PreparationFailure, now: UInt64) -> ExchangeRecovery {
        for (entry, verdict) in failure.ended where entry.isHeld(in: slots) {
            if let job = releaseSlot(entry.slot, now: now) { writes.put(FinishedAttempt(job, verdict), now: now) }
        }
        return failure.recovery
    }

    // MARK: ends

    /// Frees the slot of a job, its memory and its permit.
    @discardableResult
    mutating func releaseSlot(_ slot: Int, now: UInt64) -> ClaimedJob? {
        guard let job = slots.release(slot) else { return nil }
        memory.ended(slot)
        claims.released(job, slot: slot, now: now)
        return job
    }

    /// Records that a call has ended. Its slot is free, and its attempt goes into the next finish.
    mutating func callEnded(slot: Int, _ outcome: CallOutcome, now: UInt64) {
        guard let job = releaseSlot(slot, now: now) else { return }
        let attempt = FinishedAttempt(job, outcome)
        // The claim in the transaction of this finish finds the next page. That saves one round trip to the database.
        if attempt.outcome != nil, attempt.followUp.contains(.page) { claims.widen() }
        if let apart = attempt.judgedApart(job) {
            judging.put(apart, now: now)
        } else {
            writes.put(attempt, now: now)
        }
    }

    /// Ends a call that the worker cut off, for example at the end of a drain.
    ///
    /// - Parameter cause: the predicate of the message for the user, after "the worker".
    mutating func callCutOff(slot: Int, sent: SentState, cause: String = "was stopped", now: UInt64) {
        guard let job = releaseSlot(slot, now: now) else { return }
        writes.put(FinishedAttempt(job, cutOff: sent, cause: cause), now: now)
    }

    /// Ends a prepared job that this worker cannot call, for example without the key or the memory. Its slot is free.
    mutating func callRefused(slot: Int, _ verdict: Verdict, now: UInt64) {
        guard let job = releaseSlot(slot, now: now) else { return }
        writes.put(FinishedAttempt(job, verdict), now: now)
    }

    /// Drops a call whose job was cancelled. Its answer is not judged, since the result of the job stands already.
    ///
    /// - Returns: the slot, now free; nil if no call runs.
    mutating func jobCancelled(_ jobID: Int64, fence: Int64, now: UInt64) -> Int? {
        if judging.remove(jobID: jobID, fence: fence) { return nil }
        guard let slot = slots.slot(jobID: jobID, fence: fence) else { return nil }
        releaseSlot(slot, now: now)
        return slot
    }

    // MARK: judgements

    /// Judges the cached answer of a prepared job, which is not called. Frees its slot.
    mutating func judgeCached(slot: Int, now: UInt64) {
        if let job = releaseSlot(slot, now: now) { judging.put(FinishedAttempt(cachedAnswerOf: job), now: now) }
    }

    /// How long jobs with expensive answers wait before their calls, in milliseconds. Nil if they need not wait.
    var expensiveHold: Int32? {
        judging.hold { slots.running.lazy.filter { $0.job.expensive != nil }.count }
    }

    /// Records a judgement. Nil if the result has no effect on this worker.
    mutating func judgementReturned(_ number: UInt64, isStored: Bool) -> (refused: Int, followUp: FollowUp)? {
        guard let attempt = judging.judged(number, isStored: isStored, worker: worker) else { return nil }
        claims.attemptsStored([attempt], attempt.followUp, claims: false)
        return (isStored ? 0 : 1, attempt.followUp)
    }

    /// Handles a statement of the judging session that failed. Returns the job that ends because of it, nil if the
    /// statement is sent again.
    mutating func judgementFailed(_ number: UInt64, _ failure: JudgingWork.Failure, now: UInt64) -> Int64? {
        guard let attempt = judging.failed(number, failure, now: now) else { return nil }
        writes.put(attempt, now: now)
        return attempt.lease.jobID
    }

    /// Hands attempts back that were not judged at the end of the drain.
    mutating func giveUpJudging(now: UInt64) {
        for attempt in judging.takeAll() { writes.put(attempt.handedBackUnjudged(), now: now) }
    }

    // MARK: lanes with limits

    /// Whether a call begins now. If false, its slot keeps it, and `nextStart` returns it when the lane allows it.
    mutating func admit(_ call: HTTPCall, slot: Int, now: UInt64) -> Bool {
        guard slots.hasLimits(slot), var job = slots.job(in: slot) else { return true }
        job.isStarted = claims.admit(job.lane, slot: slot, now: now)
        job.call = call
        slots.update(slot, job)
        return job.isStarted
    }

    /// The next slot whose call may begin now, and the call.
    mutating func nextStart(now: UInt64) -> (slot: Int, call: HTTPCall)? {
        guard let slot = claims.nextStart(now: now), var job = slots.job(in: slot) else { return nil }
        job.isStarted = true
        slots.update(slot, job)
        return job.call.map { (slot, $0) }
    }

    /// The permits to request now. They count as requested.
    mutating func nextLaneRequests(now: UInt64) -> [LaneRequest] {
        guard worker > 0, claims.hasLanes else { return [] }
        return claims.laneRequests(free: isDraining ? 0 : max(0, freeCount), now: now)
    }

    /// When a lane needs a request for permits, a claim or a start.
    ///
    /// - Parameters:
    ///   - canRequest: whether the duties session can take a request for permits now.
    ///   - canClaim: whether the jobs session can take a claim now.
    mutating func laneDeadline(canRequest: Bool, canClaim: Bool, now: UInt64) -> UInt64? {
        guard worker > 0, claims.hasLanes else { return nil }
        let mayClaim = backoff.restEnd(now: now) == nil && now >= writes.pausedUntil && lifecycle.takesJobs
        return claims.laneDeadline(
            free: isDraining ? 0 : max(0, freeCount), canRequest: canRequest,
            claims: canClaim && exchanges.isEmpty && mayClaim, now: now)
    }

    // MARK: memory

    /// Limits the answer of a new call to the memory that it can get.
    mutating func bound(_ call: inout HTTPCall, slot: Int) {
        // The sum takes time, and only a call that may multiplex needs it.
        let unwritten = call.couldMultiplex ? unwritten : MemoryBudget.Unwritten()
        memory.bound(&call, slot: slot, unwritten: unwritten)
    }

    /// Lets the oldest waiting bodies and answers go on if the budget has room.
    ///
    /// - Parameter answers: waiting answers, the oldest first.
    /// - Returns: how many bytes of their answers these slots may keep from now on.
    mutating func serveMemory(_ answers: [MemoryBudget.Waiting], now: UInt64) -> [(slot: Int, room: Int)] {
        let unwritten = unwritten
        waitingBodies.dropEnded(slots)
        memory.looks(oldest: [answers.first?.since, waitingBodies.oldest].compactMap { $0 }.min(), now: now)
        let grants = answers.compactMap { answer in
            memory.grant(answer, unwritten: unwritten).map { (slot: answer.slot, room: $0) }
        }
        for waiting in waitingBodies.takeAll() {
            let slot = waiting.entry.slot
            if !memory.fits(waiting.body) {
                callRefused(slot: slot, WaitingBodies.tooLarge(memory.total), now: now)
            } else if worker > 0,
                memory.admitBody(slot, waiting.body, since: waiting.since, unwritten: unwritten)
            {
                preparations.put(waiting.entry)
            } else {
                waitingBodies.putBack(waiting)
            }
        }
        return grants
    }
}
