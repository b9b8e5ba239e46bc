// SPDX-License-Identifier: Apache-2.0

/// Text in the language of man pages, with the macros of man(7).
enum Roff {
    /// The text as it shall be read: no character of it is a request or an escape.
    static func text(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": shown += "\\e"
            // A plain one may become a typographic hyphen, quote or accent, which cannot be copied into a shell.
            case "-": shown += "\\-"
            case "'": shown += "\\(aq"
            case "`": shown += "\\(ga"
            case "^": shown += "\\(ha"
            case "~": shown += "\\(ti"
            case "\"": shown += "\\(dq"
            default:
                shown += scalar.isASCII ? String(scalar) : "\\[u\(hex(scalar.value))]"
            }
        }
        // A line that begins with a dot would be a request.
        return shown.hasPrefix(".") ? "\\&" + shown : shown
    }

    /// A request and its arguments, each in quotes.
    static func request(_ name: String, _ arguments: String...) -> String {
        ".\(name)" + arguments.map { " \"\($0)\"" }.joined()
    }

    /// A tag in bold, such as a flag, and what it means.
    static func item(_ tag: String, _ rest: String = "", _ meaning: String) -> [String] {
        [".TP", "\\fB\(text(tag))\\fR" + (rest.isEmpty ? "" : " \\fI\(text(rest))\\fR"), text(meaning)]
    }

    /// At least four hexadecimal digits in capital letters.
    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
