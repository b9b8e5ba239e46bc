// SPDX-License-Identifier: Apache-2.0

internal import SecretSealing

/// Where the key that seals secrets comes from: a file, or the environment. Never the command line, which every user of the
/// machine can read.
enum SecretKey {
    /// `--secret-key-file`.
    static let flag = Flag(
        name: "secret-key-file", kind: .text, placeholder: "FILE", example: "/etc/postrider/secret-key",
        fallback: "the key in POSTRIDER_SECRET_KEY",
        meaning: "seals the secrets of credentials: 32 bytes in Base64; older keys behind it open what they sealed")

    private static let variable = "POSTRIDER_SECRET_KEY"

    /// The keys; nil if none are given.
    ///
    /// - Throws: `usage` for a file that cannot be read and for text that holds no keys; without a word of it.
    static func read(_ arguments: Arguments) throws(CommandError) -> SecretKeys? {
        if let path = arguments.text(flag.name) {
            guard let text = SecretFile.contents(of: path) else {
                throw .usage(
                    "--\(flag.name)", "\(quoted(path)) cannot be read", "give a file that holds 32 bytes in Base64")
            }
            return try keys(text, place: "--\(flag.name)")
        }
        guard let text = arguments.environment[variable], !text.isEmpty else { return nil }
        return try keys(text, place: variable)
    }

    private static func keys(_ text: String, place: String) throws(CommandError) -> SecretKeys {
        do throws(SecretKeyError) {
            return try SecretKeys(text)
        } catch {
            throw .usage(place, error.reason, "give 32 bytes in Base64, like openssl rand -base64 32 prints them")
        }
    }
}
