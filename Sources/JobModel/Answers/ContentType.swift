// SPDX-License-Identifier: Apache-2.0

/// The charset in an answer's `Content-Type`. It accepts any bytes.
public struct ContentType: Equatable, Sendable {
    /// The name of the charset in lower case; nil if none is given.
    ///
    /// The first of several parameters counts, as in `postrider_internal.answer_charset`.
    public let charset: String?

    /// Reads the last such line of a header block. The lines are `name: value` with LF, and names in lower case. Nil
    /// without such a line.
    public init?(of headerBlock: [UInt8]) {
        let name = [UInt8]("content-type:".utf8)
        guard let line = headerBlock.split(separator: UInt8(ascii: "\n")).last(where: { $0.starts(with: name) })
        else { return nil }
        charset = Self.charset(in: Array(line.dropFirst(name.count)))
    }

    private static func charset(in value: [UInt8]) -> String? {
        for parameter in parameters(of: value).dropFirst() {
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: parameter[..<equals], as: UTF8.self).lowercased()
            guard name.filter({ $0 != " " && $0 != "\t" }) == "charset" else { continue }
            let text = parameter[(equals + 1)...].filter { !"\"' \t\r\\".utf8.contains($0) }
            let charset = String(decoding: text, as: UTF8.self).lowercased()
            let isName = charset.utf8.allSatisfy { isLetterOrDigit($0) || "_.:+-".utf8.contains($0) }
            guard isName, (1...40).contains(charset.utf8.count) else { return nil }
            return charset
        }
        return nil
    }

    /// The parts between semicolons. A semicolon inside quotes does not separate parts.
    private static func parameters(of value: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in value {
            if byte == UInt8(ascii: ";") && !isQuoted {
                parts.append([])
                continue
            }
            if byte == UInt8(ascii: "\"") && !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            parts[parts.count - 1].append(byte)
        }
        return parts
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
