// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Answers that may take long to judge go to the judging session. If that session cannot judge them, the claiming
// session stores them.
extension Dispatcher {
    /// Moves an attempt to the judging session if its answer may take long. False if the claiming session judges it.
    mutating func judgesApart(_ attempt: FinishedAttempt, of job: ClaimedJob, now: UInt64) -> Bool {
        guard attempt.isJudged else { return false }
        var attempt = attempt
        if let expensive = job.expensive {
            guard attempt.verdict.kind == .succeeded || expensive.judgesFailures else { return false }
            attempt.expensive = expensive
        } else {
            guard attempt.verdict.kind == .succeeded, attempt.bodyBytes > JudgingWork.largeAnswer else { return false }
        }
        judgeApart(attempt, now: now)
        return true
    }

    /// Moves an attempt to the judging session. If the name of its lane is not known, it takes turns by its track.
    mutating func judgeApart(_ attempt: FinishedAttempt, now: UInt64) {
        var attempt = attempt
        attempt.expensive =
            attempt.expensive
            ?? ExpensiveJudgement(columns: "", lane: "track \(attempt.lease.track)", judgesFailures: false)
        attempt.storedBeforeOverrun = nil
        attempt.refusal = nil
        judging.put(attempt, now: now)
    }

    /// Judges the cached answer of a prepared job, which is not called. Frees its slot.
    mutating func judgeCached(slot: Int, now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        var attempt = FinishedAttempt(
            lease: job.lease, verdict: .success, outcome: nil, isJudged: true, followUp: job.followUp)
        attempt.expensive = job.expensive
        attempt.isCached = true
        judging.put(attempt, now: now)
    }

    /// How long jobs with expensive answers wait before their calls, in milliseconds. Nil if they need not wait.
    var expensiveHold: Int32? {
        judging.hold { slots.running.lazy.filter { $0.job.expensive != nil }.count }
    }

    /// Records a judgement. Nil if the result has no effect on this worker.
    mutating func judgementReturned(_ number: UInt64, isStored: Bool) -> (refused: Int, followUp: FollowUp)? {
        guard let attempt = judging.judged(number, isStored: isStored, worker: worker) else { return nil }
        noteStored([attempt], attempt.followUp, claims: false)
        return (isStored ? 0 : 1, attempt.followUp)
    }

    /// Handles a statement of the judging session that failed. Returns the job that ends because of it, nil if the
    /// statement is sent again.
    mutating func judgementFailed(_ number: UInt64, _ failure: JudgingWork.Failure, now: UInt64) -> Int64? {
        guard let attempt = judging.failed(number, failure, now: now) else { return nil }
        enqueue(attempt, now: now)
        return attempt.lease.jobID
    }

    /// Hands attempts back that were not judged at the end of the drain. An at_most_once job ends as unknown, with its
    /// answer.
    mutating func giveUpJudging(now: UInt64) {
        for var attempt in judging.takeAll() {
            attempt.expensive = nil
            attempt.isJudged = false
            if attempt.isAtMostOnce, !attempt.isCached {
                attempt.verdict = Verdict(
                    .unknown, .lostWorker, "the worker was stopped before it had judged the answer; look at the body")
            } else {
                attempt.verdict = Verdict(
                    .handedBack, .lostWorker,
                    "the worker was stopped before it had judged the answer; no attempt was used")
                attempt.outcome = nil
            }
            enqueue(attempt, now: now)
        }
    }
}
