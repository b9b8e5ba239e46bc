// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient
internal import Reactor

// A session may fall silent though its connection stands: its backend hangs, or a proxy or pooler in between has lost
// the other leg. No limit of the server's ends that. Each statement's answer has a limit here, a little above its
// `statement_timeout`; and long before, the other session asks what the backend does. One that waits for a statement,
// while its worker waits for an answer, will never give it. So the worker is heard again before others take it for
// lost, and its jobs go on within 15 s.
extension RunLoop {
    /// When a silent session is to be asked after; nil: not before something happens.
    var silenceDue: UInt64? {
        guard configuration.usesSessions, jobs.isReady, duties.isReady else { return nil }
        let moments = [
            jobsSilence.due(silentSince: jobs.silentSince), dutiesSilence.due(silentSince: duties.silentSince),
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Has one session ask after the other.
    func mindSilence() {
        guard let due = silenceDue, now >= due else { return }
        let (areJobsSilent, areDutiesSilent) = (isSilent(jobs.silentSince), isSilent(duties.silentSince))
        if jobsSilence.asks(silentSince: jobs.silentSince, now: now) {
            if !areDutiesSilent, RunLoop.hasArrived(jobs.interest) {
                StoreCalls.session(jobs.processID, into: &parameters)
                send(.askAfterJobs, StoreStatement.idleProcess)
            }
        }
        if dutiesSilence.asks(silentSince: duties.silentSince, now: now) {
            if !areJobsSilent, RunLoop.hasArrived(duties.interest) {
                StoreCalls.session(duties.processID, into: &parameters)
                do throws(PGError) {
                    try jobs.send(StoreStatement.idleProcess, &parameters, tag: Tag.askAfterDuties)
                } catch {
                    // `lost` follows; the limit of the answer is left.
                }
            }
        }
    }

    /// The backend of the jobs session waits for a statement, if there is a row.
    func jobsIdle(_ result: borrowing PGResult) {
        guard result.rowCount > 0, result.int32(0, 0) == jobs.processID, isSilent(jobs.silentSince) else { return }
        jobs.giveUp(RunLoop.reason, now: now)
    }

    /// The backend of the duties session waits for a statement, if there is a row.
    func dutiesIdle(_ result: borrowing PGResult) {
        guard result.rowCount > 0, result.int32(0, 0) == duties.processID, isSilent(duties.silentSince) else { return }
        duties.giveUp(RunLoop.reason, now: now)
    }

    private static let reason = "the server waits for statements that were sent to it, and does not answer them"

    private func isSilent(_ since: UInt64?) -> Bool { SessionSilence.isSilent(since: since, now: now) }

    /// Whether nothing of what was sent is still on a slow way to the server.
    private static func hasArrived(_ interest: PGSessionInterest?) -> Bool {
        guard let interest, !interest.write else { return false }
        return Descriptor.unconfirmedBytes(of: interest.descriptor) == 0
    }
}
