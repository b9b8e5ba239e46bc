// SPDX-License-Identifier: Apache-2.0

/// Whether the server can have seen the request. It decides between a retry and `unknown`.
public enum SentState: Equatable, Sendable {
    /// No byte of the request left this host, or the server said that it has not processed the request.
    case no
    /// Bytes may have left. It is not known what the server did with them.
    case maybe
}

/// The duration of the phases, each in microseconds from the start of the attempt, as libcurl counts them.
public struct CallTimings: Equatable, Sendable {
    /// End of the name lookup (`CURLINFO_NAMELOOKUP_TIME_T`).
    public var dns: Int64 = 0
    /// End of the TCP connect (`CURLINFO_CONNECT_TIME_T`); 0 on a reused connection.
    public var connect: Int64 = 0
    /// End of the TLS handshake (`CURLINFO_APPCONNECT_TIME_T`); 0 without TLS.
    public var tls: Int64 = 0
    /// First byte of the answer (`CURLINFO_STARTTRANSFER_TIME_T`).
    public var firstByte: Int64 = 0
    /// The whole attempt, redirects included.
    public var total: Int64 = 0

    /// Timings of a call that sent no bytes: all zero.
    public init() {}
}

/// The server's answer, exact to the byte.
public struct HTTPResponse: Equatable, Sendable {
    /// The status of the final answer.
    public var status: Int
    /// The final answer's header lines in arrival order, duplicates kept: `name: value` and LF each,
    /// names in lower case, values as received (Latin-1 bytes).
    public var headerBlock: [UInt8]
    /// The decompressed body.
    public var body: [UInt8]
    /// The wait from now that `Retry-After` or `retry-after-ms` asks for. Nil if neither is readable.
    public var retryAfter: Duration?
    /// The wait until a used-up quota is renewed. Nil if the answer reports no used-up quota.
    public var quotaReset: Duration?
    /// Name and value of a header that asks for a wait in an unknown form. Nil if another header names a wait.
    public var unreadableWait: String?
    /// Why the body is missing or not decoded. The status is valid all the same. A body that could not be decoded stays
    /// as received.
    public var bodyDefect: CallFailure?

    /// An answer as the agent received it.
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

/// Why no complete answer arrived.
public struct CallFailure: Equatable, Sendable {
    /// The kind of failure.
    public var code: ErrorCode
    /// One sentence for the user: the event and the remedy. It never contains a secret or a body.
    public var message: String
    /// Whether bytes of the request may have left.
    public var sent: SentState
    /// The status of the answer; nil if none arrived.
    public var status: Int?
    /// Overrides the code's `isRetryable`. For example, a full disk passes and a wrong path does not, though both have
    /// the code `file`.
    public var retries: Bool?
    /// Whether the cause lies in this worker, such as missing descriptors, network or interface. It says nothing about
    /// the server.
    public var isLocal = false
    /// Whether the worker had no file descriptor left. The call may be made again at any time.
    public var lacksDescriptors = false

    /// A failure. `sent` decides whether an `at_most_once` job may be retried.
    public init(_ code: ErrorCode, _ message: String, sent: SentState, status: Int? = nil, retries: Bool? = nil) {
        self.code = code
        self.message = message
        self.sent = sent
        self.status = status
        self.retries = retries
    }

    /// Whether a retry may succeed.
    public var isRetryable: Bool { retries ?? code.isRetryable }
}

/// How one attempt ended, as the agent reports it.
public struct CallOutcome: Equatable, Sendable {
    /// A complete answer or a failure.
    public enum Ending: Equatable, Sendable {
        /// The server answered completely, with any status.
        case response(HTTPResponse)
        /// No complete answer arrived.
        case failure(CallFailure)
    }

    /// An answer or a failure.
    public var ending: Ending
    /// How long each phase took.
    public var timings: CallTimings
    /// The peer's address as text; nil without a connection.
    public var remoteIP: String?
    /// `1.0`, `1.1` or `2`; nil without an answer.
    public var httpVersion: String?
    /// Whether the call reused an open connection.
    public var reused: Bool
    /// Header and body bytes that were sent, as on the wire.
    public var bytesSent: Int64
    /// Header and body bytes that were received, as on the wire.
    public var bytesReceived: Int64
    /// The changes of the call in its cookie jar. Nil if it changed no cookie or keeps none.
    public var cookies: CookieChanges?
    /// Whether a redirect led to another URL.
    public var redirected: Bool
    /// Whether a redirect led to another origin, which got neither token nor cookies. Its answer is not the API's
    /// answer.
    public var leftOrigin: Bool
    /// The URL that redirects led to within the origin, without user and password. Nil without a redirect.
    public var landedAt: String?
    /// The state of the file. Nil unless the call was a download that reached its file.
    public var download: DownloadProgress?

    /// An outcome. Without timings it is a call that never reached the network.
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

    /// Turns an answer with a defective body into a failure, if its status is in `ok_statuses`.
    ///
    /// For other statuses the status is enough. An answer that could not be decoded stays, with the bytes as received;
    /// its verdict is `decode`.
    public mutating func demandBody(of wanted: StatusRanges) {
        guard case .response(let response) = ending, let defect = response.bodyDefect, defect.code != .decode,
            wanted.contains(response.status)
        else { return }
        ending = .failure(defect)
    }
}
