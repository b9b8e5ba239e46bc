// SPDX-License-Identifier: Apache-2.0

/// Writes texts as JSON.
public enum JSONText {
    /// The text as a JSON string, quotes included (RFC 8259 §7).
    public static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// The text as it appears between the quotes of a JSON string.
    public static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: isEscaped) else { return text }
        var bytes: [UInt8] = []
        append(escaping: text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the text as it appears between the quotes of a JSON string.
    public static func append(escaping text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            // Most texts need no escape, so they are copied in one piece.
            guard unsafe utf8.contains(where: isEscaped) else { return unsafe bytes.append(contentsOf: utf8) }
            for place in utf8.indices {
                let byte = unsafe utf8[place]
                if isEscaped(byte) { bytes += escape(of: byte).utf8 } else { bytes.append(byte) }
            }
        }
    }

    /// All bytes of a scalar above 0x7f are above it too, so they stay as they are.
    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(of byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\r"): "\\r"
        case UInt8(ascii: "\t"): "\\t"
        default: "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
