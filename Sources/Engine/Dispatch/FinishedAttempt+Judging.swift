// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Answers that may take long to judge go to the judging session. If that session cannot judge them, the claiming
// session stores them.
extension FinishedAttempt {
    /// The cached answer of a prepared job, which is not called.
    init(cachedAnswerOf job: ClaimedJob) {
        self.init(lease: job.lease, verdict: .success, outcome: nil, isJudged: true, followUp: job.followUp)
        describe(job)
        expensive = job.expensive
        isCached = true
    }

    /// The attempt for the judging session if its answer may take long. Nil if the claiming session judges it.
    func judgedApart(_ job: ClaimedJob) -> FinishedAttempt? {
        guard isJudged else { return nil }
        var attempt = self
        if let expensive = job.expensive {
            guard verdict.kind == .succeeded || expensive.judgesFailures else { return nil }
            attempt.expensive = expensive
        } else {
            guard verdict.kind == .succeeded || job.hasRules, bodyBytes > JudgingWork.largeAnswer else { return nil }
        }
        return attempt.judgedApart()
    }

    /// The attempt for the judging session. If the name of its lane is not known, it takes turns by its track.
    func judgedApart() -> FinishedAttempt {
        var attempt = self
        attempt.expensive =
            expensive ?? ExpensiveJudgement(columns: "", lane: "track \(lease.track)", judgesFailures: false)
        attempt.storedBeforeOverrun = nil
        attempt.refusal = nil
        return attempt
    }

    /// The attempt of a worker that ends before it has judged the answer. An at_most_once job ends as unknown, with its
    /// answer.
    func handedBackUnjudged() -> FinishedAttempt {
        var attempt = self
        attempt.expensive = nil
        attempt.isJudged = false
        if isAtMostOnce, !isCached {
            attempt.verdict = Verdict(
                .unknown, .lostWorker, "the worker was stopped before it had judged the answer; look at the body")
        } else {
            attempt.verdict = Verdict(
                .handedBack, .lostWorker,
                "the worker was stopped before it had judged the answer; no attempt was used")
            attempt.outcome = nil
        }
        return attempt
    }
}
