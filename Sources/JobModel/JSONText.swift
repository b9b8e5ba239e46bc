// SPDX-License-Identifier: Apache-2.0

/// Writes texts as JSON.
public enum JSONText {
    /// The text as a JSON string, quotes included (RFC 8259 §7).
    public static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// The text as it appears between the quotes of a JSON string.
    public static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
