// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A view of the schema `postrider`, or the rows of another source, as a table for a terminal.
struct StatusView: Sendable {
    /// A column of the table.
    struct Column: Sendable {
        enum Kind: Sendable {
            case text
            /// Aligned to the right.
            case number
            /// Coloured by `Palette.colour(ofState:)`.
            case state
        }

        /// The name, which the header shows in capital letters.
        var name: String
        /// The SQL expression over the source, which has the alias `v`.
        var sql: String
        var kind: Kind

        /// - Parameter sql: nil: the column of this name.
        init(_ name: String, _ sql: String? = nil, _ kind: Kind = .text) {
            self.name = name
            self.sql = sql ?? "v.\(name)"
            self.kind = kind
        }

        init(_ name: String, _ kind: Kind) { self.init(name, nil, kind) }
    }

    /// The rows that were read, as texts. NULL is the empty text.
    struct Rows: Sendable {
        var columns: [Column]
        var rows: [[String]]

        /// The header and the rows, each cut at `width`.
        func lines(width: Int = .max, palette: Palette) -> [String] {
            let numbers = columns.indices.filter { columns[$0].kind == .number }
            return TextTable.lines(
                columns.map { $0.name.uppercased() }, rows, numbers: Set(numbers), width: width, palette: palette
            ) { column, text in
                columns[column].kind == .state ? Palette.colour(ofState: text) : nil
            }
        }
    }

    /// The state of a row of `queue_status`.
    static let queueState =
        "case when v.paused then 'paused' when v.ready > 0 and not v.has_worker then 'no worker' else 'open' end"

    /// The state of a row of `lane_status`: why it delays jobs, or that its calls fail.
    static let laneState = "coalesce(v.held_by, case when v.failing then 'failing' else 'open' end)"

    /// The view, without its schema, or a subquery in parentheses.
    var name: String
    /// The ORDER BY list.
    var order: String
    var columns: [Column]
    /// The condition on rows.
    var condition = "true"
    /// The most rows; nil: all.
    var limit: Int?

    private var source: String {
        "from \(name.hasPrefix("(") ? name : "postrider.\(name)") v where \(condition) order by \(order)"
    }

    /// Reads the rows.
    func rows(_ connection: borrowing PGConnection) throws(PGError) -> Rows {
        let list = columns.map { "coalesce((\($0.sql))::text, '')" }.joined(separator: ", ")
        let result = try connection.query("select \(list) \(source)\(limit.map { " limit \($0)" } ?? "")")
        let rows = (0..<result.rowCount).map { row in columns.indices.map { result.text(row, $0) } }
        return Rows(columns: columns, rows: rows)
    }

    /// Reads each row as one JSON object with all columns.
    func jsonLines(_ connection: borrowing PGConnection) throws(PGError) -> [String] {
        let result = try connection.query("select row_to_json(v)::text as value \(source)")
        return (0..<result.rowCount).map { result.text($0, PGValueColumn.value) }
    }
}
