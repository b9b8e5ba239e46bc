// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

// A worker that runs once stops as if by a signal, when no work is left.
extension RunLoop {
    /// Asks which work is left, while this worker is idle.
    func lookForEnd() {
        guard var check = once, !stop.isRequested else { return }
        defer { once = check }
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
    var onceDue: UInt64? {
        guard let once, !stop.isRequested, !isAtWork, mayAskForEnd else { return nil }
        return once.due
    }

    /// Handles the answer about work that is left.
    func workLeftReturned(_ left: String?) {
        guard !stop.isRequested, let decision = once?.answered(left, leads: epoch != nil, now: now) else { return }
        switch decision {
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
            || !callbackWork.isQuiet
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
