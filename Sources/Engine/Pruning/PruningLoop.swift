// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Deletes jobs after their retention, while this worker leads.
///
/// It uses a separate session: to scan a partition of a million jobs takes seconds, and the leader's other duties go on
/// meanwhile.
final class PruningLoop {
    private let shared: SharedState
    private let session: Session
    private var schedule = PruneSchedule()

    /// A loop of a worker that does not lead.
    init(_ shared: SharedState, _ session: Session) {
        self.shared = shared
        self.session = session
    }

    private var now: UInt64 { shared.now }

    /// When this loop must act, nil if it need not act before an event.
    var deadline: UInt64? { earliest([session.deadline, schedule.deadline(now: now)]) }

    /// Records whether this worker leads.
    func leads(_ leads: Bool) { schedule.leads(leads, now: now) }

    /// Handles all events of the session.
    func handleEvents() {
        while let event = session.next() { handle(event) }
    }

    /// Performs the action that is due.
    ///
    /// - Parameter epoch: the leader's epoch, nil if this worker does not lead.
    func prune(epoch: Int64?) {
        switch schedule.next(isReady: session.isReady, now: now) {
        case .none: break
        case .connect: session.start(now: now)
        case .step:
            guard let epoch else { return schedule.failed(now: now) }
            StoreCalls.duty(worker: shared.dispatcher.worker, epoch: epoch, into: &shared.parameters)
            do throws(PGError) {
                try session.send(StoreStatement.prune, &shared.parameters, tag: 0)
            } catch {
                // A `lost` event follows.
            }
        case .close: session.close()
        }
    }

    private func handle(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .result(_, let result): pruned(result)
        case .failed(_, let error): failed(error)
        case .lost(let error, _): failed(error)
        default: break
        }
    }

    private func pruned(_ result: borrowing PGResult) {
        let jobs = result.int64(0, PruneColumn.jobs)
        if let range = result.optionalText(0, PruneColumn.dropped) {
            shared.log(.rangePruned(range, jobs: Int(jobs)))
        } else if jobs > 0 {
            shared.log(.pruned(jobs: Int(jobs)))
        }
        let wait =
            result.optionalInt64(0, PruneColumn.waitMs).map { UInt64(max(0, $0)) * 1_000_000 } ?? PruneSchedule.rest
        if schedule.stepped(wait: wait, now: now) { session.close() }
    }

    private func failed(_ error: PGError) {
        shared.log(.statementFailed(verb: "prune", error: error))
        schedule.failed(now: now)
        session.close()
    }
}
