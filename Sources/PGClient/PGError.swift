// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// A failure between this program and PostgreSQL.
///
/// `description` is safe to log: it never contains the connection string, its password or a parameter. `detail` may
/// quote a row ("Failing row contains …"), so `description` leaves it out.
public struct PGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure, which decides what the caller can do.
    public enum Code: Equatable, Sendable {
        /// The connection string cannot be read, or its options contradict each other.
        case connectionString
        /// The connection could not be made: refused, no such host, wrong password, not writable.
        case connect
        /// The attempt to connect took too long.
        case timeout
        /// A connection was lost. Statements under way may or may not have taken effect.
        case lost
        /// The server refused the statement; `sqlState` has the reason.
        case server
        /// An earlier statement of the same group failed, so this one did not run.
        case aborted
        /// The session is not ready, so no statement was sent.
        case notReady
        /// The server sent an unexpected answer, such as COPY.
        case unexpected
    }

    /// The kind of failure.
    public var code: Code
    /// The failed operation, mostly a libpq function such as `PQconnectPoll`.
    public var operation: String
    /// The server's code; nil if the error is not from the server.
    public var sqlState: SQLState?
    /// One line that is safe to show.
    public var message: String
    /// The server's DETAIL. It may contain values of the row. Show it to the user who sent them, and never log it.
    public var detail: String?
    /// The server's HINT.
    public var hint: String?
    /// The column that the server named; nil if it named none.
    public var column: String?
    /// The server's CONTEXT. It may quote the data that was read, so never log it.
    public var context: String?
    /// Whether a retry cannot help: wrong password, no such database, unreadable connection string.
    public var isConfiguration: Bool
    /// Whether the attempt failed and at least one server answered that accepts no writes: a standby, or one with
    /// `default_transaction_read_only`.
    public var foundReadOnly = false

    /// An error that this program has found.
    public init(
        _ code: Code, operation: String, _ message: String, sqlState: SQLState? = nil, isConfiguration: Bool = false
    ) {
        self.code = code
        self.operation = operation
        self.message = message
        self.sqlState = sqlState
        self.isConfiguration = isConfiguration
    }

    /// The message with its code, such as `message (SQLSTATE 23505)`, and without the detail.
    public var description: String {
        guard let sqlState else { return message }
        return "\(message) (SQLSTATE \(sqlState))"
    }
}

extension PGError {
    /// The fields of `PQresultErrorField`. libpq's header defines them as characters, which Swift does not import.
    private enum Field: UInt8 {
        /// The severity in English. The field `S` would be translated.
        case severity = 0x56
        case sqlState = 0x43
        case message = 0x4D
        case detail = 0x44
        case hint = 0x48
        case column = 0x63
        case context = 0x57
    }

    /// Copies the server's fields from a failed result. It does not take ownership.
    ///
    /// C: `PQresultErrorField`.
    static func fromServer(_ result: OpaquePointer, operation: String) -> PGError {
        func field(_ field: Field) -> String? {
            guard let text = unsafe PQresultErrorField(result, CInt(field.rawValue)) else { return nil }
            return unsafe String(cString: text)
        }
        let state = field(.sqlState).map(SQLState.init(rawValue:))
        let fallback = unsafe PQresultErrorMessage(result).map { unsafe firstLine(String(cString: $0)) }
        var error = PGError(
            state == nil ? .lost : .server, operation: operation,
            field(.message) ?? fallback ?? "the server gave no message", sqlState: state)
        error.detail = field(.detail)
        error.hint = field(.hint)
        error.column = field(.column)
        error.context = field(.context)
        let severity = field(.severity)
        if severity == "FATAL" || severity == "PANIC" { error.code = .lost }
        return error
    }

    /// The first line. libpq's texts have several lines and end with a line feed.
    static func firstLine(_ text: String) -> String {
        String(text.split(separator: "\n", maxSplits: 1).first ?? "no message")
    }
}
