// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Why the schema cannot be used or changed.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Equatable, Sendable {
        /// A statement failed; see `underlying`.
        case database
        /// Another migrator or transaction held a lock for too long.
        case locked
        /// A numbered migration was applied with another text.
        case changed
        /// A newer worker has migrated the schema.
        case newer
        /// An unreleased version made the schema.
        case unreleased
        /// The server, the database or the list of files does not meet a condition.
        case files
    }

    /// The kind of failure.
    public let code: Code
    /// One line that is safe to log. It contains no connection string and no parameters.
    public let message: String
    /// The PostgreSQL error for `database` and `locked`.
    public let underlying: PGError?

    /// An error with its message.
    public init(_ code: Code, _ message: String, underlying: PGError? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The error of a failed statement.
    static func database(_ place: String, _ error: PGError) -> StoreError {
        let hint = error.hint.map { "; \($0)" } ?? ""
        return StoreError(.database, "\(place): \(error)\(hint)", underlying: error)
    }

    /// The message.
    public var description: String { message }
}
