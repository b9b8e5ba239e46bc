// SPDX-License-Identifier: Apache-2.0

/// One refresh that this worker is to make: the request with templates where secrets stand, and the proof that it is
/// ours.
public struct TokenTask: Sendable {
    /// Why a request cannot be made.
    public struct Missing: Error, Equatable, Sendable {
        /// The secret that is not there.
        public var name: String
    }

    /// The credential.
    public var credential: String
    /// Of the token that is to be replaced.
    public var version: Int64
    /// The proof; another one has it once this worker has taken too long.
    public var epoch: Int64
    /// Secrets as a worker's key sealed them.
    public var sealed: [UInt8]?
    /// Secrets that are not sealed yet.
    public var plain: Secrets?
    /// Whether the client says who it is as RFC 6749 has it.
    public var isOAuth: Bool
    /// What the authorization server knows the client by.
    public var clientID: String?
    /// The request; its texts may hold `{{name}}`.
    public var request: HTTPCall

    /// A task with all its parts.
    public init(
        credential: String, version: Int64, epoch: Int64, sealed: [UInt8]?, plain: Secrets?, isOAuth: Bool,
        clientID: String?, request: HTTPCall
    ) {
        self.credential = credential
        self.version = version
        self.epoch = epoch
        self.sealed = sealed
        self.plain = plain
        self.isOAuth = isOAuth
        self.clientID = clientID
        self.request = request
    }

    /// The limits of a token call: its lease of 14 s outlasts them. No redirect is followed.
    public static let limits = CallLimits(
        total: .seconds(10), connect: .seconds(5), maxResponseBytes: 256 << 10, maxRedirects: 0)

    /// The request with the secrets in their places, each encoded for where it stands.
    ///
    /// With a client_secret the client says who it is by Basic auth (RFC 6749 §2.3.1), without one by its id in the
    /// form.
    public func call(with secrets: Secrets) throws(Missing) -> HTTPCall {
        var call = request
        call.limits = TokenTask.limits
        call.isRepeatable = false
        call.mayShareConnection = false
        call.url = try TokenTask.fill(call.url, secrets, TokenTask.percentEncoded)
        for index in call.headers.indices {
            call.headers[index].value = try TokenTask.fill(call.headers[index].value, secrets) { $0 }
        }
        switch call.body {
        case .bytes(let bytes, let type):
            let text = try TokenTask.fill(String(decoding: bytes, as: UTF8.self), secrets, JSONText.escaped)
            call.body = .bytes([UInt8](text.utf8), contentType: type)
        case .form(var fields):
            for index in fields.indices {
                fields[index].value = try TokenTask.fill(fields[index].value, secrets) { $0 }
            }
            if isOAuth, secrets["client_secret"] == nil, let clientID {
                fields.append(FormField("client_id", clientID))
            }
            call.body = .form(fields)
        case .none, .parts: break
        }
        if isOAuth, let clientID, let secret = secrets["client_secret"] {
            let pair = "\(TokenTask.percentEncoded(clientID)):\(TokenTask.percentEncoded(secret))"
            call.headers.append(HTTPHeader("Authorization", "Basic " + Base64.encode([UInt8](pair.utf8))))
        }
        return call
    }

    private static func fill(
        _ text: String, _ secrets: Secrets, _ encode: (String) -> String
    ) throws(Missing) -> String {
        guard text.contains("{{") else { return text }
        var result = ""
        var rest = text[...]
        while let start = TokenTask.position(of: "{{", in: rest) {
            result += rest[..<start]
            let behind = rest[rest.index(start, offsetBy: 2)...]
            guard let end = TokenTask.position(of: "}}", in: behind) else { break }
            let name = String(behind[..<end])
            guard let value = secrets[name] else { throw Missing(name: name) }
            result += encode(value)
            rest = behind[behind.index(end, offsetBy: 2)...]
        }
        return result + rest
    }

    private static func position(of mark: String, in text: Substring) -> String.Index? {
        text.indices.first { text[$0...].hasPrefix(mark) }
    }

    private static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}
