// SPDX-License-Identifier: Apache-2.0

/// How a refresh ended, ready to be written.
public struct TokenAnswer: Sendable {
    /// What becomes of the credential.
    public enum Kind: String, Sendable {
        /// There is a new token.
        case fetched = "s"
        /// Another try may end better.
        case failed = "r"
        /// The endpoint refused for a reason that may pass. It is tried again, and the database counts such answers in
        /// a row.
        case doubted = "d"
        /// The user is to log in again.
        case refused = "f"
        /// Another worker is to make it, at once; nothing was tried.
        case handedBack = "h"
    }

    /// What becomes of the credential.
    public var kind: Kind
    /// All secrets as they are from now on; nil without a new token.
    public var secrets: Secrets?
    /// In how many seconds the token ends; nil: it does not say.
    public var expiresIn: Int32?
    /// The least wait before the next try.
    public var wait: Duration?
    /// A clause for people; nil for a token.
    public var reason: String?

    /// An answer with what is known of it.
    public init(
        _ kind: Kind, secrets: Secrets? = nil, expiresIn: Int32? = nil, wait: Duration? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.secrets = secrets
        self.expiresIn = expiresIn
        self.wait = wait
        self.reason = reason
    }
}
