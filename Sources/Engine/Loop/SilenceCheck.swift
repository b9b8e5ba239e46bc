// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient
internal import Reactor

/// Ends a session that is silent although its connection stands.
///
/// Its backend hangs, or a proxy or pooler has lost its connection to the server. No timeout of the server ends that.
///
/// So each answer has a limit here, a little above its `statement_timeout`. Long before that limit, the other session
/// asks for the state of the silent backend. A backend that waits for a statement will never send the answer. So the
/// worker reconnects before other workers declare it lost, and its jobs go on within 15 s.
final class SilenceCheck {
    private let shared: SharedState
    private let jobs: Session
    private let duties: DutySession
    private var jobsSilence = SessionSilence()
    private var dutiesSilence = SessionSilence()

    /// A check that has asked nothing.
    init(_ shared: SharedState, jobs: Session, _ duties: DutySession) {
        self.shared = shared
        self.jobs = jobs
        self.duties = duties
    }

    private var now: UInt64 { shared.now }

    /// When to ask about a silent session. Nil if none is silent.
    var deadline: UInt64? {
        guard shared.configuration.usesSessions, jobs.isReady, duties.isReady else { return nil }
        let moments = [
            jobsSilence.due(silentSince: jobs.silentSince), dutiesSilence.due(silentSince: duties.session.silentSince),
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Lets one session ask for the state of the other one's backend.
    func check() {
        guard let due = deadline, now >= due else { return }
        let (areJobsSilent, areDutiesSilent) = (isSilent(jobs.silentSince), isSilent(duties.session.silentSince))
        if jobsSilence.asks(silentSince: jobs.silentSince, now: now) {
            if !areDutiesSilent, SilenceCheck.hasArrived(jobs.interest) {
                StoreCalls.session(jobs.processID, into: &shared.parameters)
                duties.send(.askAfterJobs, StoreStatement.idleProcess)
            }
        }
        if dutiesSilence.asks(silentSince: duties.session.silentSince, now: now) {
            if !areJobsSilent, SilenceCheck.hasArrived(duties.session.interest) {
                StoreCalls.session(duties.session.processID, into: &shared.parameters)
                do throws(PGError) {
                    try jobs.send(StoreStatement.idleProcess, &shared.parameters, tag: Tag.askAfterDuties)
                } catch {
                    // A `lost` event follows. The limit of the answer still holds.
                }
            }
        }
    }

    /// Ends the jobs session if its backend waits for a statement. Then the result has a row.
    func jobsIdle(_ result: borrowing PGResult) {
        guard result.rowCount > 0, result.int32(0, PGValueColumn.value) == jobs.processID, isSilent(jobs.silentSince)
        else { return }
        jobs.giveUp(SilenceCheck.reason, now: now)
    }

    /// Ends the duties session if its backend waits for a statement. Then the result has a row.
    func dutiesIdle(_ result: borrowing PGResult) {
        guard result.rowCount > 0, result.int32(0, PGValueColumn.value) == duties.session.processID,
            isSilent(duties.session.silentSince)
        else { return }
        duties.session.giveUp(SilenceCheck.reason, now: now)
    }

    private static let reason = "the server is idle and does not answer the statements that were sent"

    private func isSilent(_ since: UInt64?) -> Bool { SessionSilence.isSilent(since: since, now: now) }

    /// Whether the server's TCP stack has confirmed all sent bytes.
    private static func hasArrived(_ interest: PGSessionInterest?) -> Bool {
        guard let interest, !interest.write else { return false }
        return Descriptor.unconfirmedBytes(of: interest.descriptor) == 0
    }
}
