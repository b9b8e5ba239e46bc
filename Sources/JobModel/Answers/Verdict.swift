// SPDX-License-Identifier: Apache-2.0

/// The meaning of an attempt for its job. Pure: equal outcomes give equal verdicts.
public struct Verdict: Equatable, Sendable {
    /// The effect on the job.
    public enum Kind: CaseIterable, Equatable, Sendable {
        case succeeded
        case failed
        /// The job is retried while attempts and time are left. Otherwise it fails.
        case retryable
        /// The call may have happened. It is not repeated unless a user asks for it.
        case unknown
        /// The job goes back at a shutdown, or because no descriptor was free. No attempt is used.
        case handedBack
        /// The job is tried again without using an attempt, because a broken download is longer than before.
        case progressed
        /// Like `progressed`, but the attempt added less than 64 KiB. The twentieth in a row ends the job.
        case gainedLittle
        /// The server asks to be called later. The job is ready at its old place, its lane is paused, and no attempt is
        /// used.
        case held
        /// The server asks for a wait for this job only. The job is scheduled again, and no attempt is used.
        case delayed
        /// The same attempt continues at another server. No attempt is used.
        case onward
        /// The database refuses to prepare the call while it prepares others. The job goes back without using an
        /// attempt. It fails after 15 minutes.
        case unprepared
    }

    /// The effect on the job.
    public var kind: Kind
    /// The error code; nil for a success.
    public var code: ErrorCode?
    /// One sentence for the user; nil for a success.
    public var message: String?
    /// A wait whose meaning depends on the kind.
    ///
    /// - For a retryable failure it is the minimum wait before the next attempt.
    /// - For a job that is given back or delayed it is the wait until the job is ready.
    /// - For all others it is the length of the lane pause; nil: no pause, or the server that asked for it named no
    ///   time.
    public var retryAfter: Duration?

    /// A download attempt that adds fewer bytes than this counts as little gain. 20 such attempts in a row end the job.
    public static let smallGain: Int64 = 65_536
    /// A success.
    public static let success = Verdict(.succeeded)

    /// A verdict with its reason.
    public init(_ kind: Kind, _ code: ErrorCode? = nil, _ message: String? = nil, retryAfter: Duration? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// Judges the attempt of a job.
    ///
    /// - Parameters:
    ///   - isIdempotent: whether the method may be repeated. If not, an answer that cannot be decoded allows no retry.
    ///   - attempt: counts from 1. A broken content encoding is retried only once.
    public init(
        _ outcome: CallOutcome, okStatuses: StatusRanges, isAtMostOnce: Bool, isIdempotent: Bool = true, attempt: Int
    ) {
        if outcome.download?.isComplete == true {
            self = .success
            return
        }
        switch outcome.ending {
        case .response(let response):
            if let defect = response.bodyDefect, okStatuses.contains(response.status) {
                self = Verdict.judge(
                    defect, isAtMostOnce: isAtMostOnce, isIdempotent: isIdempotent, attempt: attempt)
            } else {
                self = Verdict.judge(response, okStatuses: okStatuses, isAtMostOnce: isAtMostOnce)
            }
        case .failure(let failure):
            self = Verdict.judge(failure, isAtMostOnce: isAtMostOnce, isIdempotent: isIdempotent, attempt: attempt)
        }
        // The number of such attempts is limited, because each makes the file longer than all attempts before.
        if kind == .retryable, let download = outcome.download, download.gained > 0 {
            kind = download.gained < Verdict.smallGain ? .gainedLittle : .progressed
        }
    }

    private static func judge(_ response: HTTPResponse, okStatuses: StatusRanges, isAtMostOnce: Bool) -> Verdict {
        if okStatuses.contains(response.status) { return Verdict(.succeeded, retryAfter: response.quotaReset) }
        var verdict = judgeRefusal(response, isAtMostOnce: isAtMostOnce)
        if let value = response.unreadableWait {
            verdict.message = (verdict.message ?? "") + "; it requested a wait that cannot be read: \(value)"
        }
        return verdict
    }

    private static func judgeRefusal(_ response: HTTPResponse, isAtMostOnce: Bool) -> Verdict {
        let status = response.status
        let message =
            status == 429
            ? "the server answered 429, too many requests; call it less often"
            : "the server answered \(status), which is not in ok_statuses; look at the body for its reason"
        if let throttle = Throttle(response) {
            let code: ErrorCode = status == 429 ? .http429 : .httpStatus
            guard throttle.scope == .lane else {
                // The server may have acted, so an at_most_once job is not sent again.
                if isAtMostOnce { return Verdict(.failed, code, message, retryAfter: response.quotaReset) }
                return Verdict(.delayed, code, message, retryAfter: throttle.wait)
            }
            let mayCallAgain = !isAtMostOnce || throttle.isRefusal
            return Verdict(mayCallAgain ? .held : .failed, code, message, retryAfter: throttle.wait)
        }
        let canRetry = isAtMostOnce ? certainlyNotProcessed(status) : isRetryable(status)
        guard canRetry else { return Verdict(.failed, .httpStatus, message, retryAfter: response.quotaReset) }
        let waits = [response.retryAfter, response.quotaReset].compactMap { $0 }
        return Verdict(.retryable, .httpStatus, message, retryAfter: waits.max())
    }

    private static func judge(
        _ failure: CallFailure, isAtMostOnce: Bool, isIdempotent: Bool, attempt: Int
    ) -> Verdict {
        if failure.lacksDescriptors, failure.sent == .no {
            return Verdict(.handedBack, failure.code, failure.message)
        }
        if isAtMostOnce && failure.sent == .maybe {
            return Verdict(
                followsWholeAnswer(failure.code) ? .failed : .unknown, failure.code, failure.message)
        }
        // A body that cannot be decoded comes with a success status, so the server has acted.
        let canRetry = failure.isRetryable && (failure.code != .decode || attempt <= 1 && isIdempotent)
        return Verdict(canRetry ? .retryable : .failed, failure.code, failure.message)
    }

    /// Lets the attempt continue at the next server of its service.
    ///
    /// The server must have failed, and either no byte was sent or the method may be repeated. A failure that a retry
    /// would not cure stays. If the server asks to be called later, another server may still take the call.
    ///
    /// - Parameters:
    ///   - server: the server of this attempt.
    ///   - method: the method of the call. An Idempotency-Key does not count, since servers need not share their keys.
    public mutating func continueElsewhere(from outcome: CallOutcome, to server: ServerChoice?, method: HTTPMethod) {
        guard kind == .retryable || kind == .held, let server, server.hasNext,
            ServerHealth(outcome) == .failed
        else { return }
        if case .failure(let failure) = outcome.ending, failure.sent == .no {
            kind = .onward
        } else if method.isIdempotent {
            kind = .onward
        }
        if kind == .onward { retryAfter = nil }
    }

    /// Removes the wish for a lane pause. The answer of a stub says nothing about a server, so only its job waits.
    public mutating func pauseNoLane() {
        switch kind {
        case .held: kind = .delayed
        case .delayed, .retryable: break
        default: retryAfter = nil
        }
    }

    /// Whether a retry may succeed after this status.
    public static func isRetryable(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504, 507, 520...524, 529, 530, 598, 599: true
        default: false
        }
    }

    /// Whether a failure comes after a complete answer.
    ///
    /// Examples are a forbidden redirect, a file with a wrong checksum and a body that cannot be decoded. After any
    /// other failure with the request under way it is unknown whether the server has acted.
    static func followsWholeAnswer(_ code: ErrorCode) -> Bool {
        switch code {
        case .deniedRedirect, .deniedAddress, .badURL, .badHeader, .checksum, .decode: true
        default: false
        }
    }

    /// Whether the status says that the server has not acted: 408 (not received in time), 425 (too early) and 429.
    static func certainlyNotProcessed(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429
    }
}

extension Verdict.Kind {
    /// Its letter in the database.
    public var letter: Unicode.Scalar {
        switch self {
        case .succeeded: "s"
        case .failed: "f"
        case .retryable: "r"
        case .unknown: "u"
        case .handedBack: "h"
        case .progressed: "p"
        case .gainedLittle: "l"
        case .held: "w"
        case .delayed: "d"
        case .onward: "o"
        case .unprepared: "b"
        }
    }
}
