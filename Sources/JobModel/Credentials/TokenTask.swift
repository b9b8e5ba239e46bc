// SPDX-License-Identifier: Apache-2.0

/// One refresh of this worker: the request with templates in place of secrets, and the epoch that proves its lease.
public struct TokenTask: Sendable {
    /// Why a request cannot be made.
    public struct Missing: Error, Equatable, Sendable {
        /// The name of the missing secret.
        public var name: String
    }

    /// The credential.
    public var credential: String
    /// The version of the token that is replaced.
    public var version: Int64
    /// The epoch of the refresh. Once this worker has exceeded its lease, another worker gets a higher one.
    public var epoch: Int64
    /// Secrets that a worker's key has sealed.
    public var sealed: [UInt8]?
    /// Secrets that are not sealed yet.
    public var plain: Secrets?
    /// Whether the client authenticates by RFC 6749.
    public var isOAuth: Bool
    /// The client's id at the authorization server.
    public var clientID: String?
    /// The request. Its texts may contain `{{name}}`.
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

    /// The limits of a token call: 10 s in all, less than its lease of 14 s. No redirect is followed.
    public static let limits = CallLimits(
        total: .seconds(10), connect: .seconds(5), maxResponseBytes: 256 << 10, maxRedirects: 0)

    /// The request with the secrets inserted, each encoded for its place.
    ///
    /// With a client_secret the client authenticates by Basic auth (RFC 6749 §2.3.1), otherwise by its id in the form.
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
