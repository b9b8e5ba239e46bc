// SPDX-License-Identifier: Apache-2.0

/// Finds and replaces parts of a text by their bytes.
///
/// A Swift character may be a quote with a combining mark behind it, and such a character is no quote. Shells, SQL, URLs
/// and HTTP read bytes, so texts for them are never searched by character.
public enum ByteText {
    /// The parts of the text between the places of `mark`, possibly empty ones. The whole text without such a place.
    public static func split(_ text: String, by mark: String) -> [String] {
        let bytes = Array(text.utf8)
        let wanted = Array(mark.utf8)
        guard let first = wanted.first else { return [text] }
        var parts: [String] = []
        var start = 0
        var at = 0
        while at + wanted.count <= bytes.count {
            guard bytes[at] == first, bytes[at..<at + wanted.count].elementsEqual(wanted) else {
                at += 1
                continue
            }
            parts.append(String(decoding: bytes[start..<at], as: UTF8.self))
            at += wanted.count
            start = at
        }
        if parts.isEmpty { return [text] }
        return parts + [String(decoding: bytes[start...], as: UTF8.self)]
    }

    /// The text with `other` in each place of `mark`.
    public static func replace(_ mark: String, with other: String, in text: String) -> String {
        split(text, by: mark).joined(separator: other)
    }

    /// How often the text has `mark`.
    public static func count(_ mark: String, in text: String) -> Int { split(text, by: mark).count - 1 }
}
