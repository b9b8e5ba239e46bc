// SPDX-License-Identifier: Apache-2.0

/// A statement that a session sends again and again; make one per text and keep it (`static let`).
///
/// A class, so that a session knows by identity whether this connection has it prepared.
public final class PGStatement: Sendable {
    /// Part of the prepared statement's name on the server: short, lower case.
    public let name: String
    /// The text, with `$1`, `$2`, …; one command.
    public let sql: String

    /// A statement; nothing is sent.
    public init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }
}
