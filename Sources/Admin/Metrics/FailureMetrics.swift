// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The latest failed jobs, by queue and error code.
enum FailureMetrics {
    private enum Column: Int, PGColumn {
        case queue, errorCode, jobs

        var sql: StaticString {
            switch self {
            case .queue:
                """
                coalesce((select t.queue from postrider_internal.tracks t where t.id = r.track),
                         (select j.queue from postrider.jobs j where j.id = r.job_id)) as queue
                """
            case .errorCode: "error_code"
            case .jobs: "count(*) as jobs"
            }
        }
    }

    /// Reads the index of failures from its end. A job without a track ended before it had one.
    static let query = """
        select \(Column.selectList)
          from (select f.job_id, f.track, coalesce(f.error_code, '') as error_code
                  from postrider_internal.results f
                 where postrider_internal.is_failure(f.state) and f.finished_at >= now() - interval '5 minutes'
                 order by f.finished_at desc, f.job_id desc limit 1000) r
         group by queue, error_code order by queue, error_code
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let failures = try connection.query(query)
        metrics.family(
            "postrider_recent_failures", .gauge,
            "Jobs that failed, expired or ended unknown in the last five minutes, of the latest 1000.")
        for row in 0..<failures.rowCount where !failures.isNull(row, Column.queue) {
            metrics.sample(
                "postrider_recent_failures",
                ["queue": failures.text(row, Column.queue), "error_code": failures.text(row, Column.errorCode)],
                Double(failures.int64(row, Column.jobs)))
        }
    }
}
