// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

extension FinishedAttempt {
    /// The end of an attempt without an answer.
    init(_ job: ClaimedJob, _ verdict: Verdict) {
        self.init(lease: job.lease, verdict: verdict, outcome: nil, followUp: job.followUp)
        isAtMostOnce = job.isAtMostOnce
        describe(job)
    }

    /// Adds what the metrics need to know about the job.
    ///
    /// A member waits for its turn, a later page for the page before, and a later attempt for its retry. They say
    /// nothing about the wait for a worker.
    mutating func describe(_ job: ClaimedJob) {
        service = job.service
        waited = job.lease.attempt == 1 && job.rekey == 0 && !job.followUp.contains(.tree) ? job.waited : nil
    }

    /// The end of a call.
    init(_ job: ClaimedJob, _ outcome: CallOutcome) {
        var outcome = outcome
        outcome.demandBody(of: job.okStatuses)
        var verdict = Verdict(
            outcome, okStatuses: job.okStatuses, isAtMostOnce: job.isAtMostOnce,
            isIdempotent: job.call?.method.isIdempotent ?? true, attempt: Int(job.lease.attempt))
        // No descriptor was free, so there is no answer.
        guard verdict.kind != .handedBack else {
            self.init(job, verdict)
            return
        }
        if job.checksXML { verdict.requireXML(of: outcome) }
        if job.call?.stub != nil { verdict.pauseNoLane() }
        var followUp = job.followUp
        if let method = job.call?.method {
            verdict.continueElsewhere(from: outcome, to: job.server, method: method)
            if verdict.kind == .onward { followUp.insert(.oldPlace) }
        }
        self.init(lease: job.lease, verdict: verdict, outcome: outcome, isJudged: job.isJudged, followUp: followUp)
        isAtMostOnce = job.isAtMostOnce
        describe(job)
        server = job.server
        credential = job.credential?.name
        credentialVersion = job.credential?.version
    }

    /// The end of a call that the worker cut off, for example at the end of a drain.
    ///
    /// The job goes back without using an attempt. An at_most_once job that may have been sent ends as unknown.
    ///
    /// - Parameter cause: the predicate of the message for the user, after "the worker".
    init(_ job: ClaimedJob, cutOff sent: SentState, cause: String) {
        let verdict =
            job.isAtMostOnce && sent == .maybe
            ? Verdict(
                .unknown, .lostWorker,
                "the worker \(cause) before the answer came; it is not known whether the server acted on it")
            : Verdict(.handedBack, .lostWorker, "the worker \(cause) before the answer came; no attempt was used")
        self.init(job, verdict)
    }
}
