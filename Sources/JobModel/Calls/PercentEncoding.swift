// SPDX-License-Identifier: Apache-2.0

/// Encodes names and values for queries and forms.
public enum PercentEncoding {
    /// The encoding of a space.
    public enum Space: Sendable {
        /// `%20`, for queries.
        case percent
        /// `+`, for forms.
        case plus
    }

    /// `a=1&b=x%20y`: each byte outside RFC 3986's unreserved set becomes %XX.
    public static func encode(_ fields: [FormField], space: Space) -> [UInt8] {
        var out: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { out.append(UInt8(ascii: "&")) }
            append(field.name, to: &out, space: space)
            out.append(UInt8(ascii: "="))
            append(field.value, to: &out, space: space)
        }
        return out
    }

    /// Encodes bytes that are not UTF-8: each byte above ASCII becomes %XX.
    public static func encodeBeyondASCII(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        for byte in bytes { if byte < 0x80 { out.append(byte) } else { append(byte, to: &out) } }
        return String(decoding: out, as: UTF8.self)
    }

    private static let hex = [UInt8]("0123456789ABCDEF".utf8)

    private static func append(_ text: String, to out: inout [UInt8], space: Space) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.append(byte)
            case UInt8(ascii: " ") where space == .plus:
                out.append(UInt8(ascii: "+"))
            default:
                append(byte, to: &out)
            }
        }
    }

    private static func append(_ byte: UInt8, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "%"))
        out.append(hex[Int(byte >> 4)])
        out.append(hex[Int(byte & 15)])
    }
}
