// SPDX-License-Identifier: Apache-2.0

internal import WebhookSigning

/// Where the secrets that sign webhooks come from: a file, or the environment. Never the command line, which every user of
/// the machine can read.
enum WebhookSecrets {
    /// `--webhook-secret-file`.
    static let flag = Flag(
        name: "webhook-secret-file", kind: .text, placeholder: "FILE", example: "/etc/postrider/webhook-secret",
        fallback: "the secrets in POSTRIDER_WEBHOOK_SECRET",
        meaning: "signs webhooks (callback_url): whsec_…, several separated by spaces")

    private static let variable = "POSTRIDER_WEBHOOK_SECRET"

    /// The keys; nil if none are given.
    ///
    /// - Throws: `usage` for a file that cannot be read and for text that holds no secrets; without a word of it.
    static func read(_ arguments: Arguments) throws(CommandError) -> WebhookKeys? {
        if let path = arguments.text(flag.name) {
            let right = "give a file that holds whsec_…, like --\(flag.name) \(flag.example)"
            guard let text = SecretFile.contents(of: path) else {
                throw .usage("--\(flag.name)", "\(quoted(path)) cannot be read", right)
            }
            return try keys(text, place: "--\(flag.name)", right)
        }
        guard let text = arguments.environment[variable], !text.isEmpty else { return nil }
        return try keys(text, place: variable, "give whsec_ and 24 random bytes in Base64, several separated by spaces")
    }

    private static func keys(_ text: String, place: String, _ right: String) throws(CommandError) -> WebhookKeys {
        do throws(WebhookKeyError) {
            return try WebhookKeys(text)
        } catch {
            throw .usage(place, error.reason, right)
        }
    }
}
