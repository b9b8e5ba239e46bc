// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// What this worker does for credentials beside its calls: it looks for secrets to seal, and makes refreshes, several
/// at a time. Pure.
///
/// ```
///  look ─► [task] ─► the token's call ─► read its answer ─► store ─► look
/// ``` A refresh is written down in the database before it begins. If this worker dies on the way, or is cut off for
/// longer than the lease, another one begins anew, and what this one still says is held against its epoch.
///
/// Each refresh has a seat of its own: a token endpoint that does not answer holds up no other. Its answers are read
/// and stored one after the other.
struct CredentialWork {
    /// How far a refresh is.
    enum Step {
        case none
        /// The token endpoint is being called.
        case calling(TokenTask, Secrets)
        /// The database is to read, or reads, the answer.
        case reading(TokenTask, Secrets, HTTPResponse)
        /// The database is to store, or stores, what became of it.
        case storing(TokenTask, TokenAnswer)
    }

    private struct Seat {
        var step = Step.none
        /// No statement about it before this moment, after one failed.
        var restUntil: UInt64 = 0
        var failures = 0

        var isFree: Bool { if case .none = step { true } else { false } }
        var isReading: Bool { if case .reading = step { true } else { false } }
        var isStoring: Bool { if case .storing = step { true } else { false } }
    }

    /// How many refreshes at once.
    static let seatCount = 4
    /// While jobs with credentials are seen.
    static let interval: UInt64 = 1_000_000_000
    /// While none is; news come at once all the same.
    static let longInterval: UInt64 = 5_000_000_000
    /// Between two tries to store a token while somebody's open transaction has the credential's row.
    static let lockedInterval: UInt64 = 250_000_000
    /// How long a credential whose secrets no key here opens is left to others.
    static let unopenedInterval: UInt64 = 30_000_000_000

    private var seats = [Seat](repeating: Seat(), count: CredentialWork.seatCount)
    /// The seats whose statements are under way, or were the last.
    private var reader = 0
    private var storer = 0
    /// When to look again.
    private(set) var lookDue: UInt64 = 0
    /// Whether credentials are in use at all.
    private(set) var isUsed = false
    /// Secrets that are sealed and to be given back, under their version.
    private(set) var sealed: [(credential: String, version: Int64, sealed: [UInt8])] = []
    private var hasNews = false
    private var unopened: [String: UInt64] = [:]

    /// Whether a refresh is under way: it should not be left alone, since its token may be the only one that works.
    var isBusy: Bool { seats.contains { !$0.isFree } }

    /// Whether another refresh can begin.
    var hasFreeSeat: Bool { seats.contains { $0.isFree } }

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
        lookDue = now + (isUsed ? CredentialWork.interval : CredentialWork.longInterval)
    }

    /// A look's answer is there; news that came meanwhile may not be in it, and a look brings one refresh at most.
    mutating func looked(foundAny: Bool, foundRefresh: Bool, now: UInt64) {
        if foundAny {
            if !isUsed { lookDue = min(lookDue, now + CredentialWork.interval) }
            isUsed = true
        }
        if hasNews || foundRefresh && hasFreeSeat { lookDue = now }
    }

    /// Secrets were sealed here.
    mutating func haveSealed(_ credential: String, _ version: Int64, _ bytes: [UInt8]) {
        sealed.append((credential, version, bytes))
    }

    /// The next sealed secrets to give back.
    mutating func nextSealed() -> (credential: String, version: Int64, sealed: [UInt8])? {
        sealed.isEmpty ? nil : sealed.removeFirst()
    }

    /// No key here opens the secrets: the refresh is given back, and the credential left to others for a while.
    mutating func couldNotOpen(_ task: TokenTask, now: UInt64) {
        unopened[task.credential] = now + CredentialWork.unopenedInterval
        let reason =
            "no key of the worker that took it opens the secrets; give all workers the one that they were sealed with"
        refreshEnded(task, TokenAnswer(.handedBack, reason: reason))
    }

    /// Credentials that others are to refresh.
    mutating func leftToOthers(now: UInt64) -> [String] {
        unopened = unopened.filter { $0.value > now }
        return Array(unopened.keys)
    }

    /// The token endpoint is called now; the seat, or nil if there is none: the lease ends, and the refresh begins
    /// anew.
    mutating func callBegins(_ task: TokenTask, _ secrets: Secrets) -> Int? {
        guard let seat = seats.firstIndex(where: { $0.isFree }) else { return nil }
        seats[seat] = Seat(step: .calling(task, secrets))
        return seat
    }

    /// A refresh ended before its call.
    mutating func refreshEnded(_ task: TokenTask, _ answer: TokenAnswer) {
        guard let seat = seats.firstIndex(where: { $0.isFree }) else { return }
        seats[seat] = Seat(step: .storing(task, answer))
    }

    /// The call has ended.
    mutating func callEnded(_ seat: Int, _ outcome: CallOutcome) {
        guard seats.indices.contains(seat), case .calling(let task, let secrets) = seats[seat].step else { return }
        switch outcome.ending {
        case .response(let response): seats[seat].step = .reading(task, secrets, response)
        case .failure(let failure):
            seats[seat].step = .storing(
                task, TokenAnswer(.failed, reason: "the token endpoint could not be called: \(failure.message)"))
        }
    }

    /// The next answer that the database is to read.
    mutating func nextToRead(now: UInt64) -> (TokenTask, HTTPResponse)? {
        guard let seat = seats.firstIndex(where: { $0.isReading && $0.restUntil <= now }),
            case .reading(let task, _, let response) = seats[seat].step
        else { return nil }
        reader = seat
        return (task, response)
    }

    /// The next end that the database is to store.
    mutating func nextToStore(now: UInt64) -> (TokenTask, TokenAnswer)? {
        guard let seat = seats.firstIndex(where: { $0.isStoring && $0.restUntil <= now }),
            case .storing(let task, let answer) = seats[seat].step
        else { return nil }
        storer = seat
        return (task, answer)
    }

    /// When a statement about a refresh is due; nil: none is to be sent.
    ///
    /// - Parameters:
    ///   - canRead: whether no answer is being read.
    ///   - canStore: whether no end is being stored.
    func statementDue(canRead: Bool, canStore: Bool) -> UInt64? {
        seats.filter { canRead && $0.isReading || canStore && $0.isStoring }.map(\.restUntil).min()
    }

    /// The database has read the answer. What a server does not give anew stays as it was.
    mutating func answerRead(
        _ kind: TokenAnswer.Kind, token: String?, refreshToken: String?, expiresIn: Int32?, reason: String?
    ) {
        guard case .reading(let task, var secrets, let response) = seats[reader].step else { return }
        // A token endpoint may repeat what it was sent.
        let reason = reason.map(secrets.masked)
        if let token { secrets["access_token"] = token }
        if let refreshToken { secrets["refresh_token"] = refreshToken }
        seats[reader].step = .storing(
            task,
            TokenAnswer(
                kind, secrets: kind == .fetched ? secrets : nil, expiresIn: expiresIn, wait: response.retryAfter,
                reason: reason))
    }

    /// The statement that was to read an answer was refused; it is sent again.
    mutating func readingFailed(now: UInt64) { statementFailed(reader, now: now) }

    /// The same of the one that was to store an end.
    mutating func storingFailed(now: UInt64) { statementFailed(storer, now: now) }

    /// It is sent again, since the token may be the only one that works. After ten times it is given up; the lease has
    /// ended by then, and the refresh begins anew.
    private mutating func statementFailed(_ seat: Int, now: UInt64) {
        seats[seat].failures += 1
        seats[seat].restUntil = now + CredentialWork.interval
        if seats[seat].failures >= 10 { seats[seat] = Seat() }
    }

    /// Somebody's open transaction has the credential's row: the end is kept here for as long as that takes.
    mutating func storingPostponed(now: UInt64) { seats[storer].restUntil = now + CredentialWork.lockedInterval }

    /// What became of it is stored.
    ///
    /// - Returns: what it was.
    mutating func stored() -> (TokenTask, TokenAnswer)? {
        guard case .storing(let task, let answer) = seats[storer].step else { return nil }
        seats[storer] = Seat()
        return (task, answer)
    }
}
