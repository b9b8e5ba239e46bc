// SPDX-License-Identifier: Apache-2.0

/// Reads JSON (RFC 8259).
struct JSONReader {
    /// Values may be nested this deep, in JSON and YAML.
    static let deepest = 256

    private let bytes: [UInt8]
    private var next = 0

    /// The value of a whole text.
    static func read(_ bytes: [UInt8]) throws(DocumentError) -> JSONValue {
        var reader = JSONReader(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.next = 3 }
        let value = try reader.value(depth: 1)
        reader.skipBlanks()
        guard reader.next == bytes.count else { throw reader.error("something follows the JSON value") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var byte: UInt8? { next < bytes.count ? bytes[next] : nil }

    private func error(_ reason: String, code: DocumentError.Code = .syntax) -> DocumentError {
        DocumentError(code, line: bytes[..<min(next, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1, reason)
    }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || (0x09...0x0D).contains(byte) && byte != 0x0B && byte != 0x0C { next += 1 }
    }

    /// Takes a byte if it is the next one after blanks.
    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard byte == UInt8(ascii: wanted) else { return false }
        next += 1
        return true
    }

    private mutating func value(depth: Int) throws(DocumentError) -> JSONValue {
        guard depth <= JSONReader.deepest else {
            throw error("it is nested deeper than \(JSONReader.deepest) levels", code: .limit)
        }
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return .object(try object(depth))
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("the JSON ends too early")
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(DocumentError) -> JSONObject {
        next += 1
        var object = JSONObject()
        if take("}") { return object }
        repeat {
            skipBlanks()
            guard byte == UInt8(ascii: "\"") else { throw error("a key in quotes is missing") }
            let key = try string()
            guard take(":") else { throw error("a : is missing after a key") }
            object[key] = try value(depth: depth + 1)
        } while take(",")
        guard take("}") else { throw error("a , or } is missing") }
        return object
    }

    private mutating func array(_ depth: Int) throws(DocumentError) -> [JSONValue] {
        next += 1
        var elements: [JSONValue] = []
        if take("]") { return elements }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw error("a , or ] is missing") }
        return elements
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(DocumentError) -> JSONValue {
        guard bytes[next...].starts(with: word.utf8) else { throw error("a word is not valid in JSON") }
        next += word.utf8.count
        return value
    }

    private mutating func number() throws(DocumentError) -> JSONValue {
        let start = next
        while let byte, "+-.eE0123456789".utf8.contains(byte) { next += 1 }
        let text = String(decoding: bytes[start..<next], as: UTF8.self)
        guard YAMLScalar.isJSONNumber(text) else {
            next = start
            throw error("a value is not valid in JSON")
        }
        return .number(text)
    }

    /// The string at the quote. A NUL, which PostgreSQL cannot store, becomes U+FFFD.
    private mutating func string() throws(DocumentError) -> String {
        next += 1
        var text: [UInt8] = []
        while let byte {
            next += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let valid = String(validating: text, as: UTF8.self) else { throw error("a text is not UTF-8") }
                return valid
            case UInt8(ascii: "\\"):
                text += try escape().utf8
            case 0x00...0x1F:
                throw error("a text holds a control character without \\")
            default:
                text.append(byte)
            }
        }
        throw error("the end of a text is missing")
    }

    private mutating func escape() throws(DocumentError) -> String {
        guard let byte else { throw error("the end of a text is missing") }
        next += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return String(Unicode.Scalar(byte))
        case UInt8(ascii: "u"):
            var unit = try codeUnit()
            if (0xD800...0xDBFF).contains(unit), bytes[next...].starts(with: [0x5C, 0x75]) {
                next += 2
                let low = try codeUnit()
                if (0xDC00...0xDFFF).contains(low) {
                    unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
                }
            }
            return String(unit == 0 ? "\u{FFFD}" : Unicode.Scalar(unit) ?? "\u{FFFD}")
        default: throw error("an escape with \\ is not valid in JSON")
        }
    }

    /// The four hexadecimal digits after `\u`.
    private mutating func codeUnit() throws(DocumentError) -> UInt32 {
        // A sign, which a number may have in Swift, is no digit.
        guard next + 4 <= bytes.count, bytes[next] != UInt8(ascii: "+"),
            let unit = UInt32(String(decoding: bytes[next..<next + 4], as: UTF8.self), radix: 16)
        else { throw error("an escape with \\u needs four hexadecimal digits") }
        next += 4
        return unit
    }
}
