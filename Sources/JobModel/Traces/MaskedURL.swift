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
        let bytes = url.utf8
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard let colon = MaskedURL.schemeEnd(bytes[..<end]) else {
            text = String(decoding: bytes[..<end], as: UTF8.self)
            return
        }
        let written = String(decoding: bytes[..<colon], as: UTF8.self)
        let scheme = written.lowercased()
        let rest = bytes[bytes.index(colon, offsetBy: 3)..<end]
        // Some parsers read a backslash as a slash.
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
        let user = authority.lastIndex(of: UInt8(ascii: "@"))
        if user == nil, scheme == written {
            // Most URLs hide nothing.
            text = end == bytes.endIndex ? url : String(decoding: bytes[..<end], as: UTF8.self)
        } else {
            let place = user.map { rest[rest.index(after: $0)...] } ?? rest
            text = scheme + "://" + String(decoding: place, as: UTF8.self)
        }
        readPlace(user.map { authority[authority.index(after: $0)...] } ?? authority, scheme: scheme)
    }

    /// Where `://` begins.
    private static func schemeEnd(_ plain: Substring.UTF8View) -> String.Index? {
        var rest = plain
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[rest.index(after: colon)...]
            if rest.starts(with: "//".utf8) { return colon }
        }
        return nil
    }

    private mutating func readPlace(_ place: Substring.UTF8View, scheme: String) {
        let bracket = place.lastIndex(of: UInt8(ascii: "]"))
        let colon = place.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            bracket.map { colon > $0 } ?? true ? colon : nil
        }
        let name = place[..<(colon ?? place.endIndex)]
        let hasBrackets = name.count > 1 && name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]")
        host = String(decoding: hasBrackets ? name.dropFirst().dropLast() : name, as: UTF8.self).lowercased()
        port = colon.flatMap { Int(Substring(place[place.index(after: $0)...])) } ?? MaskedURL.port(of: scheme)
    }

    private static func port(of scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }
}
