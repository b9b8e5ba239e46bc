// SPDX-License-Identifier: Apache-2.0

/// The login of a call, as the database returned it. It is sealed, or plain if no worker with a key has sealed it yet.
public struct CredentialUse: Sendable {
    /// The place of the secret in a request.
    public enum Place: Equatable, Sendable {
        /// A header, with the text before the secret.
        case header(String, prefix: String)
        /// An argument of the query.
        case query(String)
        /// A field of the form or of the multipart body.
        case form(String)
        /// A key of the body's JSON object.
        case json(String)
        /// No entry of the credential's list of places fits the request.
        case nowhere
    }

    /// The credential's name. Empty if the job needs a credential and its service has lost it.
    public var name: String
    /// The version, which grows with each login and refresh.
    public var version: Int64
    /// Whether user and password are sent in Base64 instead of a token.
    public var isBasic: Bool
    /// Secrets that a worker's key has sealed.
    public var sealed: [UInt8]?
    /// Secrets that were set by SQL and are not sealed yet.
    public var plain: Secrets?
    /// The place of the secret.
    public var place: Place
    /// Whether the credential's row was deleted.
    public var isGone: Bool

    /// A use with all its parts.
    public init(
        name: String, version: Int64, isBasic: Bool, sealed: [UInt8]?, plain: Secrets?, place: Place,
        isGone: Bool = false
    ) {
        self.name = name
        self.version = version
        self.isBasic = isBasic
        self.sealed = sealed
        self.plain = plain
        self.place = place
        self.isGone = isGone
    }
}

extension HTTPCall {
    /// Inserts the secret in its place. It replaces the job's own header or argument of that name.
    ///
    /// - Returns: nil, or a verdict that ends the job because the secret cannot be inserted.
    public mutating func logIn(with use: CredentialUse, _ secrets: Secrets) -> Verdict? {
        var value: String
        if use.isBasic {
            guard let user = secrets["username"] else { return HTTPCall.missingSecret(use) }
            value = Base64.encode([UInt8]("\(user):\(secrets["password"] ?? "")".utf8))
        } else {
            guard let token = secrets.token else { return HTTPCall.missingSecret(use) }
            value = token
        }
        switch use.place {
        case .header(let name, let prefix):
            let lower = name.lowercased()
            headers.removeAll { $0.name.lowercased() == lower }
            headers.append(HTTPHeader(name, prefix + value))
        case .query(let name):
            query.removeAll { $0.name == name }
            url = HTTPCall.dropping(name, from: url)
            query.append(FormField(name, value))
        case .nowhere:
            return Verdict(
                .failed, .config,
                "no entry in the place of credential \(use.name) fits this request; add a header or query, which fit every request"
            )
        case .form(let name):
            switch body {
            case .form(let fields):
                body = .form(fields.filter { $0.name != name } + [FormField(name, value)])
            case .parts(let parts):
                body = .parts(
                    parts.filter { $0.name != name } + [BodyPart(name: name, content: .bytes([UInt8](value.utf8)))])
            default:
                return Verdict(
                    .failed, .config,
                    "credential \(use.name) belongs in a form body, but the job has none; give body_form or body_parts, or change credentials.place"
                )
            }
        case .json(let name):
            let member = "\(JSONText.quoted(name)): \(JSONText.quoted(value))"
            switch body {
            case .bytes(let bytes, let type?) where type == "application/json" && bytes.first == UInt8(ascii: "{"):
                let isEmpty = bytes.dropFirst().first { $0 != 0x20 } == UInt8(ascii: "}")
                body = .bytes(
                    [UInt8](("{" + member + (isEmpty ? "" : ", ")).utf8) + bytes.dropFirst(), contentType: type)
            case .none where method == .post || method == .put || method == .patch:
                body = .bytes([UInt8]("{\(member)}".utf8), contentType: "application/json")
            default:
                return Verdict(
                    .failed, .config,
                    "credential \(use.name) belongs in a JSON object body, but the job has none; give body_json, or change credentials.place"
                )
            }
        }
        return nil
    }

    /// A URL without the query arguments of this name, in any escaped form.
    static func dropping(_ name: String, from url: String) -> String {
        // By bytes, as servers read it: a combining mark behind a `=` hides no argument.
        let bytes = Array(url.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return url }
        let all = bytes[(mark + 1)..<end].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = all.filter { argument in
            percentDecoded(argument.prefix { $0 != UInt8(ascii: "=") }) != Array(name.utf8)
        }
        guard kept.count < all.count else { return url }
        let query = kept.isEmpty ? [] : [UInt8(ascii: "?")] + kept.joined(separator: [UInt8(ascii: "&")])
        return String(decoding: bytes[..<mark] + query + bytes[end...], as: UTF8.self)
    }

    /// The bytes of an argument's name, decoded from `%XX` and `+`.
    private static func percentDecoded(_ escaped: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            // A sign, which a number may have in Swift, is no digit.
            if byte == UInt8(ascii: "%"), rest.count >= 2, rest.first != UInt8(ascii: "+"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return bytes
    }

    private static func missingSecret(_ use: CredentialUse) -> Verdict {
        Verdict(.failed, .notLoggedIn, "credential \(use.name) has no secret to send; log in and retry the job")
    }
}
