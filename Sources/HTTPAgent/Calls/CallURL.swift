// SPDX-License-Identifier: Apache-2.0
import CCurl
import CResolver
import JobModel

/// One URL that libcurl's parser has read, checked and without credentials. C: `curl_url`.
@safe final class CallURL {
    /// Why a text is not a URL that may be called. `message` never contains the URL.
    struct Refusal: Error, Equatable {
        var message: String
        /// Whether the URL is valid, but its scheme is neither http nor https.
        var otherScheme = false
    }

    /// The most bytes of a URL, and of its query; see `RequestHeaders.limit`.
    private static let limit = 500_000

    let handle: OpaquePointer
    /// Whether the scheme is https. Otherwise it is http.
    let isHTTPS: Bool
    let host: String
    let port: Int
    /// `Basic …` from the user and password of the URL.
    let authorization: String?

    /// Parses an absolute URL and appends `query`.
    static func parse(_ text: String, query: [FormField] = []) throws(Refusal) -> CallURL {
        try checkText(text)
        guard let handle = unsafe curl_url() else { throw Refusal(message: "out of memory") }
        return try unsafe build(owning: handle, setting: text, query: query, keepsCredentials: true)
    }

    /// Resolves a Location against this URL. Credentials in a Location are dropped.
    func resolving(_ location: String) throws(Refusal) -> CallURL {
        try CallURL.checkBytes(location, allowingSpace: true)
        // With a scheme and slashes it must have the form `scheme://host`, like the URL of a job.
        if location.utf8.contains(UInt8(ascii: ":")), location.contains("//") || location.contains(":/") {
            if CallURL.hasScheme(location) { try CallURL.checkText(location, allowingSpace: true) }
        }
        guard let copy = unsafe curl_url_dup(handle) else { throw Refusal(message: "out of memory") }
        // Path and query stay (RFC 3986 §5.2.2). libcurl would remove both.
        if location.isEmpty || location.hasPrefix("#") {
            return unsafe CallURL(owning: copy, isHTTPS: isHTTPS, host: host, port: port, authorization: nil)
        }
        return try unsafe CallURL.build(owning: copy, setting: location, query: [], keepsCredentials: false)
    }

    private init(owning handle: OpaquePointer, isHTTPS: Bool, host: String, port: Int, authorization: String?) {
        unsafe self.handle = handle
        self.isHTTPS = isHTTPS
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    private static func build(
        owning handle: OpaquePointer, setting text: String, query: [FormField], keepsCredentials: Bool
    ) throws(Refusal) -> CallURL {
        var handedOver = false
        defer { if !handedOver { unsafe curl_url_cleanup(handle) } }
        let code = unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_URLENCODE))
        guard code == CURLUE_OK else {
            if code == CURLUE_UNSUPPORTED_SCHEME {
                throw Refusal(message: "the scheme is not http or https", otherScheme: true)
            }
            throw Refusal(message: unsafe String(cString: curl_url_strerror(code)))
        }
        let scheme = unsafe part(handle, CURLUPART_SCHEME) ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw Refusal(message: "the scheme is \(scheme), not http or https", otherScheme: true)
        }
        let host = unsafe part(handle, CURLUPART_HOST) ?? ""
        guard !host.isEmpty else { throw Refusal(message: "it has no host") }
        let port = unsafe Int(part(handle, CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)) ?? "") ?? 0
        guard port > 0 else { throw Refusal(message: "port 0 cannot be called") }
        let authorization = keepsCredentials ? try unsafe basic(handle) : nil
        unsafe curl_url_set(handle, CURLUPART_USER, nil, 0)
        unsafe curl_url_set(handle, CURLUPART_PASSWORD, nil, 0)
        unsafe curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        if !query.isEmpty {
            let encoded = String(decoding: PercentEncoding.encode(query, space: .percent), as: UTF8.self)
            guard text.utf8.count + encoded.utf8.count <= limit else {
                throw Refusal(message: "it has more than \(limit) bytes with its query; send large values in the body")
            }
            guard unsafe curl_url_set(handle, CURLUPART_QUERY, encoded, UInt32(CURLU_APPENDQUERY)) == CURLUE_OK else {
                throw Refusal(message: "the query cannot be appended")
            }
        }
        handedOver = true
        return unsafe CallURL(
            owning: handle, isHTTPS: scheme == "https", host: host.lowercased(), port: port,
            authorization: authorization
        )
    }

    deinit { unsafe curl_url_cleanup(handle) }

    /// Whether scheme, host and port are equal (RFC 6454).
    func hasSameOrigin(as other: CallURL) -> Bool {
        isHTTPS == other.isHTTPS && port == other.port && host == other.host
    }

    /// Whether the other URL is the same host on the default ports, with https instead of http.
    ///
    /// This is the only change of origin that body, headers, cookies and credentials follow. The certificate proves
    /// that the host is the intended one.
    func isUpgrade(to other: CallURL) -> Bool {
        !isHTTPS && other.isHTTPS && port == 80 && other.port == 443 && host == other.host
    }

    /// The text that is called.
    var text: String? { unsafe CallURL.part(handle, CURLUPART_URL) }

    /// Scheme, host and port for messages, without path, query and default port.
    var origin: String {
        "\(isHTTPS ? "https" : "http")://\(host)" + (port == (isHTTPS ? 443 : 80) ? "" : ":\(port)")
    }

    /// Why a call that is limited to public addresses may not give this host to a proxy, as the rest of a sentence.
    ///
    /// The proxy resolves names. So this check refuses only hosts whose text shows that they are private. libcurl's
    /// parser has normalized IPv4 addresses before.
    var privateHostReason: String? {
        let bare = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
        var name = bare
        while name.hasSuffix(".") { name.removeLast() }
        switch unsafe cresolver_address_text_is_public(String(name)) {
        case 0: return "is a private, loopback, link-local or reserved address"
        case 1: return nil
        default: break
        }
        // `127.1.` is a name to libcurl, and an address to a proxy that ignores the final dot.
        if CallURL.endsInNumber(name) { return "may be an address to the proxy; write it as four numbers of 0 to 255" }
        if name == "localhost" || name.hasSuffix(".localhost") { return "is the proxy's own host" }
        // Circled digits and similar characters become an address only when the proxy or libcurl maps them.
        if name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        return "must be written in punycode (xn--…) for a call through a proxy"
    }

    /// Whether the last label is a number in decimal, octal or hexadecimal. Many parsers then read the whole host as an
    /// IPv4 address, even a broken one. No top-level domain is a number (RFC 3696 §2).
    private static func endsInNumber(_ name: Substring) -> Bool {
        guard let label = name.split(separator: ".").last else { return false }
        if label.hasPrefix("0x") { return label.dropFirst(2).utf8.allSatisfy { isHexDigit($0) } }
        return label.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func checkText(_ text: String, allowingSpace: Bool = false) throws(Refusal) {
        guard text.utf8.count <= limit else {
            throw Refusal(message: "it has more than \(limit) bytes; send large values in the body")
        }
        try checkBytes(text, allowingSpace: allowingSpace)
        // libcurl also accepts one and three slashes, and guesses a missing scheme. Other parsers differ. A filter in
        // front of the worker would then check another URL than the called one.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw Refusal(message: "it is not absolute: write http:// or https:// in front")
        }
        let rest = text.utf8[colon...].prefix(4)
        guard rest.starts(with: "://".utf8) else {
            throw Refusal(message: "it is not absolute: write http:// or https:// in front")
        }
        guard rest.count == 4, rest.last != UInt8(ascii: "/") else { throw Refusal(message: "it has no host") }
    }

    private static func checkBytes(_ text: String, allowingSpace: Bool) throws(Refusal) {
        for byte in text.utf8 {
            if byte == UInt8(ascii: " "), allowingSpace { continue }
            if byte <= 0x20 || byte == 0x7f {
                throw Refusal(message: "it holds a space or control character; percent-encode it")
            }
            // Browsers read `\` as `/` and libcurl does not, so they would disagree on the host.
            if byte == UInt8(ascii: "\\") { throw Refusal(message: "it holds a backslash; percent-encode it (%5C)") }
        }
    }

    /// Whether a reference begins with a scheme (RFC 3986 §3.1).
    private static func hasScheme(_ text: String) -> Bool {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: ":"): return true
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
            default: continue
            }
        }
        return false
    }

    private static func basic(_ handle: OpaquePointer) throws(Refusal) -> String? {
        let user = unsafe decoded(handle, CURLUPART_USER)
        let password = unsafe decoded(handle, CURLUPART_PASSWORD)
        switch (user, password) {
        case (.absent, .absent): return nil
        case (.broken, _), (_, .broken):
            throw Refusal(message: "its user or password holds a control character")
        default: break
        }
        guard !user.text.isEmpty || !password.text.isEmpty else {
            throw Refusal(message: "it has an empty user in front of the host")
        }
        // RFC 7617 §2: if a user contains a colon, its end cannot be recognized.
        guard !user.text.utf8.contains(UInt8(ascii: ":")) else { throw Refusal(message: "its user holds a colon") }
        return "Basic " + Base64.encode([UInt8](user.text.utf8) + [UInt8(ascii: ":")] + [UInt8](password.text.utf8))
    }

    /// The user or password of a URL, if any.
    enum Credential: Equatable {
        case absent, broken
        case present(String)

        var text: String { if case .present(let text) = self { text } else { "" } }
    }

    /// The percent-decoded value.
    static func decoded(_ handle: OpaquePointer, _ part: CURLUPart) -> Credential {
        var text: UnsafeMutablePointer<CChar>?
        let code = unsafe curl_url_get(handle, part, &text, UInt32(CURLU_URLDECODE))
        if code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD { return .absent }
        guard code == CURLUE_OK, let text = unsafe text else { return .broken }
        defer { unsafe curl_free(text) }
        return .present(unsafe String(cString: text))
    }

    /// The value without decoding. Nil if the URL has no such part.
    static func part(_ handle: OpaquePointer, _ part: CURLUPart, flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
