// SPDX-License-Identifier: Apache-2.0

internal import CCryptoSystem
internal import JobModel

/// The secrets that sign webhooks by Standard Webhooks 1.0. They never appear in output or errors.
///
/// While a secret is being replaced there are two. Each call then has a signature of each, and a receiver that knows
/// either one accepts it.
public struct WebhookKeys: Equatable, Sendable {
    private let keys: [[UInt8]]

    /// Reads secrets like `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`, separated by white space. Each has 16 to 256 bytes
    /// in Base64 after the prefix.
    ///
    /// - Throws: the defect and the place of the secret, without quoting it.
    public init(_ text: String) throws(WebhookKeyError) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw WebhookKeyError(reason: "there is no secret in it") }
        var keys: [[UInt8]] = []
        for (index, word) in words.enumerated() {
            let place = words.count == 1 ? "the secret" : "secret \(index + 1)"
            guard word.hasPrefix("whsec_") else {
                throw WebhookKeyError(reason: "\(place) does not begin with whsec_")
            }
            guard let key = Base64.decode(word.dropFirst(6)) else {
                throw WebhookKeyError(reason: "\(place) is not Base64 after whsec_")
            }
            guard (16...256).contains(key.count) else {
                throw WebhookKeyError(reason: "\(place) has \(key.count) bytes; it needs 16 to 256")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    /// The value of `webhook-signature`: for each secret `v1,` and the HMAC-SHA256 of id, time and body in Base64.
    ///
    /// - Parameter time: seconds since 1970, as in `webhook-timestamp`.
    ///
    /// C: `HMAC`.
    public func signature(id: String, time: Int64, body: [UInt8]) -> String {
        let content = [UInt8]("\(id).\(time).".utf8) + body
        return keys.map { "v1," + Base64.encode(WebhookKeys.authenticate(content, with: $0)) }.joined(separator: " ")
    }

    private static func authenticate(_ content: [UInt8], with key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        _ = unsafe HMAC(EVP_sha256(), key, Int32(key.count), content, content.count, &digest, &length)
        return digest
    }
}

/// Why a text contains no usable secrets.
public struct WebhookKeyError: Error, Equatable, Sendable {
    /// The reason as a clause, without any character of the text.
    public let reason: String
}
