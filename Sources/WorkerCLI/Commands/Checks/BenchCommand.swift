// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient

/// `worker bench`: inserts jobs into a separate queue, runs them, and prints one table.
enum BenchCommand {
    static let spec = CommandSpec(
        name: "bench", group: .checks,
        summary: "measure how fast this machine drains jobs",
        example: "bench --jobs 20000 --concurrency 64",
        flags: [
            Database.flag,
            Flag(
                name: "jobs", kind: .whole(1...1_000_000), placeholder: "N", example: "20000", isCommandLineOnly: true,
                fallback: "20000",
                meaning: "number of jobs"),
            Flag(
                name: "concurrency", kind: .whole(1...10_000), placeholder: "N", example: "64", isCommandLineOnly: true,
                fallback: "64",
                meaning: "calls in flight"),
            Flag(
                name: "url", kind: .text, placeholder: "URL", example: "http://127.0.0.1:8080/",
                isCommandLineOnly: true, fallback: "an nginx that it starts", meaning: "the URL to call"),
            Flag(
                name: "prepare", kind: .choice(["on", "off"]), placeholder: "on|off", example: "off", fallback: "on",
                meaning: "prepared statements; off behind PgBouncer in transaction mode"),
        ],
        details: [
            "It inserts jobs, makes their calls and prints one table. The jobs stay in the database.",
            "Stop other workers that take every queue first.",
        ],
        run: { (arguments) throws(CommandError) in
            if let url = arguments.text("url") { return try measure(arguments, url: url) }
            let target = try BenchTarget.start()
            return try measure(arguments, url: target.url)
        })

    private enum RangeColumn: Int, PGColumn {
        case first, last

        var sql: StaticString {
            switch self {
            case .first: "min(id) as first"
            case .last: "max(id) as last"
            }
        }
    }

    /// Inserts the jobs, runs a worker until they have ended, and prints the table.
    private static func measure(_ arguments: Arguments, url: String) throws(CommandError) -> ExitCode {
        var configuration = try RunConfiguration(arguments)
        configuration.concurrency = arguments.whole("concurrency", default: 64)
        configuration.allowsPrivate = true
        let jobs = arguments.whole("jobs", default: 20_000)
        let queue = "bench_\(getpid())"
        configuration.queues = [queue]
        let connection = try Database.connect(arguments)
        try Database.checkRights(connection)
        try Database.check(connection)
        // The watching thread must not receive the signal that is meant for the loop. The signals stay blocked after
        // the source has been released.
        _ = try EndSignals.take()
        let clock = ContinuousClock()
        var ids: ClosedRange<Int64> = 0...0
        let inserted = try timed(clock) { () throws(PGError) in
            var parameters = PGParameters()
            parameters.append(text: url)
            parameters.append(text: queue)
            parameters.append(int32: Int32(jobs))
            let range = try connection.query(
                """
                with made as (
                  insert into postrider.jobs (url, queue, tag) select $1, $2, $2 from generate_series(1, $3)
                    returning id)
                select \(RangeColumn.selectList) from made
                """, &parameters)
            ids = range.int64(0, RangeColumn.first)...range.int64(0, RangeColumn.last)
        }
        watch(configuration.database, ids: ids, jobs: Int64(jobs))
        let before = cpuSeconds()
        let exit = try RunCommand.serve(configuration)
        let cpu = cpuSeconds() - before
        do throws(PGError) {
            // After an early stop some jobs have not ended.
            try connection.execute("select postrider.cancel_all(queue => '\(queue)')")
            let rows = try report(connection, queue: queue, jobs: jobs, inserted: inserted, cpu: cpu)
            Terminal.write(TextTable.format(["MEASURE", "VALUE"], rows))
        } catch {
            throw Database.failure(error)
        }
        return exit
    }

    /// Ends the loop by a signal once each job has its result, or if the database cannot be read.
    ///
    /// It counts rows in the table of results, which is cheap enough not to disturb the measurement. An empty queue
    /// does not prove the end, because a large insert is fed to the queue in steps.
    private static func watch(_ database: String, ids: ClosedRange<Int64>, jobs: Int64) {
        Task.detached {
            defer { kill(getpid(), SIGTERM) }
            let connection = try PGConnection(database)
            let finished = """
                select count(*) as value from postrider_internal.results
                  where job_id between \(ids.lowerBound) and \(ids.upperBound)
                """
            while try connection.query(finished).int64(0, PGValueColumn.value) < jobs { usleep(200_000) }
        }
    }

    private enum OutcomeColumn: Int, PGColumn {
        case succeeded, other, seconds

        var sql: StaticString {
            switch self {
            case .succeeded: "count(*) filter (where state = 'succeeded') as succeeded"
            case .other: "count(*) filter (where state <> 'succeeded') as other"
            case .seconds: "coalesce(extract(epoch from max(finished_at) - min(started_at)), 0)::float8 as seconds"
            }
        }
    }

    private enum CallColumn: Int, PGColumn {
        case median, p99

        var sql: StaticString {
            switch self {
            case .median:
                """
                coalesce(percentile_cont(0.5) within group (order by a.total_ms::float8), 0)::float8 as median
                """
            case .p99:
                """
                coalesce(percentile_cont(0.99) within group (order by a.total_ms::float8), 0)::float8 as p99
                """
            }
        }
    }

    /// The rows of the printed table.
    private static func report(
        _ connection: borrowing PGConnection, queue: String, jobs: Int, inserted: Duration, cpu: Double
    ) throws(PGError) -> [[String]] {
        let figures = try connection.query(
            """
            with done as (
              select r.state, r.created_at, r.started_at, r.finished_at from postrider.job_status r
                where r.tag = '\(queue)')
            select \(OutcomeColumn.selectList) from done
            """)
        let calls = try connection.query(
            """
            select \(CallColumn.selectList) from postrider.attempts a
            where a.job_id in (select id from postrider.jobs where tag = '\(queue)')
            """)
        let succeeded = figures.int64(0, OutcomeColumn.succeeded)
        let seconds = figures.float8(0, OutcomeColumn.seconds)
        let insertSeconds = inserted / .seconds(1)
        return [
            ["jobs succeeded", "\(succeeded)"],
            ["jobs that ended otherwise", "\(figures.int64(0, OutcomeColumn.other))"],
            ["inserted a second", rounded(Double(jobs) / max(insertSeconds, 0.000_001), 0)],
            ["drained a second", seconds > 0 ? rounded(Double(succeeded) / seconds, 0) : "-"],
            ["seconds to drain", rounded(seconds, 3)],
            ["worker CPU µs a job", succeeded > 0 ? rounded(cpu * 1_000_000 / Double(succeeded), 1) : "-"],
            ["call ms, half are below", rounded(calls.float8(0, CallColumn.median), 3)],
            ["call ms, 99 % are below", rounded(calls.float8(0, CallColumn.p99), 3)],
        ]
    }

    /// The time that the work takes.
    private static func timed(
        _ clock: ContinuousClock, _ work: () throws(PGError) -> Void
    ) throws(CommandError) -> Duration {
        let start = clock.now
        do throws(PGError) {
            try work()
        } catch {
            throw Database.failure(error)
        }
        return clock.now - start
    }

    /// The user and system time of this process. C: `getrusage`.
    private static func cpuSeconds() -> Double {
        var usage = rusage()
        unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }

    /// The number with so many decimals.
    private static func rounded(_ value: Double, _ digits: Int) -> String {
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((value * scale).rounded())
        guard digits > 0 else { return "\(scaled)" }
        let fraction = String(scaled % Int(scale))
        return "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}
