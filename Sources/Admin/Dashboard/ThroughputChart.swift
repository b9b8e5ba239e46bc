// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The jobs that ended in each minute of the last hour, as bars. The failed ones are at the bottom.
struct ThroughputChart: Sendable {
    private struct Minute {
        /// The age in minutes: 0 is the current minute, 59 the oldest.
        var age: Int
        var finished: Int64
        var failed: Int64
        /// The time of day in UTC, such as `14:03`.
        var clock: String
        /// The percentiles of waits and calls as text; empty without a value.
        var times: String
    }

    private let minutes: [Minute]

    private enum MinuteColumn: Int, PGColumn {
        case age, finished, failed, clock, times

        var sql: StaticString {
            switch self {
            case .age: "(extract(epoch from date_trunc('minute', now()) - minute) / 60)::int as age"
            case .finished: "finished"
            case .failed: "failed"
            case .clock: "to_char(minute, 'HH24:MI') as clock"
            case .times:
                """
                concat_ws('; ',
                  'waits p50 ' || round(wait_p50_ms, 1) || ' ms, p95 ' || round(wait_p95_ms, 1) || ' ms, p99 '
                    || round(wait_p99_ms, 1) || ' ms',
                  'calls p50 ' || round(call_p50_ms, 1) || ' ms, p95 ' || round(call_p95_ms, 1) || ' ms, p99 '
                    || round(call_p99_ms, 1) || ' ms') as times
                """
            }
        }
    }

    private static let query = """
        select \(MinuteColumn.selectList)
          from postrider.throughput where minute > now() - interval '1 hour' order by minute
        """

    /// Reads the last hour.
    init(_ connection: borrowing PGConnection) throws(PGError) {
        let result = try connection.query(ThroughputChart.query)
        minutes = (0..<result.rowCount).map { row in
            Minute(
                age: Int(result.int32(row, MinuteColumn.age)), finished: result.int64(row, MinuteColumn.finished),
                failed: result.int64(row, MinuteColumn.failed), clock: result.text(row, MinuteColumn.clock),
                times: result.text(row, MinuteColumn.times))
        }
    }

    /// Adds the section. The title of a bar contains its numbers.
    func write(to html: inout HTML) {
        html.element("section") { html in
            html.element("h2", "Jobs ended per minute in the last hour")
            let most = minutes.map(\.finished).max() ?? 0
            guard most > 0 else {
                html.element("p", ["class": "empty"], "No job has ended within the last hour.")
                return
            }
            let finished = minutes.reduce(0) { $0 + $1.finished }, failed = minutes.reduce(0) { $0 + $1.failed }
            let label = "\(finished) jobs ended, \(failed) of them failed, expired or ended unknown"
            html.element(
                "svg", ["viewBox": "0 0 600 100", "preserveAspectRatio": "none", "role": "img", "aria-label": label]
            ) { html in
                for minute in minutes where (0..<60).contains(minute.age) { bar(minute, most: most, &html) }
            }
            // The current minute is not over, so the text shows the last whole one.
            if let last = minutes.last(where: { $0.age > 0 }) {
                html.element(
                    "p", ["class": "empty"], "At most \(most) per minute. At \(last.clock) UTC: \(words(for: last))")
            }
        }
    }

    private func bar(_ minute: Minute, most: Int64, _ html: inout HTML) {
        let x = "\((59 - minute.age) * 10 + 1)"
        // A minute with few jobs is visible, and some space is left at the top. The failed jobs cover the lower part.
        func height(_ jobs: Int64) -> Int { jobs == 0 ? 0 : max(1, Int(Double(jobs) / Double(most) * 92)) }
        for (kind, jobs) in [("ended", minute.finished), ("bad", minute.failed)] where jobs > 0 {
            html.element(
                "rect",
                ["class": kind, "x": x, "y": "\(100 - height(jobs))", "width": "8", "height": "\(height(jobs))"], "")
        }
        // A transparent bar of full height shows the title when the pointer is anywhere above the minute.
        html.element("rect", ["class": "minute", "x": x, "y": "0", "width": "8", "height": "100"]) { html in
            html.element("title", "\(minute.clock) UTC: \(words(for: minute))")
        }
    }

    private func words(for minute: Minute) -> String {
        let counts = "\(minute.finished) ended" + (minute.failed > 0 ? ", \(minute.failed) failed" : "")
        return minute.times.isEmpty ? counts : "\(counts); \(minute.times)"
    }
}
