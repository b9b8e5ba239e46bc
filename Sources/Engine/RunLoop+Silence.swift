// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient
internal import Reactor

// A session may fall silent though its connection stands: its backend hangs, or a proxy or pooler in between has lost the other
// leg. No limit of the server's ends that. Each statement's answer has a limit here, a little above its `statement_timeout`; and
// long before, the other session asks what the backend does. One that waits for a statement, while its worker waits for an
// answer, will never give it. So the worker is heard again before others take it for lost, and its jobs go on within 15 s.
extension RunLoop {
    /// 3 s without a byte of an answer: then the other session asks, and again after each 3 s more.
    private static let silence: UInt64 = 3_000_000_000

    /// When a silent session is to be asked after; nil: not before something happens.
    var silenceDue: UInt64? {
        guard configuration.usesSessions, jobs.isReady, duties.isReady else { return nil }
        let moments = [
            jobs.silentSince.map { max($0 + RunLoop.silence, jobsQuestionDue) },
            duties.silentSince.map { max($0 + RunLoop.silence, dutiesQuestionDue) },
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Has one session ask after the other.
    func mindSilence() {
        guard let due = silenceDue, now >= due else { return }
        let (jobsSilent, dutiesSilent) = (isSilent(jobs.silentSince), isSilent(duties.silentSince))
        if jobsSilent, now >= jobsQuestionDue {
            jobsQuestionDue = now + RunLoop.silence
            if !dutiesSilent, RunLoop.hasArrived(jobs.interest) {
                StoreCalls.session(jobs.processID, into: &parameters)
                send(.askAfterJobs, StoreStatement.idleProcess)
            }
        }
        if dutiesSilent, now >= dutiesQuestionDue {
            dutiesQuestionDue = now + RunLoop.silence
            if !jobsSilent, RunLoop.hasArrived(duties.interest) {
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

    private func isSilent(_ since: UInt64?) -> Bool { since.map { now >= $0 + RunLoop.silence } ?? false }

    /// Whether nothing of what was sent is still on a slow way to the server.
    private static func hasArrived(_ interest: PGSessionInterest?) -> Bool {
        guard let interest, !interest.write else { return false }
        return Descriptor.unconfirmedBytes(of: interest.descriptor) == 0
    }
}
