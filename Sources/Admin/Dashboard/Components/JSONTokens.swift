// SPDX-License-Identifier: Apache-2.0

/// The tokens of a JSON text in their order, for a tree. Texts and numbers stay as they are written.
///
/// It reads without recursion, because a hostile body may be nested as deep as it is long.
struct JSONTokens: Equatable {
    enum Token: Equatable {
        /// An array, or an object, and how many values it has.
        case begin(isObject: Bool, count: Int)
        case end
        /// A key, quotes included.
        case key(String)
        /// A text with its quotes.
        case text(String)
        /// A number, `true`, `false` or `null`.
        case word(String)
    }

    /// A larger tree would slow down a browser.
    static let mostValues = 2000
    private static let deepest = 100

    private(set) var tokens: [Token] = []
    /// Whether the tree shows only the beginning of the text.
    private(set) var isCut = false

    private enum Expected { case value, valueOrEnd, key, keyOrEnd, commaOrEnd, nothing }

    private enum Step { case goOn, isInvalid, isCut }

    private let bytes: [UInt8]
    private var next = 0
    private var values = 0
    private var expected = Expected.value
    /// The places in `tokens` of arrays and objects that are open.
    private var open: [Int] = []

    /// The tokens of a text. Nil if it is no JSON.
    ///
    /// - Parameter isPart: whether the bytes are the beginning of a longer text.
    init?(_ bytes: [UInt8], isPart: Bool) {
        self.bytes = bytes
        while true {
            skipBlanks()
            if next == bytes.count || values == JSONTokens.mostValues { break }
            switch take() {
            case .goOn: continue
            case .isInvalid: return nil
            case .isCut:
                guard isPart else { return nil }
                next = bytes.count
            }
        }
        if expected != .nothing {
            guard isPart || values == JSONTokens.mostValues, !tokens.isEmpty else { return nil }
            isCut = true
            if case .key = tokens.last { tokens.removeLast() }
            while !open.isEmpty { close() }
        }
    }

    private mutating func skipBlanks() {
        while next < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[next]) { next += 1 }
    }

    private mutating func take() -> Step {
        let byte = bytes[next]
        switch (expected, byte) {
        case (.keyOrEnd, UInt8(ascii: "}")), (.valueOrEnd, UInt8(ascii: "]")),
            (.commaOrEnd, UInt8(ascii: "}")) where isInObject, (.commaOrEnd, UInt8(ascii: "]")) where !isInObject:
            next += 1
            close()
            return .goOn
        case (.commaOrEnd, UInt8(ascii: ",")):
            next += 1
            expected = isInObject ? .key : .value
            return .goOn
        case (.key, UInt8(ascii: "\"")), (.keyOrEnd, UInt8(ascii: "\"")): return takeKey()
        case (.value, _), (.valueOrEnd, _): return takeValue(byte)
        default: return .isInvalid
        }
    }

    private var isInObject: Bool {
        guard let place = open.last, case .begin(let isObject, _) = tokens[place] else { return false }
        return isObject
    }

    private mutating func takeKey() -> Step {
        guard let key = takeString() else { return next == bytes.count ? .isCut : .isInvalid }
        skipBlanks()
        guard next < bytes.count else { return .isCut }
        guard bytes[next] == UInt8(ascii: ":") else { return .isInvalid }
        next += 1
        tokens.append(.key(key))
        expected = .value
        return .goOn
    }

    private mutating func takeValue(_ byte: UInt8) -> Step {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < JSONTokens.deepest else { return .isInvalid }
            count()
            open.append(tokens.count)
            tokens.append(.begin(isObject: byte == UInt8(ascii: "{"), count: 0))
            expected = byte == UInt8(ascii: "{") ? .keyOrEnd : .valueOrEnd
            next += 1
        case UInt8(ascii: "\""):
            guard let text = takeString() else { return next == bytes.count ? .isCut : .isInvalid }
            add(.text(text))
        default:
            let start = next
            while next < bytes.count, JSONTokens.isOfWord(bytes[next]) { next += 1 }
            // More of the word may follow in the rest of the text.
            if next == bytes.count, !open.isEmpty { return .isCut }
            let word = String(decoding: bytes[start..<next], as: UTF8.self)
            guard ["true", "false", "null"].contains(word) || JSONTokens.isNumber(word) else { return .isInvalid }
            add(.word(word))
        }
        return .goOn
    }

    private mutating func add(_ value: Token) {
        count()
        tokens.append(value)
        expected = open.isEmpty ? .nothing : .commaOrEnd
    }

    /// Counts a value in its array or object.
    private mutating func count() {
        values += 1
        guard let place = open.last, case .begin(let isObject, let count) = tokens[place] else { return }
        tokens[place] = .begin(isObject: isObject, count: count + 1)
    }

    private mutating func close() {
        tokens.append(.end)
        open.removeLast()
        expected = open.isEmpty ? .nothing : .commaOrEnd
    }

    /// The text at a quote, with both quotes. Nil: it does not end, or it is invalid.
    private mutating func takeString() -> String? {
        let start = next
        next += 1
        while next < bytes.count {
            switch bytes[next] {
            case UInt8(ascii: "\""):
                next += 1
                return String(validating: bytes[start..<next], as: UTF8.self).map(JSONTokens.readable)
            case UInt8(ascii: "\\"): next = min(next + 2, bytes.count)
            case 0..<0x20: return nil
            default: next += 1
            }
        }
        return nil
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isNumber(_ word: String) -> Bool {
        guard let first = word.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return false
        }
        return Double(word) != nil && !word.hasSuffix(".") && !word.contains("x")
    }

    /// The text with letters in the place of `\u00e9` and the like. Escapes of ASCII stay, so the text stays JSON.
    private static func readable(_ text: String) -> String {
        guard text.contains("\\u") else { return text }
        var parts = text.split(separator: "\\u", omittingEmptySubsequences: false)[...]
        var shown = String(parts.removeFirst())
        while let part = parts.popFirst() {
            // The backslash is itself escaped.
            let isEscaped = shown.reversed().prefix { $0 == "\\" }.count % 2 == 1
            let unit = isEscaped || part.prefix(4).count < 4 ? nil : UInt32(part.prefix(4), radix: 16)
            if let unit, (0xD800...0xDBFF).contains(unit), part.dropFirst(4).isEmpty, let second = parts.first,
                let low = UInt32(second.prefix(4), radix: 16), (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
            {
                shown.unicodeScalars.append(scalar)
                shown += second.dropFirst(4)
                parts.removeFirst()
            } else if let unit, unit >= 0xA0, let scalar = Unicode.Scalar(unit) {
                shown.unicodeScalars.append(scalar)
                shown += part.dropFirst(4)
            } else {
                shown += "\\u" + part
            }
        }
        return shown
    }
}
