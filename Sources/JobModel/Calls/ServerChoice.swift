// SPDX-License-Identifier: Apache-2.0

/// The server that a call goes to, one of several that a service has.
public struct ServerChoice: Equatable, Sendable {
    /// Its row.
    public var id: Int32
    /// Whether there is another one that is well and that this attempt has not tried.
    public var hasNext: Bool

    /// A choice as `prepare` made it.
    public init(id: Int32, hasNext: Bool) {
        self.id = id
        self.hasNext = hasNext
    }
}

/// What a call has shown of its server.
public enum ServerHealth: Equatable, Sendable {
    /// It answered, whatever the answer.
    case well
    /// It failed at network level, or answered 502, 503 or 504.
    case failed
    /// Neither can be said: the worker's own side failed, or the certificate is at fault.
    case unclear

    /// What an outcome shows; behind a redirect to another origin, that the server itself has answered. Pure.
    public init(_ outcome: CallOutcome) {
        self = outcome.leftOrigin ? .well : ServerHealth(outcome.ending)
    }

    private init(_ ending: CallOutcome.Ending) {
        switch ending {
        case .response(let response):
            self = (502...504).contains(response.status) ? .failed : .well
        case .failure(let failure):
            if failure.isLocal {
                self = .unclear
            } else if let status = failure.status, (502...504).contains(status) {
                self = .failed
            } else {
                self = ServerHealth(failure.code)
            }
        }
    }

    private init(_ code: ErrorCode) {
        switch code {
        case .dns, .connect, .connectTimeout, .tls, .send, .firstByteTimeout, .slow, .timeout, .reset, .emptyReply,
            .truncated:
            self = .failed
        // It answered, only not to our liking.
        case .tooLarge, .headersTooLarge, .decode, .deniedRedirect:
            self = .well
        default:
            self = .unclear
        }
    }

    /// The letter that stands for it in the database.
    public var letter: Unicode.Scalar {
        switch self {
        case .well: "w"
        case .failed: "f"
        case .unclear: "x"
        }
    }
}
