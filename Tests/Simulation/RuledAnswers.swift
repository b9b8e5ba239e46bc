// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore

// Answer rules and stubs in the simulation: the database may decide otherwise than the worker, and some calls get a
// prepared answer.
extension QueueInMemory {
    /// The effect of an attempt on its job. For each fifth job a rule takes a third of its successes for a limit or for
    /// a failure.
    func decided(_ attempt: FinishedAttempt) -> Verdict.Kind {
        guard attempt.isJudged, !attempt.isAtMostOnce, attempt.lease.jobID % 5 == 0, attempt.verdict.kind == .succeeded
        else {
            return attempt.verdict.kind
        }
        return switch attempt.lease.fence % 6 {
        case 0: .held
        case 1: .delayed
        default: .succeeded
        }
    }
}

extension SimulatedWorker {
    /// Whether judging the answer of this job exceeds the time limit.
    static func isTooExpensive(_ job: Int64) -> Bool { job % 16 == 1 }

    /// A job after its preparation. Each seventh job has a stub, and each fourth an expensive answer.
    static func prepared(_ job: ClaimedJob) -> ClaimedJob {
        var job = job
        let id = job.lease.jobID
        job.call = HTTPCall(url: "http://h/")
        if id % 7 == 0 { job.call?.stub = StubAnswer(status: 200) }
        (job.isJudged, job.hasRules) = (id % 3 > 0, id % 5 == 0)
        if id % 4 == 1 {
            job.expensive = ExpensiveJudgement(
                columns: "extract", lane: "\(job.lease.track)", judgesFailures: id % 8 == 1)
        }
        return job
    }
}
