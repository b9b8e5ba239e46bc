// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// What this worker does for credentials beside its calls: it looks for secrets to seal, and makes one refresh at a time. Pure.
///
/// ```
///  look ─► [task] ─► the token's call ─► read its answer ─► store ─► look
/// ```
/// A refresh is written down in the database before it begins. If this worker dies on the way, or is cut off for longer than
/// the lease, another one begins anew, and what this one still says is held against its epoch.
struct CredentialDesk {
    /// How far the refresh under way is.
    enum Step {
        case none
        /// The token endpoint is being called.
        case calling(TokenTask, Secrets)
        /// The database is to read, or reads, the answer.
        case reading(TokenTask, Secrets, HTTPResponse)
        /// The database is to store, or stores, what became of it.
        case storing(TokenTask, TokenAnswer)
    }

    /// While jobs with credentials are seen.
    static let interval: UInt64 = 1_000_000_000
    /// While none is; news come at once all the same.
    static let longInterval: UInt64 = 5_000_000_000

    private(set) var step = Step.none
    /// When to look again.
    private(set) var lookDue: UInt64 = 0
    /// Whether credentials are in use at all.
    private(set) var isUsed = false
    /// Secrets that are sealed and to be given back, under their version.
    private(set) var sealed: [(credential: String, version: Int64, sealed: [UInt8])] = []
    private var hasNews = false
    /// No statement about the refresh before this moment, after one failed.
    private(set) var restUntil: UInt64 = 0
    private var failures = 0

    /// Whether a refresh is under way: it should not be left alone, since its token may be the only one that works.
    var isBusy: Bool { if case .none = step { false } else { true } }

    /// News, or a job with a credential.
    mutating func use() { isUsed = true }

    /// The database says that there is something to do.
    mutating func heard(now: UInt64) {
        lookDue = now
        hasNews = true
    }

    /// A look is sent.
    mutating func lookBegins(now: UInt64) {
        hasNews = false
        lookDue = now + (isUsed ? CredentialDesk.interval : CredentialDesk.longInterval)
    }

    /// A look's answer is there; news that came meanwhile may not be in it.
    mutating func looked(foundAny: Bool, now: UInt64) {
        if foundAny {
            if !isUsed { lookDue = min(lookDue, now + CredentialDesk.interval) }
            isUsed = true
        }
        if hasNews { lookDue = now }
    }

    /// Secrets were sealed here.
    mutating func haveSealed(_ credential: String, _ version: Int64, _ bytes: [UInt8]) {
        sealed.append((credential, version, bytes))
    }

    /// The next sealed secrets to give back.
    mutating func nextSealed() -> (credential: String, version: Int64, sealed: [UInt8])? {
        sealed.isEmpty ? nil : sealed.removeFirst()
    }

    /// The token endpoint is called now.
    mutating func callBegins(_ task: TokenTask, _ secrets: Secrets) { step = .calling(task, secrets) }

    /// A refresh ended before its call.
    mutating func refreshEnded(_ task: TokenTask, _ answer: TokenAnswer) { step = .storing(task, answer) }

    /// The call has ended.
    mutating func callEnded(_ outcome: CallOutcome) {
        guard case .calling(let task, let secrets) = step else { return }
        switch outcome.ending {
        case .response(let response): step = .reading(task, secrets, response)
        case .failure(let failure):
            step = .storing(
                task, TokenAnswer(.failed, reason: "the token endpoint could not be called: \(failure.message)"))
        }
    }

    /// The database has read the answer. What a server does not give anew stays as it was.
    mutating func answerRead(
        _ kind: TokenAnswer.Kind, token: String?, refreshToken: String?, expiresIn: Int32?, reason: String?
    ) {
        guard case .reading(let task, var secrets, let response) = step else { return }
        if let token { secrets["access_token"] = token }
        if let refreshToken { secrets["refresh_token"] = refreshToken }
        step = .storing(
            task,
            TokenAnswer(
                kind, secrets: kind == .fetched ? secrets : nil, expiresIn: expiresIn, wait: response.retryAfter,
                reason: reason))
    }

    /// A statement about the refresh was refused: it is sent again, since the token may be the only one that works. After ten
    /// times it is given up; the lease has ended by then, and the refresh begins anew.
    mutating func statementFailed(now: UInt64) {
        failures += 1
        restUntil = now + CredentialDesk.interval
        if failures >= 10 { stored() }
    }

    /// What became of it is stored.
    mutating func stored() {
        step = .none
        failures = 0
    }
}
