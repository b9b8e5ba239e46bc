// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// The end: claim no more, let calls end, hand the rest back, say goodbye.
extension RunLoop {
    /// A signal: the first begins the drain, a second one ends it at once.
    func stopRequested() {
        guard !shutdown.isRequested else {
            shutdown.drainDeadline = now
            return
        }
        let (seconds, fraction) = configuration.drain.components
        shutdown.drainDeadline = now + UInt64(seconds) * 1_000_000_000 + UInt64(fraction / 1_000_000_000)
        dispatcher.isDraining = true
        configuration.log(.draining(inFlight: dispatcher.slots.inUse))
        if dispatcher.pickup.isListening { setIdle(false) }
        schedule.beat = 0
    }

    /// Ends the run when everything is written and the goodbye is said, or when time is over.
    func leaveIfDone() {
        guard shutdown.isRequested else { return }
        if isDrainOver && (dispatcher.slots.inUse > 0 || !dispatcher.judging.isEmpty) {
            handBack()
            exchange()
        }
        if shutdown.isOverdue(now: now) {
            end = jobs.isReady ? .abandoned : .unreachable
            return
        }
        // A token that is on its way may be the only one that works from now on. Once the drain is over nothing is
        // waited for but the goodbye: a server that is alive and silent (a commit that waits for a standby) may never
        // answer the last claim.
        guard isDrainOver || (dispatcher.isQuiet && !credentials.isBusy) else { return }
        shutdown.drained(now: now)
        guard callbackWork.isQuiet || shutdown.goodbyePresses(now: now) else { return }
        guard dispatcher.isWritten, !isLeaving, dispatcher.worker > 0, jobs.isReady else { return }
        StoreCalls.worker(dispatcher.worker, into: &parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.leave, &parameters, tag: Tag.leave)
            shutdown.leaving = dispatcher.worker
        } catch {
            // `lost` follows.
        }
    }

    /// Whether the answer of the goodbye is waited for. If the session is lost meanwhile, nobody knows whether it was
    /// stored. In both cases the enlisting that follows ends its number and takes the lead along, and the new number
    /// says goodbye.
    var isLeaving: Bool { shutdown.leaving == dispatcher.worker }

    /// Whether the time of the drain is over, by itself or by a second signal: no call begins any more.
    var isDrainOver: Bool { shutdown.isDrainOver(now: now) }

    /// Cuts off what still runs.
    private func handBack() {
        let running = dispatcher.slots.running
        for (slot, _) in running { dispatcher.callCutOff(slot: slot, sent: agent.cancel(slot: slot), now: now) }
        let unjudged = dispatcher.judging.count
        dispatcher.giveUpJudging(now: now)
        configuration.log(.handedBack(jobs: running.count + unjudged))
    }
}
