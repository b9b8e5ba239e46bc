// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The workers by state, with their slots, their calls in flight and the answers that wait there to be judged.
enum WorkerStateMetrics {
    private enum Column: Int, PGColumn {
        case state, workers, slots, calls, judgementsWaiting

        var sql: StaticString {
            switch self {
            case .state: "state"
            case .workers: "count(*) as workers"
            case .slots: "coalesce(sum(concurrency), 0)::bigint as slots"
            case .calls: "coalesce(sum(in_flight), 0)::bigint as calls"
            case .judgementsWaiting: "coalesce(sum(judgements_waiting), 0)::bigint as judgements_waiting"
            }
        }
    }

    private static let query = """
        select \(Column.selectList)
          from postrider.worker_status
         where state in ('running', 'draining', 'silent')
           or (state = 'lost' and ended_at > now() - interval '10 minutes')
         group by state order by state
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let workers = try connection.query(query)
        for (column, name, help) in [
            (
                Column.workers, "postrider_workers",
                "Workers of the fleet, by state; lost: within the last ten minutes."
            ),
            (.slots, "postrider_fleet_slots", "Calls that these workers may have in flight."),
            (
                .calls, "postrider_fleet_calls_in_flight",
                "Calls that these workers had in flight at their last heartbeat."
            ),
            (
                .judgementsWaiting, "postrider_judgements_waiting",
                "Answers whose expensive expressions waited for evaluation by these workers."
            ),
        ] {
            metrics.family(name, .gauge, help)
            // The slots and calls of a lost worker no longer exist.
            for row in 0..<workers.rowCount where column == .workers || workers.text(row, Column.state) != "lost" {
                metrics.sample(
                    name, ["state": workers.text(row, Column.state)], Double(workers.int64(row, column)))
            }
        }
    }
}
