// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import SecretSealing

/// Inserts secrets into calls, seals secrets that SQL has set, and fetches tokens.
///
/// Its statements are duties. Token calls have their own slots after the slots of jobs, so they do not wait for jobs.
final class CredentialLoop {
    private let shared: SharedState
    private let duties: DutySession
    private var work = CredentialWork()

    /// A loop without credential work.
    init(_ shared: SharedState, duties: DutySession) {
        self.shared = shared
        self.duties = duties
    }

    private var now: UInt64 { shared.now }

    /// Whether a refresh is under way.
    var isBusy: Bool { work.isBusy }

    /// Records a job with a credential.
    func use() { work.use() }

    /// Handles a notification that the database has credential work.
    func workAnnounced() { work.workAnnounced(now: now) }

    /// Records how the call of a token endpoint has ended.
    func callEnded(slot: Int, _ outcome: CallOutcome) { work.callEnded(slot - shared.firstTokenSlot, outcome) }

    /// Handles a failed credential statement.
    func dutyFailed(_ duty: Duty) {
        if duty == .readRefreshAnswer { work.readingFailed(now: now) }
        if duty == .storeRefresh { work.storingFailed(now: now) }
    }

    /// Sends the credential statements that are due on the duties session.
    func sendDuties(_ worker: Int32) {
        if now >= work.lookDue, !shared.dispatcher.isDraining, !duties.awaits(.credentials) {
            work.lookBegins(isStandingBy: shared.dispatcher.claims.isStandingBy, now: now)
            StoreCalls.nextCredentialTasks(
                worker: worker, hasKey: shared.configuration.secretKeys != nil,
                canRefresh: work.hasFreeSeat && !shared.configuration.makesNoCalls,
                except: work.ignoredCredentials(now: now), into: &shared.parameters)
            duties.send(.credentials, StoreStatement.nextCredentialTasks)
        }
        if !duties.awaits(.storeSealedSecrets), let (name, version, sealed) = work.nextSealed() {
            StoreCalls.storeSealedSecrets(name, version: version, sealed, into: &shared.parameters)
            duties.send(.storeSealedSecrets, StoreStatement.storeSealedSecrets)
        }
        if !duties.awaits(.readRefreshAnswer), let (task, response) = work.nextToRead(now: now) {
            StoreCalls.readRefreshAnswer(task.credential, response, into: &shared.parameters)
            duties.send(.readRefreshAnswer, StoreStatement.readRefreshAnswer)
        }
        if !duties.awaits(.storeRefresh), let (task, answer) = work.nextToStore(now: now) {
            let sealed = answer.secrets.flatMap { shared.configuration.secretKeys?.seal($0, for: task.credential) }
            StoreCalls.storeRefresh(task, answer, sealed: sealed, into: &shared.parameters)
            duties.send(.storeRefresh, StoreStatement.storeRefresh)
        }
    }

    /// Handles the answer of a credential statement. The database checks a refresh by its epoch, not by the worker's
    /// number.
    func dutyDone(_ duty: Duty, _ result: borrowing PGResult) {
        switch duty {
        case .credentials:
            var foundRefresh = false
            for row in 0..<result.rowCount {
                let task = CredentialReader.task(result, row)
                if case .refresh = task { foundRefresh = true }
                begin(task)
            }
            work.lookReturned(foundAny: result.rowCount > 0, foundRefresh: foundRefresh, now: now)
        case .readRefreshAnswer:
            work.answerRead(
                TokenAnswer.Kind(rawValue: result.text(0, RefreshAnswerColumn.verdict)) ?? .failed,
                token: result.optionalText(0, RefreshAnswerColumn.accessToken),
                refreshToken: result.optionalText(0, RefreshAnswerColumn.refreshToken),
                expiresIn: result.isNull(0, RefreshAnswerColumn.expiresIn)
                    ? nil : result.int32(0, RefreshAnswerColumn.expiresIn),
                reason: result.optionalText(0, RefreshAnswerColumn.error))
        case .storeRefresh:
            // Null: an open transaction has locked the credential's row. False: this refresh is out of date.
            guard !result.isNull(0, PGValueColumn.value) else { return work.storingPostponed(now: now) }
            guard let (task, answer) = work.stored() else { return }
            if !result.bool(0, PGValueColumn.value) {
                shared.log(.refreshLate(credential: task.credential))
            } else if answer.kind == .fetched {
                shared.log(.tokenRefreshed(credential: task.credential, version: task.version + 1))
            } else {
                shared.log(
                    .refreshFailed(
                        credential: task.credential, isFinal: answer.kind == .refused, reason: answer.reason ?? ""))
            }
            work.workAnnounced(now: now)
        default: break
        }
    }

    /// When the next credential statement is due. Nil if none is due before an event.
    var deadline: UInt64? {
        let look = shared.dispatcher.isDraining || duties.awaits(.credentials) ? nil : work.lookDue
        let statement = work.statementDue(
            canRead: !duties.awaits(.readRefreshAnswer), canStore: !duties.awaits(.storeRefresh))
        return earliest([look, statement])
    }

    /// Seals secrets, or starts the call that refreshes a token.
    private func begin(_ task: CredentialReader.Task) {
        switch task {
        case .seal(let name, let version, let secrets):
            guard let keys = shared.configuration.secretKeys else { return }
            work.secretsSealed(name, version, keys.seal(secrets, for: name))
        case .refresh(let task):
            let secrets = open(task.sealed, task.plain, for: task.credential)
            guard let secrets else { return work.openingFailed(task, now: now) }
            do throws(TokenTask.Missing) {
                var call = try task.call(with: secrets)
                if shared.configuration.allowsPrivateNetwork { call.allowsPrivateNetwork = true }
                guard let seat = work.callBegins(task, secrets) else { return }
                shared.agent.start(call, slot: shared.firstTokenSlot + seat)
            } catch {
                let reason = "the refresh needs the secret \(error.name), which is missing"
                work.refreshEnded(task, TokenAnswer(.refused, reason: reason))
            }
        }
    }

    /// The secrets of a credential. Nil if no key of this worker opens them.
    private func open(_ sealed: [UInt8]?, _ plain: Secrets?, for credential: String) -> Secrets? {
        if let sealed { return shared.configuration.secretKeys?.open(sealed, for: credential) }
        return plain
    }

    /// Inserts the job's login into a call.
    ///
    /// - Returns: nil, or why the call cannot be made. It is never made without its login.
    func logIn(_ call: inout HTTPCall, with use: CredentialUse) -> Verdict? {
        if use.name.isEmpty {
            return Verdict(
                .failed, .config,
                "the job needs a login, but neither it nor its service names a credential; set services.credential and retry the job"
            )
        }
        // Also true if the database has no credential at all, because `prepare` then does not look the name up.
        guard !use.isGone else {
            return Verdict(
                .failed, .config,
                "credential \(use.name) no longer exists; insert it again, log in and retry the job")
        }
        guard use.sealed != nil || use.plain != nil else {
            return Verdict(.failed, .notLoggedIn, "credential \(use.name) is logged off; log in and retry the job")
        }
        guard let secrets = open(use.sealed, use.plain, for: use.name) else {
            let reason =
                shared.configuration.secretKeys == nil
                ? "this worker has no key to open secrets with; start it with POSTRIDER_SECRET_KEY and retry the job"
                : "no key of this worker opens credential \(use.name); start it with the key that sealed it, or log in again, and retry"
            return Verdict(.failed, .config, reason)
        }
        return call.logIn(with: use, secrets)
    }
}
