// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The percentiles of the waits and calls in the last whole minute.
enum MinuteMetrics {
    private enum Column: Int, PGColumn {
        case waitP50, waitP95, waitP99, callP50, callP95, callP99

        var sql: StaticString {
            switch self {
            case .waitP50: "wait_p50_ms::float8 as wait_p50"
            case .waitP95: "wait_p95_ms::float8 as wait_p95"
            case .waitP99: "wait_p99_ms::float8 as wait_p99"
            case .callP50: "call_p50_ms::float8 as call_p50"
            case .callP95: "call_p95_ms::float8 as call_p95"
            case .callP99: "call_p99_ms::float8 as call_p99"
            }
        }
    }

    /// The times of the last whole minute. No row if no job ended in it.
    private static let query = """
        select \(Column.selectList)
          from postrider.throughput
         where minute >= date_trunc('minute', now()) - interval '1 minute' and minute < date_trunc('minute', now())
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let times = try connection.query(query)
        guard times.rowCount > 0 else { return }
        append(
            "postrider_recent_wait_seconds",
            "Time from due to the first attempt, in a sample of the last whole minute.",
            [(.waitP50, "0.5"), (.waitP95, "0.95"), (.waitP99, "0.99")], of: times, to: &metrics)
        append(
            "postrider_recent_call_seconds",
            "Duration of the calls that ended jobs, in a sample of the last whole minute.",
            [(.callP50, "0.5"), (.callP95, "0.95"), (.callP99, "0.99")], of: times, to: &metrics)
    }

    /// Adds a summary of the quantiles that have a value.
    private static func append(
        _ family: String, _ help: String, _ quantiles: [(Column, String)], of times: borrowing PGResult,
        to metrics: inout MetricsText
    ) {
        metrics.family(family, .summary, help)
        for (column, quantile) in quantiles where !times.isNull(0, column) {
            metrics.sample(family, ["quantile": quantile], times.float8(0, column) / 1000)
        }
    }
}
