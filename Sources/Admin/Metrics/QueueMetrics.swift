// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The unfinished jobs of each queue by state, its oldest ready job, and whether it is paused or has a worker.
enum QueueMetrics {
    private enum Column: Int, PGColumn {
        case queue, ready, scheduled, running, waiting
        case oldestReadySeconds, paused, hasWorker

        var sql: StaticString {
            switch self {
            case .queue: "queue"
            case .ready: "ready"
            case .scheduled: "scheduled"
            case .running: "running"
            case .waiting: "waiting"
            case .oldestReadySeconds:
                "coalesce(extract(epoch from oldest_ready_age), 0)::float8 as oldest_ready_seconds"
            case .paused: "paused"
            case .hasWorker: "has_worker"
            }
        }
    }

    private static let query = "select \(Column.selectList) from postrider.queue_status order by queue"

    /// The columns with the counts of jobs. Their names are the states.
    private static let standing = [Column.ready, .scheduled, .running, .waiting]

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let queues = try connection.query(query)
        metrics.family("postrider_jobs", .gauge, "Jobs that have not ended, by queue and state.")
        append("postrider_jobs", standing, of: queues, to: &metrics)
        metrics.family("postrider_oldest_ready_seconds", .gauge, "How long the oldest ready job of a queue has waited.")
        for row in 0..<queues.rowCount {
            metrics.sample(
                "postrider_oldest_ready_seconds", ["queue": queues.text(row, Column.queue)],
                queues.float8(row, Column.oldestReadySeconds))
        }
        metrics.family("postrider_queue_paused", .gauge, "1 while a queue is paused.")
        for row in 0..<queues.rowCount {
            metrics.sample(
                "postrider_queue_paused", ["queue": queues.text(row, Column.queue)],
                queues.bool(row, Column.paused) ? 1 : 0)
        }
        metrics.family("postrider_queue_has_worker", .gauge, "1 while a worker takes the jobs of a queue.")
        for row in 0..<queues.rowCount {
            metrics.sample(
                "postrider_queue_has_worker", ["queue": queues.text(row, Column.queue)],
                queues.bool(row, Column.hasWorker) ? 1 : 0)
        }
    }

    /// Adds a sample for each queue and state.
    private static func append(
        _ family: String, _ states: [Column], of queues: borrowing PGResult, to metrics: inout MetricsText
    ) {
        for row in 0..<queues.rowCount {
            for state in states {
                metrics.sample(
                    family, ["queue": queues.text(row, Column.queue), "state": state.name],
                    Double(queues.int64(row, state)))
            }
        }
    }
}
