// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Calls that end: with an answer, with a failure, cut off by the worker, or cancelled.
extension Dispatcher {
    /// Records that a call has ended. Its slot is free, and its attempt goes into the next finish.
    mutating func callEnded(slot: Int, _ outcome: CallOutcome, now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        var outcome = outcome
        outcome.demandBody(of: job.okStatuses)
        var verdict = Verdict(
            outcome, okStatuses: job.okStatuses, isAtMostOnce: job.isAtMostOnce,
            isIdempotent: job.call?.method.isIdempotent ?? true, attempt: Int(job.lease.attempt))
        // No descriptor was free, so there is no answer.
        if verdict.kind == .handedBack { return end(job, verdict, now: now) }
        if job.checksXML { verdict.requireXML(of: outcome) }
        var followUp = job.followUp
        if let method = job.call?.method {
            verdict.continueElsewhere(from: outcome, to: job.server, method: method)
            if verdict.kind == .onward { followUp.insert(.oldPlace) }
        }
        // The claim in the transaction of this finish finds the next page. That saves one round trip to the database.
        if followUp.contains(.page) { widenClaimScope() }
        var attempt = FinishedAttempt(
            lease: job.lease, verdict: verdict, outcome: outcome, isJudged: job.isJudged, followUp: followUp)
        attempt.isAtMostOnce = job.isAtMostOnce
        attempt.server = job.server
        attempt.credential = job.credential?.name
        attempt.credentialVersion = job.credential?.version
        if !judgesApart(attempt, of: job, now: now) { enqueue(attempt, now: now) }
    }

    /// Ends a call that the worker cut off, for example at the end of a drain.
    ///
    /// The job goes back without using an attempt. An at_most_once job that may have been sent ends as unknown.
    ///
    /// - Parameter cause: the predicate of the message for the user, after "the worker".
    mutating func callCutOff(slot: Int, sent: SentState, cause: String = "was stopped", now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        let verdict =
            job.isAtMostOnce && sent == .maybe
            ? Verdict(
                .unknown, .lostWorker,
                "the worker \(cause) before the answer came; it is not known whether the server acted on it")
            : Verdict(.handedBack, .lostWorker, "the worker \(cause) before the answer came; no attempt was used")
        end(job, verdict, now: now)
    }

    /// Ends an attempt that has no answer.
    mutating func end(_ job: ClaimedJob, _ verdict: Verdict, now: UInt64) {
        var attempt = FinishedAttempt(lease: job.lease, verdict: verdict, outcome: nil, followUp: job.followUp)
        attempt.isAtMostOnce = job.isAtMostOnce
        enqueue(attempt, now: now)
    }

    /// Drops a call whose job was cancelled. Its answer is not judged, since the result of the job stands already.
    ///
    /// - Returns: the slot, now free; nil if no call runs.
    mutating func jobCancelled(_ jobID: Int64, fence: Int64, now: UInt64) -> Int? {
        if judging.remove(jobID: jobID, fence: fence) { return nil }
        guard let slot = slots.slot(jobID: jobID, fence: fence) else { return nil }
        free(slot, now: now)
        return slot
    }

    /// Whether no call runs, no answer waits to be judged, and no claim under way can start a call.
    var isQuiet: Bool { slots.inUse == 0 && reserved == 0 && judging.isEmpty }

    /// Whether the results of all ended attempts are in the database.
    var isWritten: Bool {
        finished.isEmpty && deferred.isEmpty && writeThrottle.refused.isEmpty && exchanges.isEmpty && judging.isEmpty
    }

    /// How many attempts have ended and are not in the database yet.
    var unwrittenCount: Int {
        finished.count + deferred.leases.count + writeThrottle.refused.count + judging.leases.count
            + exchanges.values.reduce(0) { $0 + ($1.batch?.attempts.count ?? 0) }
    }
}
