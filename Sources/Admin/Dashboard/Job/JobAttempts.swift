// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The attempts of a job: where the time of each call went, and when each call was made.
struct JobAttempts: Sendable {
    /// One attempt with its phases, in seconds from the start of the call.
    struct Attempt: Equatable {
        var number: Int32
        /// Seconds from the job's creation to its start; a retry of an ended job keeps the same origin.
        var start: Double
        var clock: String
        /// Seconds from its start until its outcome was stored, or until now.
        var length: Double
        var dns: Double
        var connect: Double
        var tls: Double
        var firstByte: Double
        /// Nil: the call has not ended, or none was made.
        var total: Double?
        /// The phase of a running call.
        var phase: String?
        var outcome: String
        var isBad: Bool
    }

    /// The attempts in the picture, oldest first.
    private let attempts: [Attempt]
    private let rows: ViewTable.Rows

    /// The picture shows the latest attempts.
    private static let mostDrawn = 30

    private enum AttemptColumn: Int, PGColumn {
        case number, start, clock, length, dns, connect, tls, firstByte, total, phase, outcome, isBad

        var sql: StaticString {
            switch self {
            case .number: "a.attempt::int as number"
            case .start: "extract(epoch from a.started_at - s.created_at)::float8 as start"
            case .clock: "to_char(a.started_at, 'HH24:MI:SS') as clock"
            case .length:
                "greatest(extract(epoch from coalesce(a.finished_at, now()) - a.started_at), 0)::float8 as length"
            case .dns: "coalesce(a.dns_ms, 0)::float8 as dns"
            case .connect: "coalesce(a.connect_ms, 0)::float8 as connect"
            case .tls: "coalesce(a.tls_ms, 0)::float8 as tls"
            case .firstByte: "coalesce(a.first_byte_ms, 0)::float8 as first_byte"
            case .total: "coalesce(a.total_ms, -1)::float8 as total"
            case .phase: "a.phase"
            case .outcome:
                """
                concat_ws(' ', a.status_code, a.error_code, case when a.cache in ('hit', 'stale', 'revalidated')
                  then 'cache: ' || a.cache end, case when a.from_stub then 'stub' end) as outcome
                """
            case .isBad: "a.error_code is not null as is_bad"
            }
        }
    }

    /// Reads the attempts of a job.
    init(_ job: Int64, _ connection: borrowing PGConnection) throws(PGError) {
        var parameters = PGParameters()
        parameters.append(int64: job)
        let read = try connection.query(
            """
            select \(AttemptColumn.selectList)
              from postrider.attempts a cross join (select created_at from postrider.job_status where id = $1) s
             where a.job_id = $1 order by a.started_at desc, a.attempt desc limit \(JobAttempts.mostDrawn)
            """, &parameters)
        attempts = (0..<read.rowCount).reversed().map { row in
            let total = read.float8(row, AttemptColumn.total)
            return Attempt(
                number: read.int32(row, AttemptColumn.number), start: read.float8(row, AttemptColumn.start),
                clock: read.text(row, AttemptColumn.clock), length: read.float8(row, AttemptColumn.length),
                dns: read.float8(row, AttemptColumn.dns) / 1000,
                connect: read.float8(row, AttemptColumn.connect) / 1000,
                tls: read.float8(row, AttemptColumn.tls) / 1000,
                firstByte: read.float8(row, AttemptColumn.firstByte) / 1000, total: total < 0 ? nil : total / 1000,
                phase: read.optionalText(row, AttemptColumn.phase), outcome: read.text(row, AttemptColumn.outcome),
                isBad: read.bool(row, AttemptColumn.isBad))
        }
        var again = PGParameters()
        again.append(int64: job)
        rows = attempts.isEmpty ? [] : try JobAttempts.table.read(connection, again)
    }

    /// Adds the section; nothing without attempts.
    func write(to html: inout HTML) {
        guard !attempts.isEmpty else { return }
        html.element("section") { html in
            html.element("h2", "Attempts")
            let calls = attempts.map(JobAttempts.call)
            if calls.contains(where: { !$0.bars.isEmpty }) {
                html.element("h3", attempts.count == 1 ? "The call" : "Each call from its start")
                Timeline(rows: calls, title: "Phases of the call").write(to: &html)
            }
            if let life = JobAttempts.life(attempts) {
                html.element("h3", "From the insert to the last attempt")
                Timeline(rows: [life], title: "Time of the job").write(to: &html)
            }
            html.element("details") { html in
                html.element("summary", "The attempts as a table")
                JobAttempts.table.write(rows, to: &html)
            }
        }
    }

    /// The phases of one call as bars. A phase of a reused connection has no time and no bar.
    static func call(_ attempt: Attempt) -> Timeline.Row {
        var bars: [Timeline.Bar] = []
        var last = 0.0
        func add(_ kind: String, _ name: String, to end: Double) {
            guard end > last else { return }
            bars.append(Timeline.Bar(kind: kind, name: name, start: last, end: end))
            last = end
        }
        if let total = attempt.total {
            add("dns", "DNS", to: attempt.dns)
            add("connect", "connect", to: attempt.connect)
            add("tls", "TLS", to: attempt.tls)
            add("first-byte", "first byte", to: attempt.firstByte)
            // Without a first byte the rest of the time brought no answer.
            let isAnswered = attempt.firstByte > 0
            add(isAnswered ? "receive" : "lost", isAnswered ? "receive" : "no answer", to: total)
        } else if let phase = attempt.phase {
            add("running", "running: \(phase)", to: attempt.length)
        }
        return Timeline.Row(
            label: "\(attempt.number) · \(attempt.clock)",
            outcome: attempt.outcome.isEmpty ? nil : (attempt.outcome, attempt.isBad), bars: bars)
    }

    /// The time of the job: waits and attempts in turn. Nil if the attempts are not in order, as after a restore.
    static func life(_ attempts: [Attempt]) -> Timeline.Row? {
        var bars: [Timeline.Bar] = []
        var last = 0.0
        for attempt in attempts {
            guard attempt.start >= last - 0.001 else { return nil }
            if attempt.start > last {
                let name = bars.isEmpty ? "waits to begin" : "waits for a retry"
                bars.append(
                    Timeline.Bar(kind: bars.isEmpty ? "wait" : "backoff", name: name, start: last, end: attempt.start))
            }
            let name = attempt.isBad ? "failed attempt" : attempt.total == nil ? "running" : "attempt"
            last = attempt.start + attempt.length
            bars.append(
                Timeline.Bar(
                    kind: attempt.isBad ? "bad" : attempt.total == nil ? "running" : "ended", name: name,
                    start: attempt.start, end: last))
        }
        return Timeline.Row(label: attempts.count == 1 ? "1 attempt" : "\(attempts.count) attempts", bars: bars)
    }

    private static let table = ViewTable(
        title: "",
        columns: [
            Column("attempt", .number, "attempt"), Column("started", .moment, "started_at"),
            Column("phase", .word, "phase"), Column("deadline", .moment, "deadline"),
            Column("status", .number, "status_code"), Column("error_code", .word, "error_code"),
            Column("rule", .text, "rule"), Column("error", .text, "error"),
            Column("cache", .text, "case when from_stub then 'stub' else cache end"),
            Column("DNS ms", .number, "nullif(dns_ms, 0)"), Column("connected ms", .number, "nullif(connect_ms, 0)"),
            Column("TLS ms", .number, "nullif(tls_ms, 0)"),
            Column("first byte ms", .number, "nullif(first_byte_ms, 0)"), Column("total ms", .number, "total_ms"),
            Column("address", .code, "remote_ip"), Column("HTTP", .text, "http_version"),
            Column("connection", .text, "case when reused then 'kept' else 'opened' end"),
            Column("server", .code, "server"), Column("sent", .size, "bytes_sent"),
            Column("received", .size, "bytes_received"), Column("worker", .text, "worker"),
        ],
        source: "from postrider.attempts where job_id = $1 order by started_at desc, attempt desc", limit: 200)
}
