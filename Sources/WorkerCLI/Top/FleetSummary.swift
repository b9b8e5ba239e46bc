// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The figures of the whole fleet in the first lines of `worker top`.
struct FleetSummary: Sendable, Equatable {
    /// The time of the database, like `12:34:56`.
    var clock = ""
    /// The workers by state, like `2 running, 1 silent`.
    var workers = ""
    /// Calls in flight as of the last heartbeats, and the most that these workers make.
    var calls: (inFlight: Int64, most: Int64) = (0, 0)
    var leader: String?
    /// Jobs by state: requests that could run now, calls, retries and planned jobs.
    var jobs: (ready: Int64, running: Int64, scheduled: Int64) = (0, 0, 0)
    /// Ended jobs a second, within the last minute.
    var rate = ""
    /// Figures of the newest minute with ended jobs, like `12:33 40 ended, 2 failed, wait p50 3.1 ms`.
    var minute: String?

    /// The lines, without colours.
    var lines: [String] {
        let counts = workers.isEmpty ? "none runs" : "\(workers), \(calls.inFlight) of \(calls.most) calls in flight"
        var lines = [
            "\(clock)  workers: \(counts)" + (leader.map { ", leader \($0)" } ?? ""),
            "jobs: \(jobs.ready) ready, \(jobs.running) running, \(jobs.scheduled) scheduled, \(rate) ended a second",
        ]
        if let minute { lines.append("last minute: \(minute)") }
        return lines
    }

    static func == (a: FleetSummary, b: FleetSummary) -> Bool { a.lines == b.lines }
}

extension FleetSummary {
    private enum WorkerColumn: Int, PGColumn {
        case clock, workers, inFlight, concurrency, leader

        var sql: StaticString {
            switch self {
            case .clock: "to_char(clock_timestamp(), 'HH24:MI:SS') as clock"
            case .workers:
                """
                (select coalesce(string_agg(n.workers || ' ' || n.state, ', ' order by n.state = 'silent', n.state), '')
                   from (select count(*) as workers, l.state from live l group by l.state) n) as workers
                """
            case .inFlight: "(select coalesce(sum(l.in_flight), 0)::bigint from live l) as in_flight"
            case .concurrency: "(select coalesce(sum(l.concurrency), 0)::bigint from live l) as concurrency"
            case .leader: "(select l.worker from live l where l.leader limit 1) as leader"
            }
        }
    }

    private enum JobColumn: Int, PGColumn {
        case ready, running, scheduled, rate, minute

        var sql: StaticString {
            switch self {
            case .ready: "coalesce(sum(q.ready), 0)::bigint as ready"
            case .running: "coalesce(sum(q.running), 0)::bigint as running"
            case .scheduled: "coalesce(sum(q.scheduled), 0)::bigint as scheduled"
            case .rate: "coalesce(sum(q.rate_per_second), 0)::text as rate"
            case .minute:
                """
                (select concat_ws(', ', to_char(t.minute, 'HH24:MI ') || t.finished || ' ended', t.failed || ' failed',
                          'wait p50 ' || round(t.wait_p50_ms, 1) || ' ms', 'p99 ' || round(t.wait_p99_ms, 1) || ' ms',
                          'call p50 ' || round(t.call_p50_ms, 1) || ' ms', 'p99 ' || round(t.call_p99_ms, 1) || ' ms')
                   from postrider.throughput t where t.minute >= now() - interval '2 min'
                  order by t.minute desc limit 1) as minute
                """
            }
        }
    }

    /// Reads the figures.
    static func read(_ connection: borrowing PGConnection) throws(PGError) -> FleetSummary {
        var summary = FleetSummary()
        let workers = try connection.query(
            """
            with live as materialized (select * from postrider.worker_status w where w.ended_at is null)
            select \(WorkerColumn.selectList)
            """)
        summary.clock = workers.text(0, WorkerColumn.clock)
        summary.workers = workers.text(0, WorkerColumn.workers)
        summary.calls = (workers.int64(0, WorkerColumn.inFlight), workers.int64(0, WorkerColumn.concurrency))
        summary.leader = workers.optionalText(0, WorkerColumn.leader).map { SanitizedText.escape($0) }
        let jobs = try connection.query("select \(JobColumn.selectList) from postrider.queue_status q")
        summary.jobs = (
            jobs.int64(0, JobColumn.ready), jobs.int64(0, JobColumn.running), jobs.int64(0, JobColumn.scheduled)
        )
        summary.rate = jobs.text(0, JobColumn.rate)
        summary.minute = jobs.optionalText(0, JobColumn.minute)
        return summary
    }
}
