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
    public init(_ url: String) {
        let plain = url.prefix { $0 != "?" && $0 != "#" }
        guard let mark = plain.firstRange(of: "://") else {
            text = String(plain)
            return
        }
        let scheme = plain[..<mark.lowerBound].lowercased()
        let rest = plain[mark.upperBound...]
        // Some parsers read a backslash as a slash.
        let authority = rest.prefix { $0 != "/" && $0 != "\\" }
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        text = "\(scheme)://\(place)\(rest[authority.endIndex...])"
        let bracket = place.lastIndex(of: "]")
        let colon = place.lastIndex(of: ":").flatMap { colon in bracket.map { colon > $0 } ?? true ? colon : nil }
        let name = place[..<(colon ?? place.endIndex)]
        host = (name.hasPrefix("[") && name.hasSuffix("]") ? name.dropFirst().dropLast() : name).lowercased()
        port = colon.flatMap { Int(place[place.index(after: $0)...]) } ?? MaskedURL.ports[scheme]
    }

    private static let ports = ["http": 80, "https": 443]
}
