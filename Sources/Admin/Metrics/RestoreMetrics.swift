// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The restores of the database, and the time of the last one.
enum RestoreMetrics {
    private enum Column: Int, PGColumn {
        case restores, last

        var sql: StaticString {
            switch self {
            case .restores: "count(*) as restores"
            case .last: "extract(epoch from max(found_at))::float8 as last"
            }
        }
    }

    private static let query = "select \(Column.selectList) from postrider.restores"

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let found = try connection.query(query)
        let restores = found.int64(0, Column.restores)
        metrics.single(
            "postrider_restores", .gauge, "Restores of the database that workers have found.", Double(restores))
        if restores > 0 {
            metrics.single(
                "postrider_last_restore_timestamp_seconds", .gauge, "When a worker found the last restore.",
                found.float8(0, Column.last))
        }
    }
}
