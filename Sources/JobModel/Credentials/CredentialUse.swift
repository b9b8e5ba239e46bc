// SPDX-License-Identifier: Apache-2.0

/// What a call is to log in with, as the database gave it: still sealed, or plain if no worker with a key has seen it.
public struct CredentialUse: Sendable {
    /// Where in a request the secret stands.
    public enum Place: Equatable, Sendable {
        /// A header, with what stands before the secret.
        case header(String, prefix: String)
        /// An argument of the query.
        case query(String)
        /// A field of the form or of the multipart body.
        case form(String)
        /// A key of the JSON object that is the body.
        case json(String)
        /// No entry of the credential's list of places fits the request.
        case nowhere
    }

    /// The credential; empty: the job needs one and has none any more.
    public var name: String
    /// Grows with each login and refresh.
    public var version: Int64
    /// Whether user and password are sent, in Base64, instead of a token.
    public var isBasic: Bool
    /// Secrets as a worker's key sealed them.
    public var sealed: [UInt8]?
    /// Secrets that were given by SQL and are not sealed yet.
    public var plain: Secrets?
    /// Where the secret stands.
    public var place: Place
    /// Whether its row has been deleted.
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
    /// Puts the secret where the credential says; the job's own header or argument of that name gives way.
    ///
    /// - Returns: nil, or why that cannot be, as a verdict that ends the job.
    public mutating func logIn(with use: CredentialUse, _ secrets: Secrets) -> Verdict? {
        var value: String
        if use.isBasic {
            guard let user = secrets["username"] else { return HTTPCall.nothing(use) }
            value = Base64.encode([UInt8]("\(user):\(secrets["password"] ?? "")".utf8))
        } else {
            guard let token = secrets.token else { return HTTPCall.nothing(use) }
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
                "no entry of credentials.place fits this request of credential \(use.name); add one of header or query, which fit every request"
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
                    "credential \(use.name) stands in the form of the body, and the job has none; give body_form or body_parts, or change credentials.place"
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
                    "credential \(use.name) stands in the JSON of the body, and the job has none that is an object; give body_json, or change credentials.place"
                )
            }
        }
        return nil
    }

    /// A URL without the arguments of this name, however they are escaped in it.
    static func dropping(_ name: String, from url: String) -> String {
        guard let mark = url.firstIndex(of: "?") else { return url }
        let end = url[mark...].firstIndex(of: "#") ?? url.endIndex
        let all = url[url.index(after: mark)..<end].split(separator: "&", omittingEmptySubsequences: false)
        let kept = all.filter { argument in
            plain(argument.prefix { $0 != "=" }) != Array(name.utf8)
        }
        guard kept.count < all.count else { return url }
        return url[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) + url[end...]
    }

    private static func plain(_ escaped: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = escaped.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
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

    private static func nothing(_ use: CredentialUse) -> Verdict {
        Verdict(.failed, .notLoggedIn, "credential \(use.name) has no secret to send; log in and retry the job")
    }
}
