// SPDX-License-Identifier: Apache-2.0

/// Whether the server can have seen the request: the line between "try again" and `unknown`.
public enum SentState: Equatable, Sendable {
    /// Certainly not: no byte of the request left this host, or the server said so.
    case no
    /// Bytes may have left; nobody can know what the server did with them.
    case maybe
}

/// How long the phases took, each in microseconds from the start of the attempt, as libcurl counts them.
public struct CallTimings: Equatable, Sendable {
    /// Name lookup done (`CURLINFO_NAMELOOKUP_TIME_T`).
    public var dns: Int64 = 0
    /// TCP connected (`CURLINFO_CONNECT_TIME_T`); 0 on a reused connection.
    public var connect: Int64 = 0
    /// TLS done (`CURLINFO_APPCONNECT_TIME_T`); 0 without TLS.
    public var tls: Int64 = 0
    /// First byte of the answer (`CURLINFO_STARTTRANSFER_TIME_T`).
    public var firstByte: Int64 = 0
    /// The whole attempt, redirects included.
    public var total: Int64 = 0

    /// All zero: nothing was sent.
    public init() {}
}

/// What the server answered, exact to the byte.
public struct HTTPResponse: Equatable, Sendable {
    /// The status of the final answer.
    public var status: Int
    /// The final answer's header lines in arrival order, duplicates kept: `name: value` and LF each,
    /// names in lower case, values as received (Latin-1 bytes).
    public var headerBlock: [UInt8]
    /// Decompressed.
    public var body: [UInt8]
    /// The answer's `Retry-After` or `retry-after-ms`, if it had a readable one, as a wait from now.
    public var retryAfter: Duration?
    /// If the answer tells that no call is left of a quota: the wait until it is renewed.
    public var quotaReset: Duration?
    /// Name and value of a header that asks for a wait in no known form; nil if another header names a wait.
    public var unreadableWait: String?
    /// Why the body is missing or not decoded. The status is valid all the same. The body is empty, or as received if
    /// it could not be decoded.
    public var bodyDefect: CallFailure?

    /// An answer as the agent saw it.
    public init(
        status: Int, headerBlock: [UInt8] = [], body: [UInt8] = [], retryAfter: Duration? = nil,
        quotaReset: Duration? = nil
    ) {
        self.status = status
        self.headerBlock = headerBlock
        self.body = body
        self.retryAfter = retryAfter
        self.quotaReset = quotaReset
    }
}

/// Why there is no whole answer.
public struct CallFailure: Equatable, Sendable {
    /// What kind of failure it is.
    public var code: ErrorCode
    /// One sentence for the user: what happened and what to do. Never holds a secret or a body.
    public var message: String
    /// How much of the request may have left.
    public var sent: SentState
    /// The status, if the answer had got that far.
    public var status: Int?
    /// Whether another try may end better, where that is not as the code says: a full disk is mended, a wrong path is
    /// not.
    public var retries: Bool?
    /// Whether the failure is this worker's own: no descriptors, no network, an interface that is not there. It says
    /// nothing of the server.
    public var isLocal = false
    /// Whether the worker had no file descriptor left for it: no fault of the call, which may be made at any time.
    public var lacksDescriptors = false

    /// A failure; `sent` decides whether an `at_most_once` job may try again.
    public init(_ code: ErrorCode, _ message: String, sent: SentState, status: Int? = nil, retries: Bool? = nil) {
        self.code = code
        self.message = message
        self.sent = sent
        self.status = status
        self.retries = retries
    }

    /// Whether another try may end better.
    public var isRetryable: Bool { retries ?? code.isRetryable }
}

/// How one attempt ended, as the agent hands it over.
public struct CallOutcome: Equatable, Sendable {
    /// An answer, or the reason why there is none.
    public enum Ending: Equatable, Sendable {
        /// The server answered in full, whatever the status.
        case response(HTTPResponse)
        /// It did not.
        case failure(CallFailure)
    }

    /// An answer or a failure.
    public var ending: Ending
    /// How long each phase took.
    public var timings: CallTimings
    /// The peer's address as text; nil if nothing was connected.
    public var remoteIP: String?
    /// `1.0`, `1.1` or `2`; nil if nothing was answered.
    public var httpVersion: String?
    /// Whether an open connection was used again.
    public var reused: Bool
    /// Header and body bytes that left, as on the wire.
    public var bytesSent: Int64
    /// Header and body bytes that came, as on the wire.
    public var bytesReceived: Int64
    /// What the call changed in its jar; nil: nothing, or it keeps no cookies.
    public var cookies: CookieChanges?
    /// Whether it ended at another URL than it began, to which a redirect led.
    public var redirected: Bool
    /// Whether that is one of another origin, which got neither token nor cookies: what it says is not the API's word.
    public var leftOrigin: Bool
    /// The URL that redirects led to without leaving the origin, without user and password; nil: none did.
    public var landedAt: String?
    /// How far the file came; nil unless the call was a download that reached its file.
    public var download: DownloadProgress?

    /// An outcome with no timings is one that never reached the network.
    public init(
        _ ending: Ending,
        timings: CallTimings = CallTimings(),
        remoteIP: String? = nil,
        httpVersion: String? = nil,
        reused: Bool = false,
        bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0,
        cookies: CookieChanges? = nil,
        redirected: Bool = false,
        leftOrigin: Bool = false,
        landedAt: String? = nil,
        download: DownloadProgress? = nil
    ) {
        self.ending = ending
        self.timings = timings
        self.remoteIP = remoteIP
        self.httpVersion = httpVersion
        self.reused = reused
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.cookies = cookies
        self.redirected = redirected
        self.leftOrigin = leftOrigin
        self.landedAt = landedAt
        self.download = download
    }

    /// Turns an answer without its body into a failure, if the job wants this status. To other jobs the status is
    /// enough. An answer that could not be decoded stays, with the bytes as received, and its verdict is `decode`.
    public mutating func demandBody(of wanted: StatusRanges) {
        guard case .response(let response) = ending, let defect = response.bodyDefect, defect.code != .decode,
            wanted.contains(response.status)
        else { return }
        ending = .failure(defect)
    }
}
