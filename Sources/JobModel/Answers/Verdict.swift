// SPDX-License-Identifier: Apache-2.0

/// What an attempt means for its job. Pure: the same outcome always gives the same verdict.
public struct Verdict: Equatable, Sendable {
    /// What becomes of the job.
    public enum Kind: CaseIterable, Equatable, Sendable {
        case succeeded
        case failed
        /// Tried again while attempts and time are left; else failed.
        case retryable
        /// The call may have happened and must not be repeated without a person's word.
        case unknown
        /// Given back at a shutdown, or for want of a descriptor; no attempt is used.
        case handedBack
        /// Tried again, and no attempt is used: a download broke off and is longer than before.
        case progressed
        /// Like `progressed`, but the attempt brought less than 64 KiB. The twentieth in a row ends the job.
        case gainedLittle
        /// Ready again at its old place, no attempt used, while its lane is paused: the server asks to come later.
        case held
        /// Scheduled again after the wait that the server asks for, no attempt used. Its lane is not paused.
        case delayed
        /// The same attempt goes on at another server, and none is used.
        case onward
        /// Given back, and no attempt is used: the database refuses to prepare its call, and prepares others. It fails
        /// after 15 minutes.
        case unprepared
    }

    /// What becomes of the job.
    public var kind: Kind
    /// The reason; nil for a success.
    public var code: ErrorCode?
    /// One sentence for the user; nil for a success.
    public var message: String?
    /// For a retryable failure the least wait before the next try. For a job that is given back or delayed, the wait
    /// until it is ready. For all others how long the lane is paused; nil: it is not paused, or the server that held
    /// the job gave no time.
    public var retryAfter: Duration?

    /// A download that breaks off again and again after fewer bytes than this in an attempt ends after 20 such
    /// attempts.
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

    /// Judges how an attempt of a job ended.
    ///
    /// - Parameters:
    ///   - isIdempotent: whether the method may be repeated; an answer that cannot be decoded allows no other call if
    ///     not.
    ///   - attempt: counts from 1; a broken content encoding is tried again once only.
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
        // Bounded: each such try must have made the file longer than any before it.
        if kind == .retryable, let download = outcome.download, download.gained > 0 {
            kind = download.gained < Verdict.smallGain ? .gainedLittle : .progressed
        }
    }

    private static func judge(_ response: HTTPResponse, okStatuses: StatusRanges, isAtMostOnce: Bool) -> Verdict {
        if okStatuses.contains(response.status) { return Verdict(.succeeded, retryAfter: response.quotaReset) }
        var verdict = judgeRefusal(response, isAtMostOnce: isAtMostOnce)
        if let value = response.unreadableWait {
            verdict.message = (verdict.message ?? "") + "; it asked for a wait in no known form: \(value)"
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
                // The server may have acted on it, so an at_most_once job is not sent again.
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
        // The server has answered with a success, so it has acted.
        let canRetry = failure.isRetryable && (failure.code != .decode || attempt <= 1 && isIdempotent)
        return Verdict(canRetry ? .retryable : .failed, failure.code, failure.message)
    }

    /// Lets the attempt go on at the next server of its service if this one has failed and nothing was sent, or the
    /// method may be repeated. What another try would not cure, another server does not either. A server that asks to
    /// be left alone for a while does not hold up what another can do.
    ///
    /// - Parameter method: of the call; an Idempotency-Key does not count, since servers need not share what they
    ///   remember of keys.
    public mutating func goOnward(from outcome: CallOutcome, to server: ServerChoice?, method: HTTPMethod) {
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

    /// Statuses that another try may cure.
    public static func isRetryable(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504, 507, 520...524, 529, 530, 598, 599: true
        default: false
        }
    }

    /// Failures that come after an answer was read whole: a redirect that may not be followed, a file that is not the
    /// one expected, a body that cannot be decoded. After all others with the request on its way, a broken answer
    /// included, it is open what the server did.
    static func followsWholeAnswer(_ code: ErrorCode) -> Bool {
        switch code {
        case .deniedRedirect, .deniedAddress, .badURL, .badHeader, .checksum, .decode: true
        default: false
        }
    }

    /// Statuses by which the server says that it has not acted: not received in time, too early, too many.
    static func certainlyNotProcessed(_ status: Int) -> Bool {
        status == 408 || status == 425 || status == 429
    }
}

extension Verdict.Kind {
    /// The letter that stands for it in the database.
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
