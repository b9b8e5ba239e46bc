// SPDX-License-Identifier: Apache-2.0

/// The meaning of YAML's plain scalars by the core schema of YAML 1.2 (10.3.2), which extends JSON's.
enum YAMLScalar {
    /// The value of a scalar. With a tag such as `tag:yaml.org,2002:str`, the tag decides.
    static func value(_ text: String, isPlain: Bool, tag: String?) -> JSONValue {
        switch tag {
        case "tag:yaml.org,2002:str", "!": return .string(text)
        case "tag:yaml.org,2002:null", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float":
            return resolved(text)
        default: return isPlain ? resolved(text) : .string(text)
        }
    }

    private static func resolved(_ text: String) -> JSONValue {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return number(text).map(JSONValue.number) ?? .string(text)
        }
    }

    /// A number as JSON writes it; nil if the text is no number. Infinity and NaN have no form in JSON: they are texts.
    private static func number(_ text: String) -> String? {
        for (prefix, radix) in [("0x", 16), ("0o", 8)] where text.hasPrefix(prefix) {
            let digits = text.dropFirst(2)
            guard digits.first != "+", digits.first != "-" else { return nil }
            return UInt64(digits, radix: radix).map(String.init)
        }
        var rest = Substring(text)
        let sign = rest.first == "-" ? "-" : ""
        if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
        let whole = digits(&rest)
        var fraction = ""
        if rest.first == "." {
            rest.removeFirst()
            fraction = digits(&rest)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = ""
        if rest.first == "e" || rest.first == "E" {
            rest.removeFirst()
            exponent = "e"
            if let mark = rest.first, mark == "-" || mark == "+" {
                rest.removeFirst()
                exponent += String(mark)
            }
            let power = digits(&rest)
            guard !power.isEmpty else { return nil }
            exponent += power
        }
        guard rest.isEmpty else { return nil }
        let short = whole.drop { $0 == "0" }
        return sign + (short.isEmpty ? "0" : short) + (fraction.isEmpty ? "" : "." + fraction) + exponent
    }

    /// Takes the digits at the beginning.
    private static func digits(_ rest: inout Substring) -> String {
        let digits = rest.prefix { $0.isASCII && $0.isWholeNumber }
        rest = rest[digits.endIndex...]
        return String(digits)
    }

    /// Whether the text is a number of JSON, which is stricter than YAML's.
    static func isJSONNumber(_ text: String) -> Bool {
        text.first != "+" && !text.hasPrefix("0x") && !text.hasPrefix("0o") && number(text) == text.replacingE()
    }
}

extension String {
    /// With `e` for `E`.
    fileprivate func replacingE() -> String { String(map { $0 == "E" ? "e" : $0 }) }
}
