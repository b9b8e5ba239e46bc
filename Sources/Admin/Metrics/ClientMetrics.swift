// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The usage and limits of the clients with limits: at most one for each role that inserts.
enum ClientMetrics {
    private enum Column: Int, PGColumn {
        case role, unfinished, maxUnfinished, lanes, maxLanes

        var sql: StaticString {
            switch self {
            case .role: "role"
            case .unfinished: "unfinished"
            case .maxUnfinished: "max_unfinished"
            case .lanes: "lanes"
            case .maxLanes: "max_lanes::bigint as max_lanes"
            }
        }
    }

    private static let query = """
        select \(Column.selectList) from postrider.client_status
          order by unfinished desc, role limit 1000
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let clients = try connection.query(query)
        for (column, name, help) in [
            (
                Column.unfinished, "postrider_client_unfinished_jobs",
                "Jobs of a client with limits that have not ended."
            ),
            (.maxUnfinished, "postrider_client_max_unfinished_jobs", "client_limits.max_unfinished of a client."),
            (
                .lanes, "postrider_client_lanes",
                "Lanes in which a client with max_lanes has jobs that have not ended."
            ),
            (.maxLanes, "postrider_client_max_lanes", "client_limits.max_lanes of a client."),
        ] {
            metrics.family(name, .gauge, help)
            for row in 0..<clients.rowCount where !clients.isNull(row, column) {
                metrics.sample(
                    name, ["client": clients.text(row, Column.role)], Double(clients.int64(row, column)))
            }
        }
    }
}
