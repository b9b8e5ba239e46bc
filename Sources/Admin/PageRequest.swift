// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// What a reader asks for.
struct PageRequest: Equatable, Sendable {
    /// Without the query, decoded.
    var path: String
    /// The arguments that pages know, decoded; an empty one is as good as none.
    var arguments: [String: String] = [:]
    /// The header `Host`.
    var host: String?
    /// The header `Authorization`.
    var authorization: String?

    private static let names = ["id", "state", "queue", "tag", "limit"]
}

extension PageRequest {
    /// Reads what the server has got. Bytes that are no UTF-8 become U+FFFD.
    init(_ exchange: OpaquePointer) {
        path = unsafe String(cString: chttpserver_path(exchange))
        host = unsafe chttpserver_header(exchange, "Host").map { unsafe String(cString: $0) }
        authorization = unsafe chttpserver_header(exchange, "Authorization").map { unsafe String(cString: $0) }
        for name in PageRequest.names {
            guard let value = unsafe chttpserver_argument(exchange, name) else { continue }
            let text = unsafe String(cString: value)
            if !text.isEmpty { arguments[name] = text }
        }
    }
}
