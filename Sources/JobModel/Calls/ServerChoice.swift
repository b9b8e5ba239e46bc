// SPDX-License-Identifier: Apache-2.0

/// The server of a call: one of several base URLs of a service.
public struct ServerChoice: Equatable, Sendable {
    /// The id of its row.
    public var id: Int32
    /// Whether another healthy server exists that this attempt has not tried.
    public var hasNext: Bool

    /// A choice of `prepare`.
    public init(id: Int32, hasNext: Bool) {
        self.id = id
        self.hasNext = hasNext
    }
}

/// The health of a server, as a call has shown it.
public enum ServerHealth: Equatable, Sendable {
    /// It answered, with any status except 502 to 504.
    case well
    /// It failed at network level, or answered 502, 503 or 504.
    case failed
    /// Unknown: the worker itself failed, or the certificate is invalid.
    case unclear

    /// The health that an outcome shows. After a redirect to another origin, the server itself has answered. Pure.
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
        // It answered, but the answer is not accepted.
        case .tooLarge, .headersTooLarge, .decode, .deniedRedirect:
            self = .well
        default:
            self = .unclear
        }
    }

    /// Its letter in the database.
    public var letter: Unicode.Scalar {
        switch self {
        case .well: "w"
        case .failed: "f"
        case .unclear: "x"
        }
    }
}
