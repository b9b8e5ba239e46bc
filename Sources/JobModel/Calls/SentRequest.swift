// SPDX-License-Identifier: Apache-2.0

/// A request as the agent sends it first, before any redirect.
public struct SentRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The URL with its query, without user, password and fragment.
    public var url: String
    /// The header lines that the agent sets, in libcurl's form: `Name: value`.
    ///
    /// `Name;` has an empty value. `Name:` keeps libcurl from adding a header of its own.
    public var lines: [String]
    /// The body.
    public var body: RequestBody
    /// Whether a body is sent, possibly an empty one.
    public var sendsBody: Bool
    /// Whether the body is sent in gzip.
    public var isGzip: Bool
    /// The proxy, interface and TLS settings; nil: the defaults.
    public var transport: Transport?

    /// A request with all its parts.
    public init(
        method: HTTPMethod, url: String, lines: [String], body: RequestBody, sendsBody: Bool, isGzip: Bool,
        transport: Transport?
    ) {
        self.method = method
        self.url = url
        self.lines = lines
        self.body = body
        self.sendsBody = sendsBody
        self.isGzip = isGzip
        self.transport = transport
    }
}
