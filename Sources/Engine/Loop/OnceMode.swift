// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// A worker that runs once: it stops as if by a signal, when no work is left.
final class OnceMode {
    private let shared: SharedState
    private let jobs: Session
    private let duties: DutySession
    private let stop: StopSequence
    private let callbacks: CallbackLoop
    private let credentials: CredentialLoop
    private var check: RunOnceCheck
    /// Whether the database has answered which worker leads.
    private var knowsLeader = false

    /// A worker that has not looked for work yet.
    init(
        _ shared: SharedState, jobs: Session, _ duties: DutySession, _ stop: StopSequence, _ callbacks: CallbackLoop,
        _ credentials: CredentialLoop
    ) {
        self.shared = shared
        self.jobs = jobs
        self.duties = duties
        self.stop = stop
        self.callbacks = callbacks
        self.credentials = credentials
        check = RunOnceCheck(isBound: !shared.configuration.queues.isEmpty)
    }

    private var now: UInt64 { shared.now }

    /// Records that the database has answered which worker leads.
    func leaderIsKnown() { knowsLeader = true }

    /// Records that this worker, as the leader, has made jobs of some queue ready.
    func makesReady() { check.makesReady(now: now) }

    /// Records that a fold has included all changes up to this moment.
    func hasFolded(since moment: UInt64) { check.hasFolded(since: moment) }

    /// Records that the question has failed.
    func askingFailed() { check.askingFailed(now: now) }

    /// Asks which work is left, while this worker is idle.
    func lookForEnd() {
        guard !stop.isRequested else { return }
        guard !isAtWork else { return check.worked(now: now) }
        guard mayAskForEnd else { return check.claims() }
        guard check.asks(now: now) else { return }
        StoreCalls.workLeft(queues: shared.configuration.queues, into: &shared.parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.workLeft, &shared.parameters, tag: Tag.workLeft)
        } catch {
            // A `lost` event follows.
            check.askingFailed(now: now)
        }
    }

    /// When to ask which work is left.
    var deadline: UInt64? {
        guard !stop.isRequested, !isAtWork, mayAskForEnd else { return nil }
        return check.due
    }

    /// Handles the answer about work that is left.
    func workLeftReturned(_ left: String?, leads: Bool) {
        guard !stop.isRequested else { return }
        switch check.answered(left, leads: leads, now: now) {
        case .goOn: break
        case .fold: duties.schedule.watch = now
        case .end: stop.request()
        case .giveUp(let left):
            shared.log(.workLeft(left))
            stop.request()
        }
    }

    /// Whether calls run, or ended attempts are not stored and concluded yet.
    private var isAtWork: Bool {
        shared.dispatcher.slots.inUse > 0 || !shared.dispatcher.writes.isEmpty
            || !callbacks.isQuiet
            || !shared.dispatcher.judging.isEmpty
            || credentials.isBusy
    }

    /// Whether no claim or finish is under way, and this worker leads or knows that another one does.
    private var mayAskForEnd: Bool {
        jobs.isReady && duties.isReady && shared.dispatcher.worker > 0 && shared.dispatcher.isQuiet
            && shared.dispatcher.isWritten
            && knowsLeader
    }
}
