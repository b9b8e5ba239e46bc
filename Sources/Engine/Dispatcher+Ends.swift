// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Calls that end without an answer: cut off by the worker itself, or pointless.
extension Dispatcher {
    /// A call was cut off, at the end of a drain for example. Its job goes back without using an attempt; one that must not be
    /// sent twice and may have been sent ends as unknown.
    mutating func callCutOff(slot: Int, sent: SentState, cause: String = "was stopped", now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        let verdict =
            job.isAtMostOnce && sent == .maybe
            ? Verdict(
                .unknown, .lostWorker,
                "the worker \(cause) before the answer came; it is not known whether the server acted on it")
            : Verdict(.handedBack, .lostWorker, "the worker \(cause) before the answer came; no attempt was used")
        write(FinishedAttempt(lease: job.lease, verdict: verdict, outcome: nil, sequel: job.sequel), now: now)
    }

    /// The job of a running call was cancelled: its result stands, the call is pointless. Returns its slot, free now.
    mutating func jobCancelled(_ jobID: Int64, fence: Int64, now: UInt64) -> Int? {
        guard let slot = slots.slot(jobID: jobID, fence: fence) else { return nil }
        free(slot, now: now)
        return slot
    }
}
