// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

/// The end of a worker: it stops claiming, lets calls end, hands the other jobs back, and signs off.
final class StopSequence {
    private let shared: SharedState
    private let duties: DutySession
    private let jobs: Session
    private var shutdown = Shutdown()
    /// How the run has ended; nil: it goes on.
    private var end: EngineEnd?
    /// Why the worker stops, if not by a signal or for want of work.
    private var reason: EngineEnd?

    /// A worker that goes on.
    init(_ shared: SharedState, duties: DutySession, jobs: Session) {
        self.shared = shared
        self.duties = duties
        self.jobs = jobs
    }

    /// Whether a stop was requested.
    var isRequested: Bool { shutdown.isRequested }

    /// The next deadline of the stop, nil if none lies ahead.
    var deadline: UInt64? { shutdown.due(now: now) }

    private var now: UInt64 { shared.now }

    /// Whether the run has ended.
    var hasEnded: Bool { end != nil }

    /// How the run has ended.
    var result: EngineEnd { reason ?? end ?? .clean }

    /// Ends the run after this turn.
    func endRun(_ end: EngineEnd) { self.end = end }

    /// Stops the worker because of a reason, as if by a signal.
    func request(because reason: EngineEnd) {
        self.reason = reason
        if !isRequested { request() }
    }

    /// Handles a signal. The first one begins the drain, a second one ends the drain at once.
    func request() {
        guard !shutdown.isRequested else {
            shutdown.drainDeadline = now
            return
        }
        let (seconds, fraction) = shared.configuration.drain.components
        shutdown.drainDeadline = now + UInt64(seconds) * 1_000_000_000 + UInt64(fraction / 1_000_000_000)
        shared.dispatcher.drain()
        shared.log(.draining(inFlight: shared.dispatcher.slots.inUse))
        if shared.dispatcher.claims.isListening { duties.setIdle(false) }
        duties.schedule.beat = 0
    }

    /// Cuts off the calls that still run after the drain, and hands their jobs back.
    ///
    /// - Returns: whether there was such a call, or an answer that was not judged.
    func handBackIfDue() -> Bool {
        guard isDrainOver, shared.dispatcher.slots.inUse > 0 || !shared.dispatcher.judging.isEmpty else { return false }
        let running = shared.dispatcher.slots.running
        for (slot, _) in running {
            shared.dispatcher.callCutOff(slot: slot, sent: shared.agent.cancel(slot: slot), now: now)
        }
        let unjudged = shared.dispatcher.judging.count
        shared.dispatcher.giveUpJudging(now: now)
        shared.log(.handedBack(jobs: running.count + unjudged))
        return true
    }

    /// Ends the run when all results are written and the worker has signed off, or when the time is over.
    ///
    /// - Parameters:
    ///   - refreshes: whether a refresh is under way.
    ///   - concludes: whether ended jobs wait for their callbacks.
    ///   - writesSpans: whether the last spans wait for the collector. It is asked only when nothing else is left.
    func leaveIfDone(refreshes: Bool, concludes: Bool, writesSpans: () -> Bool) {
        guard shutdown.isRequested else { return }
        if shutdown.isOverdue(now: now) {
            end = jobs.isReady ? .abandoned : .unreachable
            return
        }
        // The worker waits for a refresh under way, since its token may be the only valid one.
        //
        // After the drain it waits only for its sign-off. A server that is alive and silent, such as one whose commit
        // waits for a standby, may never answer the last claim.
        guard isDrainOver || (shared.dispatcher.isQuiet && !refreshes) else { return }
        shutdown.drained(now: now)
        guard !concludes || shutdown.mustLeaveNow(now: now) else { return }
        guard shared.dispatcher.isWritten, !isLeaving, shared.dispatcher.worker > 0, jobs.isReady else { return }
        guard shutdown.mustLeaveNow(now: now) || !writesSpans() else { return }
        StoreCalls.worker(shared.dispatcher.worker, into: &shared.parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.leave, &shared.parameters, tag: Tag.leave)
            shutdown.leaving = shared.dispatcher.worker
        } catch {
            // A `lost` event follows.
        }
    }

    /// Whether the answer to the sign-off is awaited.
    ///
    /// If the session is lost meanwhile, the worker does not know whether the sign-off was stored. In both cases the
    /// next enlisting ends the old number and takes over the lead. The worker then signs off with the new number.
    var isLeaving: Bool { shutdown.leaving == shared.dispatcher.worker }

    /// Whether the drain is over, by its timeout or by a second signal. No call begins after that.
    var isDrainOver: Bool { shutdown.isDrainOver(now: now) }
}
