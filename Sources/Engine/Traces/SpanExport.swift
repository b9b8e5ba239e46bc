// SPDX-License-Identifier: Apache-2.0

public import JobModel

/// Where a worker sends its spans: a collector that takes OTLP over HTTP in JSON.
public struct SpanExport: Equatable, Sendable {
    /// The URL for spans.
    public var url: String
    /// Headers for the collector, such as a login. They are never shown.
    public var headers: [HTTPHeader]
    /// The limit of one request.
    public var timeout: Duration
    /// Whether bodies are sent in gzip.
    public var compresses: Bool
    /// The description of the worker for the collector: `service.name` and other attributes.
    public var resource: [String: String]

    /// An export to a collector. By default it has 10 s for a request and compresses nothing.
    public init(
        url: String, headers: [HTTPHeader] = [], timeout: Duration = .seconds(10), compresses: Bool = false,
        resource: [String: String] = [:]
    ) {
        self.url = url
        self.headers = headers
        self.timeout = timeout
        self.compresses = compresses
        self.resource = resource
    }

    /// The request for a batch. The collector is the operator's, so it may have a private address.
    func call(_ body: [UInt8]) -> HTTPCall {
        HTTPCall(
            method: .post, url: url, headers: headers, body: .bytes(body, contentType: "application/json"),
            compressesBody: compresses,
            limits: CallLimits(total: timeout, connect: timeout, maxResponseBytes: 65_536, maxRedirects: 0),
            allowsPrivateNetwork: true, isRepeatable: true)
    }
}
