// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The findings of `worker doctor` about sequences behind their tables, as after a cut-over by logical replication.
enum SequenceCheckup {
    /// One fault for each sequence that would repeat a number, with the statement that repairs it. One `ok` line if
    /// there is no such sequence.
    static func findings(_ connection: borrowing PGConnection) throws(PGError) -> [Finding] {
        let lags = try connection.query(
            "select sequence, last_value, highest, repair from postrider_internal.sequence_lags()")
        if lags.rowCount == 0 { return [Finding(.ok, "sequences", "none is behind its table")] }
        return (0..<lags.rowCount).map { row in
            Finding(
                .fault, "sequences",
                "\(lags.text(row, 0)) is at \(lags.int64(row, 1)), and its table holds \(lags.int64(row, 2)): "
                    + "the next rows are refused or get numbers twice; run: \(lags.text(row, 3))")
        }
    }
}
