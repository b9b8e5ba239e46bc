// SPDX-License-Identifier: Apache-2.0

/// A request as people see it, with `***` for each secret.
public struct ShownRequest: Equatable, Sendable {
    /// The method.
    public let method: String
    /// The URL with its query, without user, password and fragment.
    public let url: String
    /// The headers in the order of the request.
    public let headers: [HTTPHeader]
    /// The body before it is compressed.
    public let body: RequestBody
    /// Whether the body is sent in gzip.
    public let isGzip: Bool

    /// The text that stands for a secret.
    public static let secret = "***"

    /// The parts of a request whose secrets are masked.
    ///
    /// - Parameter mask: stands for each secret. `"maskn"`, quotes included, stands for a secret JSON value without
    ///   quotes, such as a number.
    public init(_ request: SentRequest, mask: String) {
        func shown(_ text: String) -> String {
            ByteText.replace(
                mask, with: ShownRequest.secret,
                in: ByteText.replace("\"\(mask)n\"", with: ShownRequest.secret, in: text))
        }
        func shown(_ bytes: [UInt8]) -> [UInt8] {
            // A body that is no text has no names, so nothing in it is masked.
            String(validating: bytes, as: UTF8.self).map { Array(shown($0).utf8) } ?? bytes
        }
        method = request.method.rawValue
        url = shown(request.url)
        headers = request.lines.compactMap { line in
            if CurlCommand.login(in: line, mask: mask) != nil {
                return HTTPHeader("Authorization", "Basic \(ShownRequest.secret)")
            }
            return ShownRequest.header(shown(line))
        }
        isGzip = request.isGzip
        body =
            switch request.sendsBody ? request.body : .none {
            case .none: .none
            case .bytes(let bytes, let type): .bytes(shown(bytes), contentType: type)
            case .form(let fields): .form(fields.map { FormField(shown($0.name), shown($0.value)) })
            case .parts(let parts):
                .parts(
                    parts.map { part in
                        var part = part
                        if case .bytes(let bytes) = part.content { part.content = .bytes(shown(bytes)) }
                        return part
                    })
            }
    }

    /// The header of a line in libcurl's form. Nil for `Name:`, which keeps libcurl from adding a header.
    private static func header(_ line: String) -> HTTPHeader? {
        guard let end = line.firstIndex(where: { $0 == ":" || $0 == ";" }) else { return nil }
        let value = line[line.index(after: end)...].drop { $0 == " " }
        if line[end] == ":" && value.isEmpty { return nil }
        return HTTPHeader(String(line[..<end]), String(value))
    }
}
