// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The ticks of schedules that made no job, and the latest success of each schedule.
enum ScheduleMetrics {
    private enum Column: Int, PGColumn {
        case name, missed, skipped, lastMissed

        var sql: StaticString {
            switch self {
            case .name: "name"
            case .missed: "missed"
            case .skipped: "skipped"
            case .lastMissed: "extract(epoch from last_missed_at)::float8 as last_missed"
            }
        }
    }

    private enum SuccessColumn: Int, PGColumn {
        case schedule, succeeded

        var sql: StaticString {
            switch self {
            case .schedule: "schedule"
            case .succeeded: "extract(epoch from succeeded_at)::float8 as succeeded"
            }
        }
    }

    private static let successes =
        "select \(SuccessColumn.selectList) from postrider_internal.last_successes(1000) order by schedule"

    /// At most 1,000 schedules, by name. If there are more, the ones whose last missed tick is the latest.
    private static let query = """
        select \(Column.selectList)
          from (select s.name, s.missed, s.skipped, s.last_missed_at from postrider.schedule_status s
                 order by s.last_missed_at desc nulls last, s.name limit 1000) s
         order by name
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let schedules = try connection.query(query)
        for (column, name, help) in [
            (Column.missed, "postrider_schedule_missed_ticks", "Ticks of a schedule that made no job in time."),
            (
                .skipped, "postrider_schedule_skipped_ticks",
                "Ticks of a schedule skipped for overlap, a dedupe_key or an error."
            ),
        ] {
            metrics.family(name, .gauge, help)
            for row in 0..<schedules.rowCount {
                metrics.sample(
                    name, ["schedule": schedules.text(row, Column.name)], Double(schedules.int64(row, column)))
            }
        }
        metrics.family(
            "postrider_schedule_last_missed_timestamp_seconds", .gauge,
            "The last tick of a schedule that made no job, missed or skipped.")
        for row in 0..<schedules.rowCount where !schedules.isNull(row, Column.lastMissed) {
            metrics.sample(
                "postrider_schedule_last_missed_timestamp_seconds", ["schedule": schedules.text(row, Column.name)],
                schedules.float8(row, Column.lastMissed))
        }
        let successes = try connection.query(successes)
        metrics.family(
            "postrider_schedule_last_success_timestamp_seconds", .gauge,
            "When the latest successful job of a schedule ended.")
        for row in 0..<successes.rowCount {
            metrics.sample(
                "postrider_schedule_last_success_timestamp_seconds",
                ["schedule": successes.text(row, SuccessColumn.schedule)],
                successes.float8(row, SuccessColumn.succeeded))
        }
    }
}
