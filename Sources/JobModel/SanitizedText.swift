// SPDX-License-Identifier: Apache-2.0

/// Text from elsewhere, made fit to be shown.
public enum SanitizedText {
    /// The text without what could steer a terminal or turn around what stands beside it: control characters and marks
    /// of direction become `\u{1b}` and the like.
    ///
    /// - Parameter keepsLines: line feeds and tabs stay.
    public static func escape(_ text: String, keepsLines: Bool = false) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            if isHarmless(scalar) || (keepsLines && (scalar == "\n" || scalar == "\t")) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return shown
    }

    /// Whether `escape` leaves it as it is.
    public static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    /// A body for people: text as text, of which `limit` characters at most, anything else by its size.
    ///
    /// - Parameter size: of the whole body in bytes, of which `bytes` may be the beginning.
    public static func body(_ bytes: [UInt8], size: Int, limit: Int = 4000) -> String {
        // A beginning may end within a character, of 4 bytes at most.
        let cut = size > bytes.count ? 0...min(3, bytes.count) : 0...0
        for missing in cut {
            guard let text = String(validating: bytes.dropLast(missing), as: UTF8.self) else { continue }
            if text.count <= limit && size == bytes.count { return text }
            return text.prefix(limit) + "… (\(size) bytes)"
        }
        return "(\(size) bytes, not text)"
    }
}
