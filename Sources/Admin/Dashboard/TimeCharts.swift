// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Three charts over time: jobs that ended, waits, and calls. Of all jobs, or of one queue, lane or service.
///
/// The last hour of all jobs comes from the minute statistics. Everything else is estimated from a sample of jobs
/// (`chart_points`). The statistics have no lanes and services, and hold an hour.
struct TimeCharts: Sendable {
    private struct Range {
        let name: String
        let label: String
        let length: StaticString
        let step: StaticString
        let places: Int
        /// The minutes of a step.
        let minutes: Double
    }

    private static let ranges = [
        Range(name: "1h", label: "1 h", length: "1 hour", step: "1 minute", places: 60, minutes: 1),
        Range(name: "24h", label: "24 h", length: "24 hours", step: "15 minutes", places: 96, minutes: 15),
        Range(name: "7d", label: "7 d", length: "7 days", step: "2 hours", places: 84, minutes: 120),
    ]

    private enum PointColumn: Int, PGColumn {
        case at, finished, failed, wait50, wait95, wait99, call50, call95, call99, sampled, isExact

        var sql: StaticString {
            switch self {
            case .at: "to_char(s.at, 'YYYY-MM-DD HH24:MI') as at"
            case .finished: "c.finished"
            case .failed: "c.failed"
            case .wait50: "c.wait_p50_ms"
            case .wait95: "c.wait_p95_ms"
            case .wait99: "c.wait_p99_ms"
            case .call50: "c.call_p50_ms"
            case .call95: "c.call_p95_ms"
            case .call99: "c.call_p99_ms"
            case .sampled: "c.sampled"
            case .isExact: "c.is_exact"
            }
        }
    }

    private let path: String
    private let filters: PageFilters
    private let range: Range
    private let charts: [Chart]

    /// Reads the values of a page whose filters may name a queue, a lane, a service and a range.
    init(_ path: String, _ filters: PageFilters, _ connection: borrowing PGConnection) throws(PGError) {
        self.path = path
        self.filters = filters
        let range = TimeCharts.ranges.first { $0.name == filters["range"] } ?? TimeCharts.ranges[0]
        self.range = range
        let filter = JobFilter(
            queues: filters["queue"].map { [$0] } ?? [], lane: filters["lane"], service: filters["service"], limit: 1)
        let isWhole = filters.values.allSatisfy { $0.0 == "range" } && range.name == "1h"
        var parameters = PGParameters()
        let source =
            isWhole
            ? TimeCharts.minutes
            : """
            postrider_internal.chart_points('\(range.length)', '\(range.step)', \(filter.json(&parameters)))
            """
        let result = try connection.query(
            """
            select \(PointColumn.selectList)
              from (select n, date_bin('\(range.step)', now(), 'epoch') + interval '\(range.step)'
                         - interval '\(range.length)' + n * interval '\(range.step)' as at
                      from generate_series(0, \(range.places - 1)) n) s
              left join \(source) c on c.slot = s.n
             order by s.n
            """, &parameters)
        let rows = 0..<result.rowCount
        func values(_ column: PointColumn) -> [Double?] {
            rows.map { result.isNull($0, column) ? nil : result.float8($0, column) }
        }
        func rate(_ column: PointColumn) -> [Double?] { values(column).map { ($0 ?? 0) / range.minutes } }
        let places = rows.map { result.text($0, PointColumn.at) }
        let sampled = rows.reduce(Int64(0)) { $0 + (result.optionalInt64($1, PointColumn.sampled) ?? 0) }
        let isExact = rows.allSatisfy { result.isNull($0, PointColumn.isExact) || result.bool($0, PointColumn.isExact) }
        let showsDays = range.name == "7d"
        let note = isExact ? "" : "Estimated from \(Column.grouped("\(sampled)")) jobs of this time."
        charts = [
            Chart(
                title: "Ended", unit: "jobs per minute", kind: .bars, places: places,
                series: [
                    .init(name: "ended", style: "ended", values: rate(.finished)),
                    .init(name: "failed", style: "bad", values: rate(.failed)),
                ], showsDays: showsDays, note: note),
            Chart(
                title: "Wait", unit: "from due to first attempt", kind: .times, places: places,
                series: TimeCharts.percentiles(values(.wait50), values(.wait95), values(.wait99)),
                showsDays: showsDays, note: note),
            Chart(
                title: "Call", unit: "duration of the last call", kind: .times, places: places,
                series: TimeCharts.percentiles(values(.call50), values(.call95), values(.call99)),
                showsDays: showsDays, note: note),
        ]
    }

    /// The minute statistics, in the form of `chart_points`.
    private static let minutes = """
        (select (extract(epoch from t.minute - date_trunc('minute', now())) / 60)::int + 59 as slot,
                t.finished::float8 as finished, t.failed::float8 as failed, t.wait_p50_ms::float8 as wait_p50_ms,
                t.wait_p95_ms::float8 as wait_p95_ms, t.wait_p99_ms::float8 as wait_p99_ms,
                t.call_p50_ms::float8 as call_p50_ms, t.call_p95_ms::float8 as call_p95_ms,
                t.call_p99_ms::float8 as call_p99_ms, null::bigint as sampled, true as is_exact
           from postrider.throughput t)
        """

    private static func percentiles(_ p50: [Double?], _ p95: [Double?], _ p99: [Double?]) -> [Chart.Series] {
        [
            .init(name: "p99", style: "p99", values: p99), .init(name: "p95", style: "p95", values: p95),
            .init(name: "p50", style: "p50", values: p50),
        ]
    }

    /// Adds the section.
    func write(title: String, to html: inout HTML) {
        html.element("section") { html in
            html.element("h2", title)
            html.element("nav", ["class": "ranges", "aria-label": "range of the charts"]) { html in
                for other in TimeCharts.ranges {
                    let rest = filters.values.filter { $0.0 != "range" }
                    let href = Column.link(path, rest + [("range", other.name)])
                    html.element(
                        "a", other.name == range.name ? ["href": href, "aria-current": "true"] : ["href": href],
                        other.label)
                }
            }
            html.element("div", ["class": "charts"]) { html in
                for chart in charts { chart.write(to: &html) }
            }
        }
    }
}
