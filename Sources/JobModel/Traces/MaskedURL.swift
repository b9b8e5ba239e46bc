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
        let plain = Array(url.utf8).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let colon = MaskedURL.schemeEnd(plain) else {
            text = String(decoding: plain, as: UTF8.self)
            return
        }
        let scheme = String(decoding: plain[..<colon], as: UTF8.self).lowercased()
        let rest = plain[(colon + 3)...]
        // Some parsers read a backslash as a slash.
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
        let place = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        text = scheme + "://" + String(decoding: rest[place.startIndex...], as: UTF8.self)
        readPlace(place, scheme: scheme)
    }

    /// Where `://` begins.
    private static func schemeEnd(_ plain: ArraySlice<UInt8>) -> Int? {
        let slash = UInt8(ascii: "/")
        var colon = plain.startIndex
        while colon + 2 < plain.endIndex {
            if plain[colon] == UInt8(ascii: ":"), plain[colon + 1] == slash, plain[colon + 2] == slash { return colon }
            colon += 1
        }
        return nil
    }

    private mutating func readPlace(_ place: ArraySlice<UInt8>, scheme: String) {
        let bracket = place.lastIndex(of: UInt8(ascii: "]"))
        let colon = place.lastIndex(of: UInt8(ascii: ":")).flatMap { colon in
            bracket.map { colon > $0 } ?? true ? colon : nil
        }
        let name = place[..<(colon ?? place.endIndex)]
        let hasBrackets = name.count > 1 && name.first == UInt8(ascii: "[") && name.last == UInt8(ascii: "]")
        host = String(decoding: hasBrackets ? name.dropFirst().dropLast() : name, as: UTF8.self).lowercased()
        port = colon.flatMap { Int(String(decoding: place[($0 + 1)...], as: UTF8.self)) } ?? MaskedURL.port(of: scheme)
    }

    private static func port(of scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }
}
