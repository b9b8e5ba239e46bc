// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// What went wrong between this program and PostgreSQL.
///
/// `description` is safe to log: it never holds the connection string, its password or a parameter.
/// `detail` may quote a row ("Failing row contains …") and therefore stays out of it.
public struct PGError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where it went wrong, which decides what the caller can do.
    public enum Code: Equatable, Sendable {
        /// The connection string cannot be read, or names things that do not go together.
        case connectionString
        /// No connection came about: refused, no such host, wrong password, not writable.
        case connect
        /// The attempt to connect took too long.
        case timeout
        /// A connection that was there has gone; what was in flight may or may not have happened.
        case lost
        /// The server refused the statement; `sqlState` says why.
        case server
        /// An earlier statement of the same group failed, so this one was not run.
        case aborted
        /// The session is not ready; nothing was sent.
        case notReady
        /// The server answered with something that has no place here, such as COPY.
        case unexpected
    }

    /// Which kind of failure it is.
    public var code: Code
    /// What was being done: mostly the libpq function, `PQconnectPoll`.
    public var operation: String
    /// The server's code, if the server spoke.
    public var sqlState: SQLState?
    /// One line that is safe to show.
    public var message: String
    /// The server's DETAIL. May hold values of the row: show it to the user who sent them, never log it.
    public var detail: String?
    /// The server's HINT.
    public var hint: String?
    /// The column the server named, if it did.
    public var column: String?
    /// The server's CONTEXT: where it was. May quote what it was reading: not for logs.
    public var context: String?
    /// Whether no retry can help: wrong password, no such database, unreadable connection string.
    public var isConfiguration: Bool
    /// Whether no connection came about and a server was among those that answered which takes no writes: a standby, or
    /// one where `default_transaction_read_only` is on.
    public var foundReadOnly = false

    /// An error of this program's own making.
    public init(
        _ code: Code, operation: String, _ message: String, sqlState: SQLState? = nil, isConfiguration: Bool = false
    ) {
        self.code = code
        self.operation = operation
        self.message = message
        self.sqlState = sqlState
        self.isConfiguration = isConfiguration
    }

    /// `message (SQLSTATE 23505)`, without detail.
    public var description: String {
        guard let sqlState else { return message }
        return "\(message) (SQLSTATE \(sqlState))"
    }
}

extension PGError {
    /// The fields of `PQresultErrorField`; the header has them as characters, which Swift does not import.
    private enum Field: UInt8 {
        case severity = 0x56
        case sqlState = 0x43
        case message = 0x4D
        case detail = 0x44
        case hint = 0x48
        case column = 0x63
        case context = 0x57
    }

    /// Copies the server's fields out of a failed result; does not take the result over.
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

    /// libpq's texts have several lines and a line feed at the end.
    static func firstLine(_ text: String) -> String {
        String(text.split(separator: "\n", maxSplits: 1).first ?? "no message")
    }
}
