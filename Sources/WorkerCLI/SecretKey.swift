// SPDX-License-Identifier: Apache-2.0

internal import SecretSealing

/// The source of the key that seals secrets.
enum SecretKey {
    static let source = SecretSource(
        name: "secret-key-file", variable: "POSTRIDER_SECRET_KEY", example: "/etc/postrider/secret-key",
        fallback: "the key in POSTRIDER_SECRET_KEY",
        content: "32 bytes in Base64, like openssl rand -base64 32 prints them",
        meaning: "seals the secrets of credentials: 32 bytes in Base64; older keys may follow, to open older secrets")

    /// The keys; nil if none are given.
    ///
    /// - Throws: `usage` for an unreadable file and for a text without keys. The message quotes no part of it.
    static func read(_ arguments: Arguments) throws(CommandError) -> SecretKeys? {
        try source.read(arguments, SecretKeys.init(_:), reason: \.reason)
    }
}
