// SPDX-License-Identifier: Apache-2.0

/// Reads the body of a form, `a=b&c=d%20e`. Pure.
enum FormBody {
    /// The most fields. Further ones are an error.
    private static let mostFields = 100

    /// The fields. An empty one counts as absent. If a name repeats, the first value counts.
    ///
    /// - Throws: a defect of the body.
    static func decode(_ body: [UInt8]) throws(ActDefect) -> [String: String] {
        var fields: [String: String] = [:]
        let pairs = body.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= mostFields else { throw ActDefect("body", "has more than \(mostFields) fields") }
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = text(parts[0]), let value = parts.count == 2 ? text(parts[1]) : "" else {
                throw ActDefect("body", "is not an UTF-8 text in the encoding of forms")
            }
            if !value.isEmpty, fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    /// The decoded text; nil for a bad escape, for bytes that are not UTF-8, and for NUL, which no text of PostgreSQL
    /// can hold.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2 else { return nil }
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else { return nil }
                decoded.append(value)
                rest = rest.dropFirst(2)
            default: decoded.append(byte)
            }
        }
        return decoded.contains(0) ? nil : String(validating: decoded, as: UTF8.self)
    }
}

/// A field of a form or an argument of `/act` that cannot be used.
struct ActDefect: Error, Equatable {
    /// The name of the field.
    let field: String
    /// The defect, as the end of a sentence that begins with the field.
    let reason: String

    init(_ field: String, _ reason: String) {
        self.field = field
        self.reason = reason
    }
}
