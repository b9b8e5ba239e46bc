// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobStore
internal import PGClient

// The leader deletes jobs after their retention. It uses a separate session: to scan a partition of a million jobs
// takes seconds, and the leader's other duties go on meanwhile.
extension RunLoop {
    /// Performs the pruning action that is due.
    func prune() {
        switch pruneSchedule.next(isReady: pruning.isReady, now: now) {
        case .none: break
        case .connect: pruning.start(now: now)
        case .step:
            guard let epoch else { return pruneSchedule.failed(now: now) }
            StoreCalls.duty(worker: shared.dispatcher.worker, epoch: epoch, into: &shared.parameters)
            do throws(PGError) {
                try pruning.send(StoreStatement.prune, &shared.parameters, tag: 0)
            } catch {
                // A `lost` event follows.
            }
        case .close: pruning.close()
        }
    }

    func pruningEvent(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .result(_, let result): pruned(result)
        case .failed(_, let error): pruningFailed(error)
        case .lost(let error, _): pruningFailed(error)
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
        if pruneSchedule.stepped(wait: wait, now: now) { pruning.close() }
    }

    private func pruningFailed(_ error: PGError) {
        shared.log(.statementFailed(verb: "prune", error: error))
        pruneSchedule.failed(now: now)
        pruning.close()
    }
}
