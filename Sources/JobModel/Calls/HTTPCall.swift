// SPDX-License-Identifier: Apache-2.0

/// The methods a job may use; the raw value is what goes on the wire.
public enum HTTPMethod: String, CaseIterable, Sendable {
    case get = "GET"
    case post = "POST"
    case head = "HEAD"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"

    /// Whether sending twice is the same as sending once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options: true
        case .post, .patch: false
        }
    }
}

/// One header line, in the order the user gave it. Names may repeat.
public struct HTTPHeader: Equatable, Sendable {
    /// As the user wrote it; compared without regard to case.
    public var name: String
    /// Bytes are Latin-1 or UTF-8, never CR, LF or NUL.
    public var value: String

    /// Joins a name and a value; neither is checked here.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One pair of a query or a form, not yet percent-encoded.
public struct FormField: Equatable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Joins a name and a value as they came from the job.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What a request carries after its headers.
public enum RequestBody: Equatable, Sendable {
    /// Nothing.
    case none
    /// Sent as they are; `contentType` applies unless the job's headers name one.
    case bytes([UInt8], contentType: String?)
    /// Sent as `application/x-www-form-urlencoded`.
    case form([FormField])
    /// Sent as `multipart/form-data`; file parts are streamed and never in memory as a whole.
    case parts([BodyPart])

    /// Whether it is multipart, with a Content-Type of its own.
    public var isParts: Bool {
        if case .parts = self { true } else { false }
    }

    /// Whether a part is streamed from a file.
    public var hasFiles: Bool {
        if case .parts(let parts) = self { parts.contains(where: \.isFile) } else { false }
    }
}

/// How long and how large one attempt may become.
public struct CallLimits: Equatable, Sendable {
    /// For `total`: no limit of the wall clock, as transfers of files have it; they end as `slow` when they stall.
    public static let unlimited = Duration.seconds(Int64.max)

    /// From connect to last byte, wall clock, all redirects included; `unlimited`: bounded by the speed alone.
    public var total: Duration
    /// Name lookup, TCP and TLS together.
    public var connect: Duration
    /// From the request's last byte to the answer's first; nil: bounded by `total` alone.
    public var firstByte: Duration?
    /// Below this many bytes a second for `lowSpeedTime` the attempt ends as `slow`.
    public var lowSpeedBytes: Int
    /// How long the transfer may be that slow.
    public var lowSpeedTime: Duration
    /// The largest body in bytes, counted both as received and as decompressed.
    public var maxResponseBytes: Int
    /// How many redirects are followed.
    public var maxRedirects: Int
    /// Whether `maxResponseBytes` is what the worker has memory for, and less than the job allows.
    public var isBoundByMemory = false

    /// The limits of a job that says nothing: 60 s in all, 10 s to connect, 10 MiB, 5 redirects.
    public static let standard = CallLimits()

    /// Any limit left out has its standard value.
    public init(
        total: Duration = .seconds(60),
        connect: Duration = .seconds(10),
        firstByte: Duration? = nil,
        lowSpeedBytes: Int = 100,
        lowSpeedTime: Duration = .seconds(30),
        maxResponseBytes: Int = 10 << 20,
        maxRedirects: Int = 5
    ) {
        self.total = total
        self.connect = connect
        self.firstByte = firstByte
        self.lowSpeedBytes = lowSpeedBytes
        self.lowSpeedTime = lowSpeedTime
        self.maxResponseBytes = maxResponseBytes
        self.maxRedirects = maxRedirects
    }
}

/// Everything the agent needs to make one attempt; it holds nothing of queues or databases.
public struct HTTPCall: Sendable {
    /// The method, of every hop that keeps it.
    public var method: HTTPMethod
    /// Absolute, http or https. User and password in it are moved to the Authorization header.
    public var url: String
    /// Added behind the URL's own query, percent-encoded, in this order.
    public var query: [FormField]
    /// The job's own headers, in order.
    public var headers: [HTTPHeader]
    /// What follows them.
    public var body: RequestBody
    /// Whether a body of bytes or a form is sent in gzip, with `Content-Encoding: gzip`; parts never are.
    public var compressesBody: Bool
    /// How the server is reached; nil: the plain way.
    public var transport: Transport?
    /// Whether cookies that answers set come back in the outcome and go along on redirects; true with `cookies`.
    public var keepsCookies: Bool
    /// The jar to send from: lines in Netscape's file format or `Set-Cookie: …` with a Domain, of which libcurl sends
    /// those whose domain and path fit.
    public var cookies: [String]
    /// Where the body goes instead of into the outcome; nil: it is kept in memory.
    public var download: Download?
    /// How long and how large the attempt may become.
    public var limits: CallLimits
    /// Whether private, loopback and link-local addresses may be called.
    public var allowsPrivateNetwork: Bool
    /// What could allow them, for the sentence about a call that was refused.
    public var privateNetworkSwitch = PrivateNetworkSwitch.service
    /// Whether the agent itself may send a second time, at once, when an open connection that it used again
    /// turns out dead before a byte of the answer: true for idempotent methods unless set. An
    /// `at_most_once` job sets it to false, one with an idempotency key to true.
    public var isRepeatable: Bool

    /// Whether other calls may use its connection, before it, behind it, and over TLS with HTTP/2 beside it: true
    /// unless set.
    ///
    /// Whether an open connection still leads to its server shows only when a request has left on it. Over HTTP/2 a
    /// server may refuse what came behind the last that it takes, and libcurl does not tell that from a connection that
    /// broke. An `at_most_once` job, which then may not be sent again, sets it to false.
    public var mayShareConnection = true

    /// Over TLS: whether it may be one of several on a connection of HTTP/2. An answer that may have to wait for memory
    /// must not be.
    public var mayMultiplex = true

    /// Whether Content-Encoding is undone; otherwise the body is kept as received.
    public var decodesBody = true

    /// How many bytes of the answer the agent keeps before its owner has to grant more: all, unless set.
    public var answerRoom = Int.max

    /// Whose `allow_private_network` counts for a call, beside the worker's `--allow-private`.
    public enum PrivateNetworkSwitch: Sendable {
        /// The job's service.
        case service
        /// The credential that a token is fetched for.
        case credential
        /// Nobody's: a webhook has no service.
        case none
    }

    /// Whether it has a jar, given or to be kept.
    public var usesCookies: Bool { keepsCookies || !cookies.isEmpty }

    /// A call with standard limits and nothing but method and URL unless more is given.
    public init(
        method: HTTPMethod = .get,
        url: String,
        query: [FormField] = [],
        headers: [HTTPHeader] = [],
        body: RequestBody = .none,
        compressesBody: Bool = false,
        transport: Transport? = nil,
        keepsCookies: Bool = false,
        cookies: [String] = [],
        download: Download? = nil,
        limits: CallLimits = .standard,
        allowsPrivateNetwork: Bool = false,
        isRepeatable: Bool? = nil
    ) {
        self.method = method
        self.url = url
        self.query = query
        self.headers = headers
        self.body = body
        self.compressesBody = compressesBody
        self.transport = transport
        self.keepsCookies = keepsCookies
        self.cookies = cookies
        self.download = download
        self.limits = limits
        self.allowsPrivateNetwork = allowsPrivateNetwork
        self.isRepeatable = isRepeatable ?? method.isIdempotent
    }
}
