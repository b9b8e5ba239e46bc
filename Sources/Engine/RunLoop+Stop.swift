// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// The end: claim no more, let calls end, hand the rest back, say goodbye.
extension RunLoop {
    /// Time to write what is left and to say goodbye, after the drain.
    private static let goodbyeTime: UInt64 = 5_000_000_000
    /// Of which this much is kept for the goodbye: ends that are not concluded by then are left to others.
    private static let timeToSay: UInt64 = 1_000_000_000

    /// A signal: the first begins the drain, a second one ends it at once.
    func stopRequested() {
        guard drainDeadline == nil else {
            drainDeadline = now
            return
        }
        let (seconds, fraction) = configuration.drain.components
        drainDeadline = now + UInt64(seconds) * 1_000_000_000 + UInt64(fraction / 1_000_000_000)
        dispatcher.isDraining = true
        configuration.log(.draining(inFlight: dispatcher.slots.inUse))
        if dispatcher.pickup.isListening { setIdle(false) }
        schedule.beat = 0
    }

    /// Ends the run when everything is written and the goodbye is said, or when time is over.
    func leaveIfDone() {
        guard drainDeadline != nil else { return }
        if isDrainOver && dispatcher.slots.inUse > 0 {
            handBack()
            exchange()
        }
        if let leaveDeadline, now >= leaveDeadline {
            end = jobs.isReady ? .abandoned : .unreachable
            return
        }
        // A token that is on its way may be the only one that works from now on. Once the drain is over nothing is waited for but
        // the goodbye: a server that is alive and silent (a commit that waits for a standby) may never answer the last claim.
        guard isDrainOver || (dispatcher.isQuiet && !credentials.isBusy) else { return }
        if leaveDeadline == nil { leaveDeadline = now + RunLoop.goodbyeTime }
        guard desk.isQuiet || now + RunLoop.timeToSay >= leaveDeadline ?? 0 else { return }
        guard dispatcher.isWritten, !isLeaving, dispatcher.worker > 0, jobs.isReady else { return }
        StoreCalls.worker(dispatcher.worker, into: &parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.leave, &parameters, tag: Tag.leave)
            leaving = dispatcher.worker
        } catch {
            // `lost` follows.
        }
    }

    /// Whether the answer of the goodbye is waited for. If the session is lost meanwhile, nobody knows whether it was stored. In both
    /// cases the enlisting that follows ends its number and takes the lead along, and the new number says goodbye.
    var isLeaving: Bool { leaving == dispatcher.worker }

    /// Whether the time of the drain is over, by itself or by a second signal: no call begins any more.
    var isDrainOver: Bool { drainDeadline.map { now >= $0 } ?? false }

    /// When the end is to be looked at next; nil: when something has happened. A moment gone by is no reason: it would keep the
    /// loop awake for as long as an answer is waited for.
    var stopDue: UInt64? {
        let moments = [drainDeadline, leaveDeadline.map { $0 - RunLoop.timeToSay }, leaveDeadline]
        return moments.compactMap { $0 }.filter { $0 > now }.min()
    }

    /// Cuts off what still runs.
    private func handBack() {
        let running = dispatcher.slots.running
        for (slot, _) in running { dispatcher.callCutOff(slot: slot, sent: agent.cancel(slot: slot), now: now) }
        configuration.log(.handedBack(jobs: running.count))
    }
}
