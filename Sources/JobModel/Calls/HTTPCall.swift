// SPDX-License-Identifier: Apache-2.0

/// The methods of jobs. The raw value is sent.
public enum HTTPMethod: String, CaseIterable, Sendable {
    case get = "GET"
    case post = "POST"
    case head = "HEAD"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"

    /// Whether two requests have the same effect as one (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options: true
        case .post, .patch: false
        }
    }
}

/// One header line. The order of lines is the user's, and names may repeat.
public struct HTTPHeader: Equatable, Sendable {
    /// The name as the user wrote it. Comparisons ignore case.
    public var name: String
    /// The value in bytes of Latin-1 or UTF-8, without CR, LF and NUL.
    public var value: String

    /// Joins a name and a value. Neither is checked here.
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

    /// Joins a name and a value of the job.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The content of a request after its headers.
public enum RequestBody: Equatable, Sendable {
    /// No body.
    case none
    /// Bytes that are sent unchanged. `contentType` applies unless the job's headers name one.
    case bytes([UInt8], contentType: String?)
    /// Fields that are sent as `application/x-www-form-urlencoded`.
    case form([FormField])
    /// Parts that are sent as `multipart/form-data`. Files are streamed, so they are never in memory as a whole.
    case parts([BodyPart])

    /// Whether it is multipart, which has its own Content-Type.
    public var isParts: Bool {
        if case .parts = self { true } else { false }
    }

    /// Whether a part is streamed from a file.
    public var hasFiles: Bool {
        if case .parts(let parts) = self { parts.contains(where: \.isFile) } else { false }
    }
}

/// The limits of one attempt.
public struct CallLimits: Equatable, Sendable {
    /// A value of `total` without a wall-clock limit, for transfers of files. They end as `slow` when they stall.
    public static let unlimited = Duration.seconds(Int64.max)

    /// The time from the start of the connect to the last byte, with all redirects. `unlimited`: only the speed is
    /// limited.
    public var total: Duration
    /// The time for name lookup, TCP and TLS together.
    public var connect: Duration
    /// The time from the request's last byte to the answer's first; nil: only `total` limits it.
    public var firstByte: Duration?
    /// If the speed stays below so many bytes a second for `lowSpeedTime`, the attempt ends as `slow`.
    public var lowSpeedBytes: Int
    /// How long the transfer may be that slow.
    public var lowSpeedTime: Duration
    /// The largest body in bytes. It limits the received and the decompressed size.
    public var maxResponseBytes: Int
    /// How many redirects are followed.
    public var maxRedirects: Int
    /// Whether the worker's memory limits `maxResponseBytes` to less than the job allows.
    public var isBoundByMemory = false

    /// The default limits of a job: 60 s in all, 10 s to connect, 10 MiB, 5 redirects.
    public static let standard = CallLimits()

    /// Limits. An omitted one has its default value.
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

/// The input of the agent for one attempt. It contains nothing about queues or databases.
public struct HTTPCall: Sendable {
    /// The method. A redirect may change it.
    public var method: HTTPMethod
    /// An absolute http or https URL. User and password in it move to the Authorization header.
    public var url: String
    /// Arguments that are added to the URL's own query, percent-encoded, in this order.
    public var query: [FormField]
    /// The job's own headers, in order.
    public var headers: [HTTPHeader]
    /// The body.
    public var body: RequestBody
    /// Whether a body of bytes or a form is sent in gzip, with `Content-Encoding: gzip`. Parts are never compressed.
    public var compressesBody: Bool
    /// The proxy, interface and TLS settings; nil: the defaults.
    public var transport: Transport?
    /// Whether the outcome contains cookies that answers set, which redirects then carry. True if `cookies` is given.
    public var keepsCookies: Bool
    /// The cookie jar: lines in Netscape's file format, or `Set-Cookie: …` with a Domain. libcurl sends the lines whose
    /// domain and path fit.
    public var cookies: [String]
    /// The file for the body; nil: the body stays in memory.
    public var download: Download?
    /// The limits of the attempt.
    public var limits: CallLimits
    /// Whether private, loopback and link-local addresses may be called.
    public var allowsPrivateNetwork: Bool
    /// The setting that could allow them, for the message about a refused call.
    public var privateNetworkSwitch = PrivateNetworkSwitch.service
    /// Whether the agent may send the request a second time at once, if a reused connection turns out dead before the
    /// answer's first byte. By default true for idempotent methods. An `at_most_once` job sets it to false, a job with
    /// an idempotency key to true.
    public var isRepeatable: Bool

    /// Whether other calls may use its connection: before it, after it, or at the same time over HTTP/2. True by
    /// default.
    ///
    /// Only a sent request shows whether an open connection still leads to its server. Over HTTP/2 a server may refuse
    /// all requests after the last one that it processes, and libcurl does not distinguish that from a broken
    /// connection. So an `at_most_once` job, which could not be sent again, sets it to false.
    public var mayShareConnection = true

    /// Whether it may share an HTTP/2 connection over TLS. It must be false for an answer that may have to wait for
    /// memory.
    public var mayMultiplex = true

    /// The prepared answer that replaces the call; nil: the call is made.
    public var stub: StubAnswer?

    /// Whether Content-Encoding is decoded. If false, the body stays as received.
    public var decodesBody = true

    /// How many bytes of the answer the agent keeps before its owner must grant more. By default all.
    public var answerRoom = Int.max

    /// The setting `allow_private_network` that applies to a call, in addition to the worker's `--allow-private`.
    public enum PrivateNetworkSwitch: Sendable {
        /// The setting of the job's service.
        case service
        /// The setting of the credential whose token is fetched.
        case credential
        /// No setting: a webhook has no service.
        case none
    }

    /// Whether it has a cookie jar.
    public var usesCookies: Bool { keepsCookies || !cookies.isEmpty }

    /// A call. By default it has standard limits, and nothing but a method and a URL.
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
