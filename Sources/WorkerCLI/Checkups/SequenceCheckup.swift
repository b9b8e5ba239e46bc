// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The findings of `worker doctor` about sequences behind their tables, as after a cut-over by logical replication.
enum SequenceCheckup {
    private enum Column: Int, PGColumn {
        case sequence, lastValue, highest, repair

        var sql: StaticString {
            switch self {
            case .sequence: "sequence"
            case .lastValue: "last_value"
            case .highest: "highest"
            case .repair: "repair"
            }
        }
    }

    /// One fault for each sequence that would repeat a number, with the statement that repairs it. One `ok` line if
    /// there is no such sequence.
    static func findings(_ connection: borrowing PGConnection) throws(PGError) -> [Finding] {
        let lags = try connection.query(
            "select \(Column.selectList) from postrider_internal.sequence_lags()")
        if lags.rowCount == 0 { return [Finding(.ok, "sequences", "none is behind its table")] }
        return (0..<lags.rowCount).map { row in
            Finding(
                .fault, "sequences",
                "\(lags.text(row, Column.sequence)) is at \(lags.int64(row, Column.lastValue)), "
                    + "but its table already holds \(lags.int64(row, Column.highest)): "
                    + "the next rows fail or repeat numbers; run: \(lags.text(row, Column.repair))")
        }
    }
}
