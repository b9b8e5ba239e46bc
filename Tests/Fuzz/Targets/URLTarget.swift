// SPDX-License-Identifier: Apache-2.0

@testable import HTTPAgent
@testable import JobModel

/// A URL, a Location behind a zero byte, and the name of an argument.
enum URLTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        var reader = InputReader(input)
        let text = reader.text()
        let location = reader.text()
        let name = reader.text()
        if let url = try? CallURL.parse(text, query: name.isEmpty ? [] : [FormField(name, location)]) {
            try check(url)
            if let next = try? url.resolving(location) {
                try check(next)
                try expect(next.authorization == nil, "a Location brings a login")
                if next.hasSameOrigin(as: url) { try expect(next.origin == url.origin, "origins differ") }
            }
        }
        if let proxy = try? ProxyAddress(text) {
            try expect(!proxy.url.contains("@") || proxy.host.contains("@"), "the proxy's login stays in its URL")
        }
        try checkMask(text)
        try checkDropping(name, from: text)
    }

    private static func check(_ url: CallURL) throws(Finding) {
        guard let text = url.text else { return }
        try expect(!url.host.isEmpty && (1...65_535).contains(url.port), "no host or port")
        try expect(!text.utf8.contains { $0 <= 0x20 || $0 == 0x7f || $0 == 0x5c }, "a byte that may not be called")
        try expect(!text.utf8.contains(0x23), "the fragment is called")
        let authority = text.utf8.drop { $0 != 0x2f }.dropFirst(2).prefix { $0 != 0x2f && $0 != 0x3f }
        try expect(!authority.contains(0x40), "the login stays in the URL")
        _ = url.privateHostReason
        if let login = url.authorization {
            let bytes = Base64.decode(login.dropFirst(6)) ?? []
            try expect(bytes.contains(0x3a), "a login without a colon")
        }
    }

    /// Neither login nor query nor fragment is shown. libcurl finds each of them by a single byte.
    private static func checkMask(_ text: String) throws(Finding) {
        let masked = MaskedURL(text)
        try expect(!masked.text.utf8.contains { $0 == 0x3f || $0 == 0x23 }, "a query or fragment is shown")
        guard let mark = text.utf8.firstRange(of: Array("://".utf8)) else { return }
        let rest = text.utf8[mark.upperBound...].prefix { $0 != 0x3f && $0 != 0x23 }
        let authority = rest.prefix { $0 != 0x2f && $0 != 0x5c }
        guard let at = authority.lastIndex(of: 0x40),
            text.utf8[..<mark.lowerBound].allSatisfy({ $0 != 0x3f && $0 != 0x23 })
        else { return }
        let shown = Array(text.utf8[mark.upperBound...at])
        try expect(masked.text.utf8.count + shown.count <= text.utf8.count + 8, "a login is shown")
        let after = ByteText.split(masked.text, by: "://").dropFirst().joined(separator: "://").utf8
            .prefix { $0 != 0x2f && $0 != 0x5c }
        try expect(!after.contains(0x40), "a login is shown")
    }

    /// The argument of a credential replaces each argument of the same name.
    private static func checkDropping(_ name: String, from url: String) throws(Finding) {
        // A question mark behind a number sign belongs to the fragment.
        let left = HTTPCall.dropping(name, from: url).utf8.prefix { $0 != 0x23 }
        guard let mark = left.firstIndex(of: 0x3f) else { return }
        for argument in left[left.index(after: mark)...].split(separator: 0x26) {
            let written = Array(argument.prefix { $0 != 0x3d })
            try expect(
                written != Array(name.utf8) || name.utf8.contains { $0 == 0x25 || $0 == 0x2b }, "an argument stays")
        }
    }
}
