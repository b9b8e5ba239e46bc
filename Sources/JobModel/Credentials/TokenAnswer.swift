// SPDX-License-Identifier: Apache-2.0

/// The result of a refresh, ready to be stored.
public struct TokenAnswer: Sendable {
    /// The effect on the credential.
    public enum Kind: String, Sendable {
        /// There is a new token.
        case fetched = "s"
        /// A retry may succeed.
        case failed = "r"
        /// The endpoint refused for a reason that may pass. The refresh is tried again. The database counts such
        /// answers in a row.
        case doubted = "d"
        /// The user must log in again.
        case refused = "f"
        /// Another worker makes the refresh at once. This one made no call.
        case handedBack = "h"
    }

    /// The effect on the credential.
    public var kind: Kind
    /// All secrets from now on; nil without a new token.
    public var secrets: Secrets?
    /// The lifetime of the token in seconds; nil if the answer names none.
    public var expiresIn: Int32?
    /// The minimum wait before the next attempt.
    public var wait: Duration?
    /// A clause for people; nil with a token.
    public var reason: String?

    /// A result with the known facts.
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
