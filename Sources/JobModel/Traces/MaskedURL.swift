// SPDX-License-Identifier: Apache-2.0

/// A URL for other systems: without user, password, query and fragment, which may hold secrets.
public struct MaskedURL: Equatable, Sendable {
    /// Scheme, host, port and path.
    public var text: String
    /// The host, in lower case and without brackets. Empty if the URL has none.
    public var host = ""
    /// The port, if written or known from the scheme.
    public var port: Int?

    /// Masks a URL. A text without a scheme loses its query and fragment.
    ///
    /// The marks are searched by bytes, as servers and libcurl read them. A combining mark behind a `?` or `@` would
    /// otherwise hide it, and the secret behind it would be shown.
    public init(_ url: String) {
        let plain = Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        guard let mark = plain.firstRange(of: Array("://".utf8)) else {
            text = String(decoding: plain, as: UTF8.self)
            return
        }
        let scheme = String(decoding: plain[..<mark.lowerBound], as: UTF8.self).lowercased()
        let rest = plain[mark.upperBound...]
        // Some parsers read a backslash as a slash.
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
        let place = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let shown = place + rest[authority.endIndex...]
        text = "\(scheme)://" + String(decoding: shown, as: UTF8.self)
        let bracket = place.lastIndex(of: UInt8(ascii: "]"))
        let colon = place.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            bracket.map { colon > $0 } ?? true ? colon : nil
        }
        let name = place[..<(colon ?? place.endIndex)]
        let hasBrackets = name.count > 1 && name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]")
        host = String(decoding: hasBrackets ? name.dropFirst().dropLast() : name, as: UTF8.self).lowercased()
        port = colon.flatMap { Int(String(decoding: place[($0 + 1)...], as: UTF8.self)) } ?? MaskedURL.ports[scheme]
    }

    private static let ports = ["http": 80, "https": 443]
}
