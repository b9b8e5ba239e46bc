// SPDX-License-Identifier: Apache-2.0

/// The columns of a statement's result: one case for each column, in the order of the SELECT list.
///
/// The SELECT list is made from the cases (`selectList`), and readers index by case. So names and readers cannot differ.
/// ```
/// enum ReapColumn: Int, PGColumn {
///     case lostWorker, lostName, jobs
///     var sql: StaticString {
///         switch self {
///         case .lostWorker: "lost_worker"
///         case .lostName: "lost_name"
///         case .jobs: "jobs"
///         }
///     }
/// }
/// ```
public protocol PGColumn: RawRepresentable<Int>, CaseIterable, Sendable {
    /// The column in the SELECT list: its name, or an expression with `as` and the name.
    var sql: StaticString { get }
}

extension PGColumn {
    /// All columns, separated by commas.
    public static var selectList: String {
        allCases.map { "\($0.sql)" }.joined(separator: ", ")
    }

    /// The name of the column in the result: the word after `as`, or the whole text.
    public var name: String {
        let parts = "\(sql)".split(separator: " ")
        return parts.count > 2 && parts[parts.count - 2] == "as" ? String(parts[parts.count - 1]) : "\(sql)"
    }
}

/// The only column of a statement that returns one value, such as a function call.
public enum PGValueColumn: Int, PGColumn {
    case value

    /// The name after `as`.
    public var sql: StaticString { "value" }
}

extension PGStatement {
    /// A statement whose SELECT list consists of the columns: `select <columns> <rest>`. `rest` begins with `from`.
    public convenience init<Column: PGColumn>(_ name: String, _ columns: Column.Type, _ rest: String = "") {
        self.init(name, "select \(Column.selectList) \(rest)", returning: Column.self)
    }

    /// A statement that returns the columns. Its text contains their list.
    public convenience init<Column: PGColumn>(_ name: String, _ sql: String, returning columns: Column.Type) {
        self.init(name, sql, columns: Column.allCases.map(\.name))
    }

    /// A statement that returns one value: `select <expression> as value <rest>`. Read it with `PGValueColumn`.
    public convenience init(_ name: String, value expression: String, _ rest: String = "") {
        self.init(name, "select \(expression) as value \(rest)", returning: PGValueColumn.self)
    }
}
