// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The attempts that take longer than a second, each with the phase that it is in.
enum LongCalls {
    /// The database gets a row about an attempt that takes longer than this: 1 s.
    private static let shortCall: UInt64 = 1_000_000_000
    /// The most waiting results that get a row. A heartbeat has the same limit.
    private static let mostResults = 1000

    /// All attempts that were claimed more than a second ago and whose results are not stored.
    ///
    /// - Parameters:
    ///   - hooks: slots whose hooks run.
    ///   - transfer: returns the progress of the call in a slot as the agent sees it; nil: the agent has no call there.
    static func list(
        _ dispatcher: borrowing Dispatcher, hooks: Set<Int>, now: UInt64,
        transfer: (_ slot: Int, _ claim: RunningCall) -> RunningCall?
    ) -> [RunningCall] {
        let moment = now - min(now, shortCall)
        let bodies = dispatcher.waitingBodies.starts
        let unready = dispatcher.preparations.slots
        var calls = dispatcher.slots.jobs(claimedBy: moment).map { slot, job, claimedAt in
            var call = RunningCall(lease: job.lease, phase: .prepare, since: claimedAt)
            if let began = bodies[slot] {
                (call.phase, call.since) = (.memory, began)
            } else if hooks.contains(slot) {
                call.phase = .hooks
            } else if !unready.contains(slot) {
                if let running = transfer(slot, call) { return running }
                if job.lane != 0, !job.isStarted { call.phase = .lane }
            }
            return call
        }
        calls += dispatcher.judging.calls(since: moment)
        if let since = dispatcher.backoff.waiting(dispatcher.writes)?.since, since <= moment {
            calls += dispatcher.backoff.waitingLeases(dispatcher.writes, limit: mostResults).map {
                RunningCall(lease: $0, phase: .store, since: since)
            }
        }
        return calls
    }
}
