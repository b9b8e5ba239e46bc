// SPDX-License-Identifier: Apache-2.0

internal import CSodium
public import JobModel

/// The keys that secrets are sealed with at rest. Never shown, never in an error.
///
/// The first seals, all of them open: so a key is replaced by putting the new one in front.
public struct SecretKeys: Equatable, Sendable {
    private let keys: [[UInt8]]

    /// Reads keys of 32 bytes in Base64, separated by white space.
    ///
    /// - Throws: what is wrong with which of them, without a character of it.
    public init(_ text: String) throws(SecretKeyError) {
        guard sodium_init() >= 0 else { throw SecretKeyError(reason: "libsodium cannot be used here") }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw SecretKeyError(reason: "there is no key in it") }
        var keys: [[UInt8]] = []
        for (index, word) in words.enumerated() {
            let place = words.count == 1 ? "the key" : "key \(index + 1)"
            guard let key = Base64.decode(word) else { throw SecretKeyError(reason: "\(place) is not Base64") }
            guard key.count == SecretKeys.keyLength else {
                throw SecretKeyError(reason: "\(place) has \(key.count) bytes; 32 are right")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    /// XChaCha20-Poly1305 with a random nonce; what is sealed for one credential opens for no other.
    ///
    /// The bytes: 1 for this form, the nonce, the secrets and 16 bytes that prove both.
    ///
    /// C: `crypto_aead_xchacha20poly1305_ietf_encrypt`.
    public func seal(_ secrets: Secrets, for credential: String) -> [UInt8] {
        let plain = secrets.encoded
        let owner = SecretKeys.owner(credential)
        var nonce = [UInt8](repeating: 0, count: SecretKeys.nonceLength)
        unsafe randombytes_buf(&nonce, nonce.count)
        var sealed = [UInt8](repeating: 0, count: plain.count + SecretKeys.proofLength)
        var length: UInt64 = 0
        _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, &length, plain, UInt64(plain.count), owner, UInt64(owner.count), nil, nonce, keys[0])
        return [SecretKeys.form] + nonce + sealed
    }

    /// The secrets that were sealed for a credential; nil if none of the keys opens them.
    ///
    /// C: `crypto_aead_xchacha20poly1305_ietf_decrypt`.
    public func open(_ sealed: [UInt8], for credential: String) -> Secrets? {
        let head = 1 + SecretKeys.nonceLength
        guard sealed.count >= head + SecretKeys.proofLength, sealed[0] == SecretKeys.form else { return nil }
        let nonce = Array(sealed[1..<head])
        let rest = Array(sealed[head...])
        let owner = SecretKeys.owner(credential)
        var plain = [UInt8](repeating: 0, count: rest.count - SecretKeys.proofLength)
        for key in keys {
            var length: UInt64 = 0
            let code = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                &plain, &length, nil, rest, UInt64(rest.count), owner, UInt64(owner.count), nonce, key)
            if code == 0 { return Secrets(encoded: plain) }
        }
        return nil
    }

    private static let form: UInt8 = 1
    private static let keyLength = 32
    private static let nonceLength = 24
    private static let proofLength = 16

    private static func owner(_ credential: String) -> [UInt8] { [UInt8]("postrider credential \(credential)".utf8) }
}

/// Why a text holds no keys that can be used.
public struct SecretKeyError: Error, Equatable, Sendable {
    /// A clause without a character of the text.
    public let reason: String
}
