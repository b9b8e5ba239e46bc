// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Why the schema cannot be used or changed.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Equatable, Sendable {
        /// PostgreSQL did not do what was asked; `underlying` says more.
        case database
        /// Another migrator, or somebody's transaction, holds a lock and did not let go in time.
        case locked
        /// A numbered migration was applied with another text.
        case changed
        /// The schema belongs to a newer worker.
        case newer
        /// An unreleased version made the schema.
        case unreleased
        /// The list of files is not one that can be applied.
        case files
    }

    /// The kind.
    public let code: Code
    /// One line that is safe to log: no connection string, no parameters.
    public let message: String
    /// The error below, for `database` and `locked`.
    public let underlying: PGError?

    /// An error with its line.
    public init(_ code: Code, _ message: String, underlying: PGError? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// A failed statement, with what it was for.
    static func database(_ place: String, _ error: PGError) -> StoreError {
        let hint = error.hint.map { "; \($0)" } ?? ""
        return StoreError(.database, "\(place): \(error)\(hint)", underlying: error)
    }

    /// The line.
    public var description: String { message }
}
