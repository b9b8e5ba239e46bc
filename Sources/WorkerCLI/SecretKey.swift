// SPDX-License-Identifier: Apache-2.0

internal import SecretSealing

/// Where the key that seals secrets comes from.
enum SecretKey {
    /// `--secret-key-file`.
    static let source = SecretSource(
        name: "secret-key-file", variable: "POSTRIDER_SECRET_KEY", example: "/etc/postrider/secret-key",
        fallback: "the key in POSTRIDER_SECRET_KEY",
        content: "32 bytes in Base64, like openssl rand -base64 32 prints them",
        meaning: "seals the secrets of credentials: 32 bytes in Base64; older keys behind it open what they sealed")

    /// The keys; nil if none are given.
    ///
    /// - Throws: `usage` for a file that cannot be read and for text that holds no keys; without a word of it.
    static func read(_ arguments: Arguments) throws(CommandError) -> SecretKeys? {
        try source.read(arguments, SecretKeys.init(_:), reason: \.reason)
    }
}
