// SPDX-License-Identifier: Apache-2.0

/// Makes text of unknown origin safe to show.
public enum SanitizedText {
    /// Replaces control characters and marks of direction by `\u{1b}` and the like. They could steer a terminal, or
    /// reverse the text next to them.
    ///
    /// - Parameter keepsLines: whether line feeds and tabs stay.
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

    /// Whether `escape` keeps the character.
    public static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        default: return true
        }
    }

    /// A body for people: at most `limit` characters of a text, or the size of other data.
    ///
    /// - Parameter size: the size of the whole body in bytes. `bytes` may be its beginning.
    public static func body(_ bytes: [UInt8], size: Int, limit: Int = 4000) -> String {
        // The beginning may end within a character, which has at most 4 bytes.
        let cut = size > bytes.count ? 0...min(3, bytes.count) : 0...0
        for missing in cut {
            guard let text = String(validating: bytes.dropLast(missing), as: UTF8.self) else { continue }
            if text.count <= limit && size == bytes.count { return text }
            return text.prefix(limit) + "… (\(size) bytes)"
        }
        return "(\(size) bytes, not text)"
    }
}
