// SPDX-License-Identifier: Apache-2.0
public import JobModel

/// The header lines of one sending in libcurl's form, and the rules for their content.
///
/// libcurl writes CR and LF in a value to the wire (seen with 7.88), so this is the last check.
public enum RequestHeaders {
    /// Whether jobs may not set it: libcurl sets it, or it would break the framing.
    static func isTransportOwned(_ name: String) -> Bool {
        let lower = name.lowercased()
        return owned.contains(lower) || lower.hasPrefix("proxy-")
    }

    private static let owned: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade", "keep-alive",
    ]

    /// Whether the header is sent to another origin. The body is sent to the same host only.
    static func crossesOrigins(_ name: String) -> Bool {
        switch name.lowercased() {
        case "accept", "accept-language", "content-type", "user-agent": true
        default: false
        }
    }

    /// Why a job may not set a header. Nil if it may.
    public static func reason(against header: HTTPHeader) -> String? { refusal(of: header) }

    /// Why a header must not be sent, as the rest of a sentence. Nil if it may.
    static func refusal(of header: HTTPHeader) -> String? {
        if header.name.isEmpty || !header.name.utf8.allSatisfy(isToken) {
            return "a header name may hold letters, digits and !#$%&'*+-.^_`|~ only"
        }
        if header.value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) {
            return "the value of header \(header.name) holds a control character (CR, LF, NUL or another)"
        }
        if isTransportOwned(header.name) {
            return "header \(header.name) belongs to the transport and is set by the worker itself"
        }
        return nil
    }

    /// Checks all headers that a call sets itself.
    static func check(_ call: HTTPCall) throws(CallRefusal) {
        var size = 0
        for header in call.headers {
            if let refusal = refusal(of: header) { throw CallRefusal(.badHeader, refusal) }
            size += header.name.utf8.count + header.value.utf8.count
        }
        guard size <= limit else {
            throw CallRefusal(
                .badHeader,
                "the headers have \(size) bytes, more than the limit of \(limit); send large values in the body"
            )
        }
        if case .bytes(_, let type?) = call.body, let refusal = refusal(of: HTTPHeader("Content-Type", type)) {
            throw CallRefusal(.badHeader, refusal)
        }
    }

    /// The most bytes of all lines of a call. libcurl takes 1 MiB for headers and URL together, and reports more as a
    /// lack of memory.
    static let limit = 500_000

    /// Whether a job's own Accept-Encoding allows encodings that only libcurl can decode: all except gzip and deflate.
    static func needsLibraryDecoding(_ value: String) -> Bool {
        let lower = value.lowercased()
        return lower.contains("br") || lower.contains("zstd") || lower.contains("*")
    }

    /// Appends `Name: value` and NUL. An empty value needs libcurl's form `Name;`.
    static func append(_ name: String, _ value: String, to lines: inout [UInt8]) {
        lines.append(contentsOf: name.utf8)
        if value.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
            lines.append(UInt8(ascii: ";"))
        } else {
            lines.append(UInt8(ascii: ":"))
            lines.append(UInt8(ascii: " "))
            lines.append(contentsOf: value.utf8)
        }
        lines.append(0)
    }

    /// Appends `Name:` and NUL. libcurl then omits its own header of that name.
    static func appendRemoval(of name: String, to lines: inout [UInt8]) {
        lines.append(contentsOf: name.utf8)
        lines.append(UInt8(ascii: ":"))
        lines.append(0)
    }

    /// Whether the byte may occur in a token (RFC 9110 §5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
