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
    /// The call of a prepared job. Each seventh job has a stub.
    static func call(of job: Int64) -> HTTPCall {
        var call = HTTPCall(url: "http://h/")
        if job % 7 == 0 { call.stub = StubAnswer(status: 200) }
        return call
    }
}
