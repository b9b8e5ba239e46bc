// SPDX-License-Identifier: Apache-2.0

/// A SQLSTATE of five characters. The constants are the codes that this program handles.
public struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Five characters, digits and upper-case letters: `23505`.
    public let rawValue: String

    /// Accepts any text, so no code of the server is refused.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The five characters.
    public var description: String { rawValue }

    /// The class: the first two characters. `23` is integrity, `57` operator intervention.
    public var category: Substring { rawValue.prefix(2) }

    /// `feature_not_supported`; also "cached plan must not change result type" of a prepared statement.
    public static let featureNotSupported = SQLState(rawValue: "0A000")
    /// `unique_violation`.
    public static let uniqueViolation = SQLState(rawValue: "23505")
    /// `invalid_sql_statement_name`: the prepared statement does not exist.
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
    /// `out_of_memory`, also for the table of locks.
    public static let outOfMemory = SQLState(rawValue: "53200")
    /// `internal_error`, for example for a value that exceeds the limit of one allocation.
    public static let internalError = SQLState(rawValue: "XX000")
    /// `lock_not_available`: lock_timeout, or NOWAIT.
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    /// `query_canceled`: statement_timeout, or pg_cancel_backend.
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// `admin_shutdown`: the session was ended, or the server stops.
    public static let adminShutdown = SQLState(rawValue: "57P01")
    /// `cannot_connect_now`: starting up or shutting down.
    public static let cannotConnectNow = SQLState(rawValue: "57P03")

    /// The cause of an error.
    public enum Cause: Equatable, Sendable {
        /// The database had a shortage: of memory, disk, locks, connections or time. The same statement may pass later.
        case shortage
        /// A value of the statement cannot be stored: classes 22 (data), 23 (constraints), 54 (limits).
        case value
        /// A function, table, column or schema is missing or has another shape.
        case schema
        /// Any other cause, for example an error of a trigger.
        case other
    }

    /// The cause. All code of this program classifies database errors by it. `postrider_internal.is_shortage` is the
    /// same in SQL.
    public var cause: Cause {
        if isShortage { return .shortage }
        if ["22", "23", "54"].contains(category) { return .value }
        return isSchemaMismatch ? .schema : .other
    }

    /// Classes 40 (serialization failures, deadlocks), 53 (memory, disk, connections), 55 (locks), 57 (time limits,
    /// shutdowns), 58 (files) and XX (internal errors).
    private var isShortage: Bool { ["40", "53", "55", "57", "58", "XX"].contains(category) }

    /// Whether a statement with less work or fewer rows may pass: it took too long (`query_canceled`) or too much
    /// memory.
    public var isOverrun: Bool { self == .queryCanceled || self == .outOfMemory || self == .internalError }

    /// Whether a function, table, column or schema is missing or has another shape: classes 42 and 3F.
    public var isSchemaMismatch: Bool {
        rawValue.hasPrefix("42") && self != .insufficientPrivilege || self == .noSuchSchema
    }
}
