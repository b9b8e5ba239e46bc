// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// The request of a reader.
struct AdminRequest: Equatable, Sendable {
    /// The decoded path, without the query.
    var path: String
    /// The decoded arguments of the query. An empty one counts as absent. If a name repeats, the first value counts.
    /// Only values of `ids` and `causes` are joined, by commas: each ticked box of a list sends one.
    var arguments: [String: String] = [:]
    /// The header `Host`.
    var host: String?
    /// The header `Authorization`.
    var authorization: String?
    /// The header `Referer`.
    var referrer: String?
    /// The header `Origin`.
    var origin: String?
    /// The header `Sec-Fetch-Site`.
    var fetchSite: String?
    /// The header `Content-Type`.
    var contentType: String?
    /// The body of a POST; nil for GET and HEAD.
    var form: [UInt8]?

    /// Further arguments are not read. Of ticked boxes, more than `TickedJobs` accepts are read, so that too many are
    /// an error and none is left out in silence.
    private static let mostArguments = Int32(TickedJobs.most + 100)
}

extension AdminRequest {
    /// Reads the request of the server. Bytes that are not UTF-8 become U+FFFD.
    init(_ exchange: OpaquePointer) {
        path = unsafe String(cString: chttpserver_path(exchange))
        func header(_ name: StaticString) -> String? {
            unsafe chttpserver_header(exchange, "\(name)").map { unsafe String(cString: $0) }
        }
        host = header("Host")
        authorization = header("Authorization")
        referrer = header("Referer")
        origin = header("Origin")
        fetchSite = header("Sec-Fetch-Site")
        contentType = header("Content-Type")
        if unsafe chttpserver_is_post(exchange) {
            var count = 0
            let body = unsafe chttpserver_body(exchange, &count)
            form = unsafe Array(UnsafeRawBufferPointer(start: body, count: count))
        }
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        for index in 0..<AdminRequest.mostArguments {
            guard unsafe chttpserver_argument(exchange, index, &name, &value), let name = unsafe name else { break }
            let key = unsafe String(cString: name)
            let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
            guard !text.isEmpty else { continue }
            if let before = arguments[key] {
                if [TickedJobs.field, TickedCauses.field].contains(key) { arguments[key] = "\(before),\(text)" }
            } else {
                arguments[key] = text
            }
        }
    }
}
