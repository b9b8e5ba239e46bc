// SPDX-License-Identifier: Apache-2.0

internal import CSodium
public import JobModel

/// The keys that seal stored secrets. They never appear in output or errors.
///
/// The first key seals, and all of them open. To replace a key, put the new one first.
public struct SecretKeys: Equatable, Sendable {
    private let keys: [[UInt8]]

    /// Reads keys of 32 bytes in Base64, separated by white space.
    ///
    /// - Throws: the defect and the place of the key, without quoting it.
    public init(_ text: String) throws(SecretKeyError) {
        guard sodium_init() >= 0 else { throw SecretKeyError(reason: "libsodium cannot be used here") }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { throw SecretKeyError(reason: "there is no key in it") }
        var keys: [[UInt8]] = []
        for (index, word) in words.enumerated() {
            let place = words.count == 1 ? "the key" : "key \(index + 1)"
            guard let key = Base64.decode(word) else { throw SecretKeyError(reason: "\(place) is not Base64") }
            guard key.count == SecretKeys.keyLength else {
                throw SecretKeyError(reason: "\(place) has \(key.count) bytes; it needs 32")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    /// Seals secrets with XChaCha20-Poly1305 and a random nonce. They open only for the same credential.
    ///
    /// The bytes: 1 for this format, the nonce, the encrypted secrets and an authentication tag of 16 bytes.
    ///
    /// C: `crypto_aead_xchacha20poly1305_ietf_encrypt`.
    public func seal(_ secrets: Secrets, for credential: String) -> [UInt8] {
        let plain = secrets.encoded
        let owner = SecretKeys.owner(credential)
        var nonce = [UInt8](repeating: 0, count: SecretKeys.nonceLength)
        unsafe randombytes_buf(&nonce, nonce.count)
        var sealed = [UInt8](repeating: 0, count: plain.count + SecretKeys.tagLength)
        var length: UInt64 = 0
        _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, &length, plain, UInt64(plain.count), owner, UInt64(owner.count), nil, nonce, keys[0])
        return [SecretKeys.formatVersion] + nonce + sealed
    }

    /// Opens the secrets of a credential. Nil if none of the keys opens them.
    ///
    /// C: `crypto_aead_xchacha20poly1305_ietf_decrypt`.
    public func open(_ sealed: [UInt8], for credential: String) -> Secrets? {
        let head = 1 + SecretKeys.nonceLength
        guard sealed.count >= head + SecretKeys.tagLength, sealed[0] == SecretKeys.formatVersion else { return nil }
        let nonce = Array(sealed[1..<head])
        let rest = Array(sealed[head...])
        let owner = SecretKeys.owner(credential)
        var plain = [UInt8](repeating: 0, count: rest.count - SecretKeys.tagLength)
        for key in keys {
            var length: UInt64 = 0
            let code = unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                &plain, &length, nil, rest, UInt64(rest.count), owner, UInt64(owner.count), nonce, key)
            if code == 0 { return Secrets(encoded: plain) }
        }
        return nil
    }

    private static let formatVersion: UInt8 = 1
    private static let keyLength = 32
    private static let nonceLength = 24
    private static let tagLength = 16

    /// The additional authenticated data: sealed bytes open only for the credential that they were sealed for.
    private static func owner(_ credential: String) -> [UInt8] { [UInt8]("postrider credential \(credential)".utf8) }
}

/// Why a text contains no usable keys.
public struct SecretKeyError: Error, Equatable, Sendable {
    /// The reason as a clause, without any character of the text.
    public let reason: String
}
