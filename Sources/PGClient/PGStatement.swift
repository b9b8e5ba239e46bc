// SPDX-License-Identifier: Apache-2.0

/// A statement that a session sends repeatedly. Create one per text and keep it (`static let`).
///
/// It is a class, so that a session recognizes a prepared statement by identity.
public final class PGStatement: Sendable {
    /// A part of the prepared statement's name on the server: short, in lower case.
    public let name: String
    /// The text of one command, with `$1`, `$2`, ….
    public let sql: String
    /// The names of the result's columns in order, as readers expect them. Nil: no reader names a column.
    public let columns: [String]?

    /// A statement. It is not sent yet.
    public init(_ name: String, _ sql: String, columns: [String]? = nil) {
        self.name = name
        self.sql = sql
        self.columns = columns
    }
}
