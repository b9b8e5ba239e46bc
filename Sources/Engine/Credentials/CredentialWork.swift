// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The credential work of this worker: it seals secrets and refreshes tokens, several at a time. Pure.
///
/// ```
///  look ─► [task] ─► the token's call ─► read its answer ─► store ─► look
/// ```
/// A *look* asks the database for credential work.
///
/// The database records a refresh before it begins. If the worker dies, or loses its connection for longer than the
/// lease, another worker starts a new refresh. The database then drops the late result of the first one by its epoch.
///
/// Each refresh has its own seat, so a token endpoint that does not answer delays no other refresh. The database reads
/// and stores the answers one after the other.
struct CredentialWork {
    /// The state of a refresh.
    enum Step {
        case none
        /// The token endpoint is being called.
        case calling(TokenTask, Secrets)
        /// The database reads the answer, or is about to.
        case reading(TokenTask, Secrets, HTTPResponse)
        /// The database stores the result, or is about to.
        case storing(TokenTask, TokenAnswer)
    }

    private struct Seat {
        var step = Step.none
        /// After a failure no statement about this refresh is sent before this moment.
        var restUntil: UInt64 = 0
        var failures = 0

        var isFree: Bool { if case .none = step { true } else { false } }
        var isReading: Bool { if case .reading = step { true } else { false } }
        var isStoring: Bool { if case .storing = step { true } else { false } }
    }

    /// The most refreshes at one time.
    static let seatCount = 4
    /// The interval of looks while jobs with credentials arrive: 1 s.
    static let interval: UInt64 = 1_000_000_000
    /// The interval of looks while no job has credentials: 5 s. A notification causes a look at once.
    static let longInterval: UInt64 = 5_000_000_000
    /// The interval while this worker stands by: 15 s. The workers that listen look for it.
    static let standbyInterval: UInt64 = 15_000_000_000
    /// The pause before a token is stored again, while an open transaction has locked the credential's row: 250 ms.
    static let lockedInterval: UInt64 = 250_000_000
    /// How long this worker ignores a credential whose secrets none of its keys opens: 30 s.
    static let unopenedInterval: UInt64 = 30_000_000_000

    private var seats = [Seat](repeating: Seat(), count: CredentialWork.seatCount)
    /// The seats of the statements that are under way, or were the last.
    private var reader = 0
    private var storer = 0
    /// When to look again.
    private(set) var lookDue: UInt64 = 0
    /// Whether jobs use credentials.
    private(set) var isUsed = false
    /// Sealed secrets to give back to the database, with their version.
    private(set) var sealed: [(credential: String, version: Int64, sealed: [UInt8])] = []
    /// Whether a notification has arrived since the last look was sent.
    private var wasNotified = false
    /// Credentials that this worker ignores, each with the end of that time.
    private var unopened: [String: UInt64] = [:]

    /// Whether a refresh is under way. The worker waits for it before it stops, since its token may be the only valid
    /// one.
    var isBusy: Bool { seats.contains { !$0.isFree } }

    /// Whether another refresh can begin.
    var hasFreeSeat: Bool { seats.contains { $0.isFree } }

    /// Records a notification, or a job with a credential.
    mutating func use() { isUsed = true }

    /// Records a notification that the database has credential work.
    mutating func workAnnounced(now: UInt64) {
        lookDue = now
        wasNotified = true
    }

    /// Records that a look is sent.
    mutating func lookBegins(isStandingBy: Bool = false, now: UInt64) {
        wasNotified = false
        let rest = isStandingBy ? CredentialWork.standbyInterval : CredentialWork.longInterval
        lookDue = now + (isUsed ? CredentialWork.interval : rest)
    }

    /// Records the answer of a look. A notification that arrived meanwhile may be missing in it, and a look brings at
    /// most one refresh. In both cases the next look is due at once.
    mutating func lookReturned(foundAny: Bool, foundRefresh: Bool, now: UInt64) {
        if foundAny {
            if !isUsed { lookDue = min(lookDue, now + CredentialWork.interval) }
            isUsed = true
        }
        if wasNotified || foundRefresh && hasFreeSeat { lookDue = now }
    }

    /// Keeps secrets that this worker has sealed.
    mutating func secretsSealed(_ credential: String, _ version: Int64, _ bytes: [UInt8]) {
        sealed.append((credential, version, bytes))
    }

    /// The next sealed secrets to give back.
    mutating func nextSealed() -> (credential: String, version: Int64, sealed: [UInt8])? {
        sealed.isEmpty ? nil : sealed.removeFirst()
    }

    /// Hands a refresh back whose secrets no key of this worker opens. The worker ignores the credential for 30 s.
    mutating func openingFailed(_ task: TokenTask, now: UInt64) {
        unopened[task.credential] = now + CredentialWork.unopenedInterval
        let reason =
            "the worker that ran the refresh has no key for the secrets; give all workers the same keys"
        refreshEnded(task, TokenAnswer(.handedBack, reason: reason))
    }

    /// The credentials that other workers are to refresh.
    mutating func ignoredCredentials(now: UInt64) -> [String] {
        unopened = unopened.filter { $0.value > now }
        return Array(unopened.keys)
    }

    /// Takes a seat for the call of a token endpoint. Nil if all seats are taken: then the lease ends, and the refresh
    /// begins again.
    mutating func callBegins(_ task: TokenTask, _ secrets: Secrets) -> Int? {
        guard let seat = seats.firstIndex(where: { $0.isFree }) else { return nil }
        seats[seat] = Seat(step: .calling(task, secrets))
        return seat
    }

    /// Stores the result of a refresh that made no call. If all seats are taken, the lease of the refresh ends instead.
    mutating func refreshEnded(_ task: TokenTask, _ answer: TokenAnswer) {
        guard let seat = seats.firstIndex(where: { $0.isFree }) else { return }
        seats[seat] = Seat(step: .storing(task, answer))
    }

    /// Records how the call of a token endpoint has ended.
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

    /// The next result that the database is to store.
    mutating func nextToStore(now: UInt64) -> (TokenTask, TokenAnswer)? {
        guard let seat = seats.firstIndex(where: { $0.isStoring && $0.restUntil <= now }),
            case .storing(let task, let answer) = seats[seat].step
        else { return nil }
        storer = seat
        return (task, answer)
    }

    /// When a statement about a refresh is due, nil if none waits.
    ///
    /// - Parameters:
    ///   - canRead: whether no answer is being read.
    ///   - canStore: whether no result is being stored.
    func statementDue(canRead: Bool, canStore: Bool) -> UInt64? {
        seats.filter { canRead && $0.isReading || canStore && $0.isStoring }.map(\.restUntil).min()
    }

    /// Records that the database has read the answer. A secret that the answer does not renew stays as it was.
    mutating func answerRead(
        _ kind: TokenAnswer.Kind, token: String?, refreshToken: String?, expiresIn: Int32?, reason: String?
    ) {
        guard case .reading(let task, var secrets, let response) = seats[reader].step else { return }
        // The reason is masked because a token endpoint may repeat the secrets of its request.
        let reason = reason.map(secrets.masked)
        if let token { secrets["access_token"] = token }
        if let refreshToken { secrets["refresh_token"] = refreshToken }
        seats[reader].step = .storing(
            task,
            TokenAnswer(
                kind, secrets: kind == .fetched ? secrets : nil, expiresIn: expiresIn, wait: response.retryAfter,
                reason: reason))
    }

    /// Records that the statement that reads an answer was refused. It is sent again.
    mutating func readingFailed(now: UInt64) { statementFailed(reader, now: now) }

    /// Records that the statement that stores a result was refused. It is sent again.
    mutating func storingFailed(now: UInt64) { statementFailed(storer, now: now) }

    /// Sends the statement again, since the token may be the only valid one. After ten failures it is dropped: the
    /// lease has ended by then, and the refresh begins again.
    private mutating func statementFailed(_ seat: Int, now: UInt64) {
        seats[seat].failures += 1
        seats[seat].restUntil = now + CredentialWork.interval
        if seats[seat].failures >= 10 { seats[seat] = Seat() }
    }

    /// Keeps the result while an open transaction has locked the credential's row.
    mutating func storingPostponed(now: UInt64) { seats[storer].restUntil = now + CredentialWork.lockedInterval }

    /// Frees the seat of a result that is stored.
    ///
    /// - Returns: the task and its result.
    mutating func stored() -> (TokenTask, TokenAnswer)? {
        guard case .storing(let task, let answer) = seats[storer].step else { return nil }
        seats[storer] = Seat()
        return (task, answer)
    }
}
