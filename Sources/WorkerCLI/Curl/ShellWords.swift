// SPDX-License-Identifier: Apache-2.0

/// The words of a command line as a POSIX shell, or bash with `$'…'`, would split it. Nothing is expanded: a word that needs
/// a running shell is refused.
struct ShellWords {
    private var rest: ArraySlice<UInt8>
    private var word: [UInt8] = []
    /// Whether a word has begun, possibly an empty one in quotes.
    private var hasWord = false
    private var words: [String] = []

    /// The words of a text.
    ///
    /// - Throws: `usage` with the reason.
    static func split(_ text: String) throws(CommandError) -> [String] {
        var reader = ShellWords(rest: Array(text.utf8)[...])
        while let byte = reader.rest.popFirst() { try reader.take(byte) }
        try reader.endWord()
        return reader.words
    }

    private init(rest: ArraySlice<UInt8>) {
        self.rest = rest
    }

    private static func refusal(_ reason: String, _ remedy: String) -> CommandError {
        .usage("--curl", reason, remedy)
    }

    private mutating func take(_ byte: UInt8) throws(CommandError) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): try endWord()
        case UInt8(ascii: "\\"): try takeEscaped()
        case UInt8(ascii: "'"): append(try takeQuoted())
        case UInt8(ascii: "\""): try takeDoubleQuoted()
        case UInt8(ascii: "$") where rest.first == UInt8(ascii: "'"):
            rest.removeFirst()
            try takeANSI()
        case UInt8(ascii: "$"), UInt8(ascii: "`"):
            try refuseExpansion(byte)
            append([byte])
        case UInt8(ascii: "#") where !hasWord: rest = rest.drop { $0 != UInt8(ascii: "\n") }
        case _ where "|&;<>()".utf8.contains(byte):
            let sign = Character(Unicode.Scalar(byte))
            throw ShellWords.refusal(
                "\(sign) without quotes has a meaning for a shell only",
                "give the curl command alone, with its URL in quotes")
        default: append([byte])
        }
    }

    private mutating func append(_ bytes: [UInt8]) {
        word += bytes
        hasWord = true
    }

    private mutating func endWord() throws(CommandError) {
        guard hasWord else { return }
        guard let text = String(validating: word, as: UTF8.self), !word.contains(0) else {
            throw ShellWords.refusal("a word is not UTF-8 text", "give binary data in a file, like --data-binary @FILE")
        }
        words.append(text)
        (word, hasWord) = ([], false)
    }

    /// The byte behind a backslash. A backslash at the end of a line continues the line.
    private mutating func takeEscaped() throws(CommandError) {
        let lineEnd = UInt8(ascii: "\n")
        if rest.first == UInt8(ascii: "\r"), rest.dropFirst().first == lineEnd { rest.removeFirst() }
        guard let byte = rest.popFirst() else { throw ShellWords.refusal("it ends with a backslash", "remove it") }
        if byte != lineEnd { append([byte]) }
    }

    private mutating func takeQuoted() throws(CommandError) -> [UInt8] {
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { throw ShellWords.open("'") }
        defer { rest = rest[(end + 1)...] }
        return Array(rest[..<end])
    }

    private static func open(_ quote: String) -> CommandError {
        refusal("a \(quote) is not closed", "close it before the end")
    }

    private mutating func takeDoubleQuoted() throws(CommandError) {
        hasWord = true
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                guard let next = rest.first, "$`\"\\\n".utf8.contains(next) else {
                    word.append(byte)
                    continue
                }
                rest.removeFirst()
                if next != UInt8(ascii: "\n") { word.append(next) }
            case UInt8(ascii: "$"), UInt8(ascii: "`"):
                try refuseExpansion(byte)
                word.append(byte)
            default: word.append(byte)
            }
        }
        throw ShellWords.open("\"")
    }

    /// Refuses variables and the output of commands.
    private func refuseExpansion(_ byte: UInt8) throws(CommandError) {
        if byte == UInt8(ascii: "$") {
            guard let next = rest.first, ShellWords.isOfName(next) || "{($\"?!@*#-".utf8.contains(next) else { return }
        }
        throw ShellWords.refusal(
            "\(byte == UInt8(ascii: "$") ? "$" : "a backquote") stands for a value that only a shell knows",
            "put the value in its place, or quote it with '…'")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80 || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The bytes of `$'…'`, behind the first quote.
    private mutating func takeANSI() throws(CommandError) {
        hasWord = true
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "'") { return }
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
                word.append(byte)
                continue
            }
            switch letter {
            case UInt8(ascii: "n"): word.append(0x0a)
            case UInt8(ascii: "t"): word.append(0x09)
            case UInt8(ascii: "r"): word.append(0x0d)
            case UInt8(ascii: "a"): word.append(0x07)
            case UInt8(ascii: "b"): word.append(0x08)
            case UInt8(ascii: "e"), UInt8(ascii: "E"): word.append(0x1b)
            case UInt8(ascii: "f"): word.append(0x0c)
            case UInt8(ascii: "v"): word.append(0x0b)
            case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "?"): word.append(letter)
            case UInt8(ascii: "x"): word.append(UInt8(truncatingIfNeeded: takeNumber(radix: 16, most: 2)))
            case UInt8(ascii: "u"): takeScalar(most: 4)
            case UInt8(ascii: "U"): takeScalar(most: 8)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                rest.insert(letter, at: rest.startIndex)
                word.append(UInt8(truncatingIfNeeded: takeNumber(radix: 8, most: 3)))
            default: word += [byte, letter]
            }
        }
        throw ShellWords.open("'")
    }

    private mutating func takeNumber(radix: Int, most: Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<most {
            guard let digit = rest.first.flatMap({ Int(String(Unicode.Scalar($0)), radix: radix) }) else { break }
            rest.removeFirst()
            value = value &* UInt32(radix) &+ UInt32(digit)
        }
        return value
    }

    private mutating func takeScalar(most: Int) {
        if let scalar = Unicode.Scalar(takeNumber(radix: 16, most: most)) { word += String(scalar).utf8 }
    }
}
