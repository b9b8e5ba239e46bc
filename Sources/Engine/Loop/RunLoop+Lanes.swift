// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// Lanes with limits: the duties session acquires permits and rate slots, and calls begin when their rate slot comes.
extension RunLoop {
    /// Calls a job now, or when its lane allows it. After the drain the job is handed back without a call.
    func start(_ call: HTTPCall, slot: Int) {
        guard !isDrainOver else { return }
        if shared.dispatcher.admit(call, slot: slot, now: now) { begin(call, slot: slot) }
    }

    /// Starts calls whose moment has come. Cuts off calls in lanes with limits if this worker may be declared lost.
    func startDue() {
        guard shared.dispatcher.claims.hasLanes else { return }
        while let (slot, call) = shared.dispatcher.nextStart(now: now) { begin(call, slot: slot) }
        guard let end = liveness.end, now >= end else { return }
        // No other call begins before the database has answered.
        shared.dispatcher.claims.requestLanesAgain()
        let slots = shared.dispatcher.slots.limited
        guard !slots.isEmpty else { return }
        for slot in slots {
            let sent = shared.agent.cancel(slot: slot)
            shared.dispatcher.callCutOff(slot: slot, sent: sent, cause: "was cut off from the database", now: now)
        }
        shared.log(.handedBack(jobs: slots.count))
    }

    /// When the next lane action is due.
    func laneDeadline() -> UInt64? {
        guard shared.dispatcher.claims.hasLanes else { return nil }
        let due = shared.dispatcher.laneDeadline(
            canRequest: duties.isReady && !duties.awaits(.acquireLanePermits), canClaim: jobs.isReady,
            now: now)
        // Once the end has passed, each turn of the loop checks it, and as a deadline it would keep the loop awake.
        guard let end = liveness.end, now < end, shared.dispatcher.claims.usesLanes else { return due }
        return min(due ?? .max, end)
    }

    /// Requests permits and rate slots.
    func acquireLanePermits(_ worker: Int32) {
        guard !duties.awaits(.acquireLanePermits) else { return }
        let requests = shared.dispatcher.nextLaneRequests(now: now)
        guard !requests.isEmpty else { return }
        StoreCalls.acquireLanePermits(worker: worker, requests, into: &shared.parameters)
        requestSent = now
        duties.send(.acquireLanePermits, StoreStatement.acquireLanePermits)
        if !duties.awaits(.acquireLanePermits) { shared.dispatcher.claims.laneRequestFailed() }
    }

    /// Records the granted permits and rate slots.
    func granted(_ result: borrowing PGResult) {
        if result.rowCount > 0 {
            databaseClock.note(sent: requestSent, received: now, microseconds: StoreCalls.grantedAt(result))
        }
        let grants = StoreCalls.grants(result, clock: databaseClock)
        shared.dispatcher.claims.lanesGranted(grants, now: now)
    }
}
