// SPDX-License-Identifier: Apache-2.0

/// Texts as words of a POSIX shell, with variables for secrets.
struct ShellText {
    /// The text that stands for each secret.
    let mask: String
    /// How many secrets all words have.
    let secrets: Int
    /// How many secrets have been written.
    private var written = 0

    /// A writer for a command with so many secrets.
    init(mask: String, secrets: Int) {
        self.mask = mask
        self.secrets = secrets
    }

    /// The number of secrets in a text.
    static func count(_ mask: String, in text: String) -> Int { ByteText.count(mask, in: text) }

    /// One word. A word without secrets and special characters gets no quotes.
    mutating func word(_ text: String) -> String {
        let parts = ByteText.split(text, by: mask)
        if parts.count == 1 { return ShellText.quoted(text) }
        if parts.allSatisfy(ShellText.isPlainInDoubleQuotes) {
            var word = "\"" + parts[0]
            for part in parts.dropFirst() {
                let name = nextName()
                let touches = part.utf8.first.map(ShellText.isOfName) ?? false
                word += (touches ? "${\(name)}" : "$\(name)") + part
            }
            return word + "\""
        }
        var word = parts[0].isEmpty ? "" : ShellText.quoted(parts[0])
        for part in parts.dropFirst() {
            word += "\"$\(nextName())\"" + (part.isEmpty ? "" : ShellText.quoted(part))
        }
        return word
    }

    private mutating func nextName() -> String {
        written += 1
        return secrets == 1 ? "POSTRIDER_SECRET" : "POSTRIDER_SECRET_\(written)"
    }

    /// A text in single quotes. Characters that could steer a terminal become octal numbers of printf.
    private static func quoted(_ text: String) -> String {
        guard isShowable(text) else { return "\"$(printf '\(octal(Array(text.utf8)))')\"" }
        let isSafe = text.utf8.allSatisfy { isOfName($0) || "@%+=:,./-".utf8.contains($0) }
        return isSafe && !text.isEmpty ? text : "'" + ByteText.replace("'", with: "'\\''", in: text) + "'"
    }

    /// Whether a terminal shows the text unchanged: it has no control characters.
    static func isShowable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { SanitizedText.isHarmless($0) || $0 == "\n" || $0 == "\t" }
    }

    /// Bytes as a format of printf: ASCII letters as they are, other bytes as octal numbers. A hyphen at the start would
    /// begin an option.
    static func octal(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): text += "%%"
            case UInt8(ascii: "-") where index == 0: text += "\\055"
            case UInt8(ascii: "\\"), UInt8(ascii: "'"), 0..<0x20, 0x7f...:
                let digits = String(byte, radix: 8)
                text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }

    /// An interactive bash replaces `!` in double quotes.
    private static func isPlainInDoubleQuotes(_ text: String) -> Bool {
        isShowable(text) && !text.utf8.contains { "\"\\$`!".utf8.contains($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
