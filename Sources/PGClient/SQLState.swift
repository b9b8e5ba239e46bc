// SPDX-License-Identifier: Apache-2.0

/// A five-character SQLSTATE as the server sent it; the constants are those this program decides by.
public struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Five characters, digits and upper-case letters: `23505`.
    public let rawValue: String

    /// Takes any text; what the server sends is never refused.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The five characters.
    public var description: String { rawValue }

    /// The first two characters: `23` is integrity, `57` the operator's doing.
    public var category: Substring { rawValue.prefix(2) }

    /// `feature_not_supported`; also "cached plan must not change result type" of a prepared statement.
    public static let featureNotSupported = SQLState(rawValue: "0A000")
    /// `unique_violation`.
    public static let uniqueViolation = SQLState(rawValue: "23505")
    /// `invalid_sql_statement_name`: the prepared statement is not there.
    public static let unknownStatement = SQLState(rawValue: "26000")
    /// `invalid_authorization_specification`: no such role, or pg_hba.conf refuses.
    public static let invalidAuthorization = SQLState(rawValue: "28000")
    /// `invalid_password`.
    public static let invalidPassword = SQLState(rawValue: "28P01")
    /// `invalid_catalog_name`: no such database.
    public static let noSuchDatabase = SQLState(rawValue: "3D000")
    /// `invalid_schema_name`: no such schema.
    public static let noSuchSchema = SQLState(rawValue: "3F000")
    /// `serialization_failure`.
    public static let serializationFailure = SQLState(rawValue: "40001")
    /// `deadlock_detected`.
    public static let deadlock = SQLState(rawValue: "40P01")
    /// `insufficient_privilege`.
    public static let insufficientPrivilege = SQLState(rawValue: "42501")
    /// `duplicate_prepared_statement`.
    public static let duplicateStatement = SQLState(rawValue: "42P05")
    /// `undefined_table`.
    public static let undefinedTable = SQLState(rawValue: "42P01")
    /// `out_of_memory`, also of the table of locks.
    public static let outOfMemory = SQLState(rawValue: "53200")
    /// `internal_error`, for example a value that needs more memory than one allocation may have.
    public static let internalError = SQLState(rawValue: "XX000")
    /// `lock_not_available`: lock_timeout, or NOWAIT.
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// `query_canceled`: statement_timeout, or pg_cancel_backend.
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// `admin_shutdown`: the session was ended, or the server stops.
    public static let adminShutdown = SQLState(rawValue: "57P01")
    /// `cannot_connect_now`: starting up or shutting down.
    public static let cannotConnectNow = SQLState(rawValue: "57P03")

    /// What an error says of the statement that it ended.
    public enum Cause: Equatable, Sendable {
        /// The database lacked something at that moment: memory, disk, a lock, a connection, time. The same statement
        /// may pass later.
        case shortage
        /// A value of the statement cannot be stored: classes 22 (data), 23 (constraints), 54 (limits).
        case value
        /// A function, table, column or schema is missing or of another shape.
        case schema
        /// None of these, for example an error that a trigger raises.
        case other
    }

    /// The cause; the one place in this program that classifies errors of the database.
    /// `postrider_internal.is_shortage` is the same in SQL.
    public var cause: Cause {
        if isShortage { return .shortage }
        if ["22", "23", "54"].contains(category) { return .value }
        return isSchemaMismatch ? .schema : .other
    }

    /// Classes 40 (serialization failures, deadlocks), 53 (memory, disk, connections), 55 (locks), 57 (time limits,
    /// shutdowns), 58 (files) and XX (internal errors).
    private var isShortage: Bool { ["40", "53", "55", "57", "58", "XX"].contains(category) }

    /// Whether a statement with less work or fewer rows in it may pass: it took too long (`query_canceled`) or too much
    /// memory.
    public var isOverrun: Bool { self == .queryCanceled || self == .outOfMemory || self == .internalError }

    /// Whether a function, table, column or schema is missing or of another shape: classes 42 and 3F.
    public var isSchemaMismatch: Bool {
        rawValue.hasPrefix("42") && self != .insufficientPrivilege || self == .noSuchSchema
    }
}
