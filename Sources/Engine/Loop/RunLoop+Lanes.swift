// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// Lanes with limits: permits and slots are drawn on the duties session, and calls begin when their slot comes.
extension RunLoop {
    /// Calls a job, now or when its lane allows it; after the drain it is left to be handed back uncalled.
    func start(_ call: HTTPCall, slot: Int) {
        guard !isDrainOver else { return }
        if dispatcher.begins(call, slot: slot, now: now) { begin(call, slot: slot) }
    }

    /// Calls what waited for its moment, and ends what must not go on.
    func startDue() {
        guard !dispatcher.lanes.isEmpty else { return }
        while let (slot, call) = dispatcher.nextStart(now: now) { begin(call, slot: slot) }
        guard let end = liveness.end, now >= end else { return }
        // Nor does another begin before the database has answered.
        dispatcher.lanes.drawAnew()
        let slots = dispatcher.limitedSlots
        guard !slots.isEmpty else { return }
        for slot in slots {
            let sent = agent.cancel(slot: slot)
            dispatcher.callCutOff(slot: slot, sent: sent, cause: "was cut off from the database", now: now)
        }
        configuration.log(.handedBack(jobs: slots.count))
    }

    /// When the next of these things is due.
    func laneDeadline() -> UInt64? {
        guard !dispatcher.lanes.isEmpty else { return nil }
        let due = dispatcher.laneDeadline(
            canDraw: duties.isReady && !dutiesUnderWay.contains(.draw), canClaim: jobs.isReady, now: now)
        // Once it is over each turn sees to it.
        guard let end = liveness.end, now < end, dispatcher.lanes.isInUse else { return due }
        return min(due ?? .max, end)
    }

    /// Asks for permits and slots.
    func draw(_ worker: Int32) {
        guard !dutiesUnderWay.contains(.draw) else { return }
        let wishes = dispatcher.nextDraw(now: now)
        guard !wishes.isEmpty else { return }
        StoreCalls.draw(worker: worker, wishes, into: &parameters)
        drawSent = now
        send(.draw, StoreStatement.draw)
        if !dutiesUnderWay.contains(.draw) { dispatcher.lanes.drawFailed() }
    }

    /// They are there.
    func drawn(_ result: borrowing PGResult) {
        if result.rowCount > 0 {
            databaseClock.note(sent: drawSent, received: now, microseconds: StoreCalls.drawnAt(result))
        }
        let grants = StoreCalls.grants(result, clock: databaseClock)
        dispatcher.lanes.drawn(grants, now: now)
    }
}
