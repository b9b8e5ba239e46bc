// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The view of the work done in each minute.
struct ThroughputTests {
    /// The sum of all minutes, because a test may begin in one minute and end in the next.
    ///
    /// No wait or call may be longer than in the attempts.
    private static let whole = """
        select sum(t.finished)::text, sum(t.failed)::text, (max(t.wait_p99_ms) <= 1.1 * min(a.wait))::text,
          (max(t.call_p50_ms) between 250 and 1.1 * min(a.call))::text, (min(t.wait_p50_ms) <= max(t.wait_p99_ms))::text
        from postrider.throughput t cross join (
          select max(extract(epoch from a.started_at - j.created_at)) * 1000 as wait, max(a.total_ms) as call
            from postrider.attempts a join postrider.jobs j on j.id = a.job_id) a
        """
    /// The number of jobs that the waits are measured for.
    private static let waits = "select sum(jobs)::bigint from postrider_internal.timings where kind = 'w'"

    @Test func `throughput counts ended jobs and shows their waits and call times`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64)
        defer { worker.kill() }
        try queue.insert(40, "url", "'\(target.url)/wait/300/' || i")
        try queue.insert(2, "url", "'\(target.url)/status/404/' || i")
        let waiting = try queue.insert("url, run_at", "'\(target.url)/ok', now() + interval '1 h'")
        _ = try queue.number("select postrider.cancel(\(waiting))::int")
        try queue.waitUntilDone()
        try queue.wait(until: "select count(*) > 0 from postrider_internal.timings")
        try queue.wait(until: "select count(*) = 0 from postrider_internal.job_deltas")
        #expect(try queue.rows(Self.whole) == [["43", "2", "true", "true", "true"]])
        #expect(try queue.number(Self.waits) == 42)
        // The wait of a retry is not measured, and a retried job counts once.
        let again = try queue.insert("url, backoff", "'\(target.url)/status/503,200/again', '{2 s}'")
        try queue.wait(for: again, toBe: "succeeded")
        try queue.wait(until: "select sum(finished) = 44 from postrider.throughput")
        #expect(try queue.number(Self.waits) == 42)
    }

    @Test func `retry keeps a job in throughput but removes it from the failed count of queue_status`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let ids = try (1...4).map { try queue.insert("url, max_attempts", "'\(target.url)/status/404/\($0)', 1") }
        try queue.waitUntilDone()
        try queue.wait(until: "select count(*) = 0 from postrider_internal.job_deltas")
        try queue.connection.execute("select postrider.pause_queue('default')")
        try queue.connection.execute("select postrider.retry(\(ids[0]))")
        #expect(try queue.number("select postrider.retry_failed()") == 3)
        let seen = "select sum(finished)::text, sum(failed)::text from postrider.throughput"
        let standing = "select failed::text, (rate_per_second > 0)::text from postrider.queue_status"
        for isFolded in [false, true] {
            if isFolded { try queue.wait(until: "select count(*) = 0 from postrider_internal.job_deltas") }
            #expect(try queue.rows(seen) == [["4", "4"]])
            #expect(try queue.rows(standing) == [["0", "true"]])
        }
    }

    @Test func `throughput percentiles are within 10 % of the true values`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.job_totals (minute, queue, state, jobs) values (date_trunc('minute', now()),
                'default', 's', 1000);
            insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 1000);
            delete from postrider_internal.ready;
            insert into postrider_internal.results (job_id, attempt, state, started_at, total_us)
            select id, 1, 's', created_at + id * interval '10 ms', id * 1000 from postrider.jobs;
            select postrider_internal.fold_timings(array_agg(date_trunc('minute', now())), array_agg(id), array_agg(1))
              from postrider.jobs;
            """)
        let shown = try queue.rows(
            """
            select wait_p50_ms::text, wait_p95_ms::text, wait_p99_ms::text, call_p50_ms::text, call_p95_ms::text,
                   call_p99_ms::text
            from postrider.throughput
            """)
        let expected = [5000.0, 9500, 9900, 500, 950, 990]
        for (column, value) in expected.enumerated() {
            let figure = try #require(shown.first?[column].flatMap(Double.init))
            #expect(abs(figure / value - 1) < 0.1, "\(figure) for \(value)")
        }
    }

    @Test func `throughput and attempts show a call of two hours with its full length`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        try queue.connection.execute(
            """
            delete from postrider_internal.ready;
            insert into postrider_internal.results (job_id, fence, attempt, state, started_at, finished_at,
                                                    first_byte_us, total_us)
            values (\(id), 1, 1, 's', now() - interval '2 h', now(), 1500, \(Int32.max));
            select postrider_internal.fold_timings(array[date_trunc('minute', now())], array[\(id)], array[1]);
            insert into postrider_internal.job_totals (minute, queue, state, jobs) values (date_trunc('minute', now()),
                'default', 's', 1);
            """)
        #expect(
            try queue.rows("select first_byte_ms::text, total_ms::text from postrider.attempts")
                == [["1.500", "7200000.000"]])
        #expect(
            try queue.text(
                "select (call_p50_ms between 0.9 * 7200000 and 1.1 * 7200000)::text from postrider.throughput")
                == "true")
    }

    @Test func `throughput keeps an hour of minutes and reads fewer than 1,000 buffers`() throws {
        let queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        let epoch = try queue.lead(worker)
        // 40 octaves of two kinds for more than an hour, which is the highest possible number.
        try queue.connection.execute(
            """
            insert into postrider_internal.timings (minute, kind, bucket, jobs)
            select date_trunc('minute', now()) - m * interval '1 min', k::"char", b, 100
              from generate_series(0, 90) m, unnest(array['w', 'c']) k, generate_series(0, 159) b;
            insert into postrider_internal.job_totals (minute, queue, state, jobs)
            select date_trunc('minute', now()) - m * interval '1 min', q::text, 's', 100
              from generate_series(0, 59) m, generate_series(1, 20) q
            """)
        _ = try queue.text("select postrider_internal.fold(\(worker), \(epoch), 0, 10000)::text")
        #expect(try queue.number("select count(distinct minute) from postrider_internal.timings") <= 61)
        #expect(
            try queue.number("select count(*) from postrider.throughput where finished = 2000 and wait_p50_ms > 0")
                >= 58)
        try queue.connection.execute("analyze postrider_internal.timings; analyze postrider_internal.job_totals")
        let plan = try queue.text("explain (analyze, buffers, format json) select * from postrider.throughput") ?? ""
        let place = try #require(plan.firstRange(of: "\"Shared Hit Blocks\": "))
        let touched = try #require(Int(plan[place.upperBound...].prefix { $0.isNumber }))
        #expect(touched < 1000, "\(touched) buffers")
    }
}
