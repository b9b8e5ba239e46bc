// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// The request of a reader.
struct AdminRequest: Equatable, Sendable {
    /// The decoded path, without the query.
    var path: String
    /// The decoded arguments of the query. An empty one counts as absent. If a name repeats, the first value counts.
    var arguments: [String: String] = [:]
    /// The header `Host`.
    var host: String?
    /// The header `Authorization`.
    var authorization: String?

    /// Further arguments are not read.
    private static let mostArguments: Int32 = 50
}

extension AdminRequest {
    /// Reads the request of the server. Bytes that are not UTF-8 become U+FFFD.
    init(_ exchange: OpaquePointer) {
        path = unsafe String(cString: chttpserver_path(exchange))
        host = unsafe chttpserver_header(exchange, "Host").map { unsafe String(cString: $0) }
        authorization = unsafe chttpserver_header(exchange, "Authorization").map { unsafe String(cString: $0) }
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        for index in 0..<AdminRequest.mostArguments {
            guard unsafe chttpserver_argument(exchange, index, &name, &value), let name = unsafe name else { break }
            let key = unsafe String(cString: name)
            let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
            if !text.isEmpty, arguments[key] == nil { arguments[key] = text }
        }
    }
}
