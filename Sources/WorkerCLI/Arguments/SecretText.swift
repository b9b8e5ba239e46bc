// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The input of `worker credential set`: one bare secret, or an object of texts as in `postrider.log_in`.
struct SecretText: Equatable, Sendable {
    /// The secrets by name.
    var secrets = Secrets()
    /// The lifetime of the token in seconds; nil if it is not given.
    var expiresIn: Int64?

    /// Reads the text. Surrounding white space is ignored.
    ///
    /// - Parameter kind: the kind of credential, which determines the name of a bare secret.
    /// - Throws: a clause with the defect, without any character of the text.
    init(_ text: String, kind: String) throws(Defect) {
        var reader = Reader(text)
        reader.skipSpace()
        guard reader.peek == "{" else {
            try take(reader.trimmed, kind)
            try check(kind)
            return
        }
        for (name, value) in try reader.object() {
            switch value {
            case _ where name == "expires_at":
                throw Defect(reason: "expires_at is not accepted here; give expires_in, in seconds")
            case .text(let text) where name == "expires_in":
                guard let seconds = Int64(text) else { throw Defect(reason: "expires_in is not a number of seconds") }
                expiresIn = seconds
            case .text(let text): secrets[name] = text
            case .number(let number) where name == "expires_in": expiresIn = number
            default: throw Defect(reason: "one of its values is not text")
            }
        }
        try check(kind)
    }

    /// Checks the rules that the database cannot check once the secrets are sealed.
    private func check(_ kind: String) throws(Defect) {
        // `pairs` alternates names and values.
        for (index, value) in secrets.pairs.enumerated() where !index.isMultiple(of: 2) {
            // Some APIs take a key as the user, without a password.
            let mayBeEmpty = kind == "basic" && secrets.pairs[index - 1] == "password"
            if value.isEmpty && !mayBeEmpty { throw Defect(reason: "one of its secrets is empty") }
            if value.utf8.count > 16_000 { throw Defect(reason: "one of its secrets is longer than 16,000 bytes") }
            if value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
                throw Defect(reason: "one of its secrets holds a line break or control character")
            }
        }
    }

    /// Stores a bare secret under the name that its kind of credential uses.
    private mutating func take(_ bare: String, _ kind: String) throws(Defect) {
        guard !bare.isEmpty else { throw Defect(reason: "it is empty") }
        switch kind {
        case "basic":
            guard let colon = bare.firstIndex(of: ":") else { throw Defect(reason: "it is not user:password") }
            secrets["username"] = String(bare[..<colon])
            secrets["password"] = String(bare[bare.index(after: colon)...])
        case "oauth2_client_credentials": secrets["client_secret"] = bare
        case "oauth2_refresh_token", "custom": secrets["refresh_token"] = bare
        default: secrets["access_token"] = bare
        }
    }

    /// The defect of a text.
    struct Defect: Error, Equatable {
        /// The defect as a clause.
        var reason: String
    }

    private enum Value { case text(String), number(Int64) }

    /// Reads one flat JSON object (RFC 8259).
    private struct Reader {
        private let scalars: [Unicode.Scalar]
        private var position = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars) }

        static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
            scalar == " " || scalar == "\n" || scalar == "\r" || scalar == "\t"
        }

        var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

        mutating func skipSpace() {
            while let next = peek, Reader.isSpace(next) { position += 1 }
        }

        /// Skips white space and the mark. False if another character follows the white space.
        private mutating func takes(_ mark: Unicode.Scalar) -> Bool {
            skipSpace()
            guard peek == mark else { return false }
            position += 1
            return true
        }

        /// The text without surrounding white space.
        var trimmed: String {
            let end = scalars.lastIndex { !Reader.isSpace($0) } ?? position - 1
            return position <= end ? scalars[position...end].reduce(into: "") { $0.unicodeScalars.append($1) } : ""
        }

        /// The members of the object, which must be the whole text.
        mutating func object() throws(Defect) -> [(String, Value)] {
            let broken = Defect(reason: "it is not a JSON object of text values")
            var members: [(String, Value)] = []
            guard takes("{") else { throw broken }
            if !takes("}") {
                repeat {
                    guard let name = string(), takes(":"), let value = value() else { throw broken }
                    members.append((name, value))
                } while takes(",")
                guard takes("}") else { throw broken }
            }
            skipSpace()
            guard peek == nil else { throw broken }
            return members
        }

        /// A text or a whole number. Nil for any other value.
        private mutating func value() -> Value? {
            skipSpace()
            if peek == "\"" { return string().map(Value.text) }
            var digits = ""
            while let next = peek, ("0"..."9").contains(next) {
                digits.unicodeScalars.append(next)
                position += 1
            }
            return Int64(digits).map(Value.number)
        }

        private mutating func string() -> String? {
            guard takes("\"") else { return nil }
            var units: [UInt16] = []
            while let next = peek {
                position += 1
                if next == "\"" { return String(validating: units, as: UTF16.self) }
                guard next == "\\" else {
                    guard next.value >= 0x20 else { return nil }
                    units += Array(String(next).utf16)
                    continue
                }
                guard let escape = peek else { return nil }
                position += 1
                switch escape {
                case "\"", "\\", "/": units += Array(String(escape).utf16)
                case "b": units.append(8)
                case "f": units.append(12)
                case "n": units.append(10)
                case "r": units.append(13)
                case "t": units.append(9)
                case "u":
                    // A sign, which a number may have in Swift, is no digit.
                    guard position + 4 <= scalars.count, scalars[position] != "+",
                        let unit = UInt16(scalars[position..<position + 4].map { String($0) }.joined(), radix: 16)
                    else { return nil }
                    units.append(unit)
                    position += 4
                default: return nil
                }
            }
            return nil
        }
    }
}
