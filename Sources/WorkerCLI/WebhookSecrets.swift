// SPDX-License-Identifier: Apache-2.0

internal import WebhookSigning

/// The source of the secrets that sign webhooks.
enum WebhookSecrets {
    static let source = SecretSource(
        name: "webhook-secret-file", variable: "POSTRIDER_WEBHOOK_SECRET", example: "/etc/postrider/webhook-secret",
        fallback: "the secrets in POSTRIDER_WEBHOOK_SECRET",
        content: "whsec_ and 24 random bytes in Base64, several separated by spaces",
        meaning: "signs webhooks (callback_url): whsec_…, several separated by spaces")

    /// The keys; nil if none are given.
    ///
    /// - Throws: `usage` for an unreadable file and for a text without secrets. The message quotes no part of it.
    static func read(_ arguments: Arguments) throws(CommandError) -> WebhookKeys? {
        try source.read(arguments, WebhookKeys.init(_:), reason: \.reason)
    }
}
