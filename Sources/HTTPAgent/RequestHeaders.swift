// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The header lines of one sending in the form libcurl takes, and the rules for what may stand in them.
///
/// libcurl passes CR and LF in a value on to the wire (seen on 7.88): this is the last gate.
enum RequestHeaders {
    /// Refused in a job, since libcurl sets them or they would break the framing (contract §8).
    static func isTransportOwned(_ name: String) -> Bool {
        let lower = name.lowercased()
        return owned.contains(lower) || lower.hasPrefix("proxy-")
    }

    private static let owned: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade", "keep-alive",
    ]

    /// What goes along to another origin, without a body: that follows to the same host only.
    static func crossesOrigins(_ name: String) -> Bool {
        switch name.lowercased() {
        case "accept", "accept-language", "content-type", "user-agent": true
        default: false
        }
    }

    /// Why a header must not be sent, as the rest of a sentence; nil if it may.
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

    /// How many bytes the lines of a call may have in all. libcurl takes 1 MiB for headers and URL together and calls
    /// what is more a lack of memory.
    static let limit = 500_000

    /// Whether a job's own Accept-Encoding admits what only libcurl can undo: anything but gzip and deflate.
    static func asksForMore(_ value: String) -> Bool {
        let lower = value.lowercased()
        return lower.contains("br") || lower.contains("zstd") || lower.contains("*")
    }

    /// Appends `Name: value` and NUL; an empty value needs libcurl's own form `Name;`.
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

    /// Appends `Name:` and NUL, by which libcurl leaves its own header of that name out.
    static func appendRemoval(of name: String, to lines: inout [UInt8]) {
        lines.append(contentsOf: name.utf8)
        lines.append(UInt8(ascii: ":"))
        lines.append(0)
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
