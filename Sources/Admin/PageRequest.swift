// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// What a reader asks for.
struct PageRequest: Equatable, Sendable {
    /// Without the query, decoded.
    var path: String
    /// The arguments of the query, decoded; an empty one is as good as none. Of several with one name the first.
    var arguments: [String: String] = [:]
    /// The header `Host`.
    var host: String?
    /// The header `Authorization`.
    var authorization: String?

    /// More are not read.
    private static let mostArguments: Int32 = 50
}

extension PageRequest {
    /// Reads what the server has got. Bytes that are no UTF-8 become U+FFFD.
    init(_ exchange: OpaquePointer) {
        path = unsafe String(cString: chttpserver_path(exchange))
        host = unsafe chttpserver_header(exchange, "Host").map { unsafe String(cString: $0) }
        authorization = unsafe chttpserver_header(exchange, "Authorization").map { unsafe String(cString: $0) }
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        for place in 0..<PageRequest.mostArguments {
            guard unsafe chttpserver_argument(exchange, place, &name, &value), let name = unsafe name else { break }
            let key = unsafe String(cString: name)
            let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
            if !text.isEmpty, arguments[key] == nil { arguments[key] = text }
        }
    }
}
