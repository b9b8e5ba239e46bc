// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Schedules and real workers.
struct ScheduleJobTests {
    /// Every second between the first and the last tick with a job must have a job.
    private static let doubleOrLost = """
        select count(*) - count(distinct run_at), extract(epoch from max(run_at) - min(run_at))::int + 1 - count(*)
          from postrider.jobs where tag = 'second'
        """

    private static func add(
        _ queue: borrowing TestQueue, _ target: TargetServer, _ columns: String = "overlap",
        _ values: String = "'allow'"
    ) throws {
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec, \(columns))
            values ('second', '* * * * * *', jsonb_build_object('url', '\(target.url)/ok/tick'), \(values))
            """)
    }

    @Test func `a schedule inserted while workers run makes one job per tick, each called once`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = try (0..<3).map { _ in try RunningWorker(queue.database) }
        try queue.wait(until: "select exists (select from postrider.worker_status where leader)")
        try Self.add(queue, target)
        try queue.wait(
            40, until: "select count(*) >= 4 from postrider.job_status where tag = 'second' and state = 'succeeded'")
        try queue.connection.execute("update postrider.schedules set enabled = false")
        try queue.waitUntilDone()
        #expect(try queue.rows("select a::text, b::text from (\(Self.doubleOrLost)) x (a, b)") == [["0", "0"]])
        #expect(try queue.number("select count(*) from postrider.jobs") == target.requests.count)
        #expect(workers.count { $0.isRunning } == 3)
    }

    @Test func `after a leader is killed, each tick of a schedule makes exactly one job`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try Self.add(queue, target)
        var workers = try (0..<2).map { _ in try RunningWorker(queue.database) }
        for round in 1...Soak.count(15, reduced: 1) {
            try queue.wait(
                60,
                until:
                    "select exists (select from postrider.jobs where run_at > now() - interval '2 s') from postrider_internal.leases where until > now()"
            )
            let leader = try queue.text("select worker from postrider.worker_status where leader") ?? ""
            let index = try #require(workers.firstIndex { leader.hasSuffix(":\($0.pid)") }, "round \(round): \(leader)")
            #expect(workers[index].end(SIGKILL) == 128 + SIGKILL)
            workers[index] = try RunningWorker(queue.database)
            let made = try queue.number("select count(*) from postrider.jobs")
            try queue.wait(60, until: "select count(*) > \(made) from postrider.jobs")
        }
        try queue.connection.execute("update postrider.schedules set enabled = false")
        try queue.waitUntilDone(60)
        try queue.report(
            .ticks, attack: "SIGKILL of the leader", rounds: Soak.count(15, reduced: 1), calls: target.requests.count)
        #expect(try queue.rows("select a::text, b::text from (\(Self.doubleOrLost)) x (a, b)") == [["0", "0"]])
    }

    @Test func `hundreds of schedules due at once all make their jobs, including trees`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let count = Soak.count(1000, reduced: 250)
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec, next_run_at)
            select i, '@yearly', case when i % 50 = 0
                     then jsonb_build_object('chain', jsonb_build_array(jsonb_build_object('url', '\(target.url)/ok/a'), jsonb_build_object('url', '\(target.url)/ok/b')))
                     else jsonb_build_object('url', '\(target.url)/ok/' || i) end, now()
              from generate_series(1, \(count)) i
            """)
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try queue.wait(
            60, until: "select count(last_job_id) = \(count) and min(next_run_at) > now() from postrider.schedules")
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded \(count + count / 50 * 2)")
        #expect(
            try queue.number(
                "select count(*) from postrider.schedule_status where last_state = 'succeeded' and last_error is null")
                == count)
        #expect(worker.count(of: "statement_failed") == 0)
    }

    @Test func `overlap skip makes no second job until the first job has ended`() throws {
        let target = try TargetServer { request in request.turn == 1 ? [.hang] : TargetStep.answer(200) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try Self.add(queue, target, "overlap", "'skip'")
        try queue.wait(60, until: "select skipped >= 2 from postrider.schedule_status")
        #expect(try queue.number("select count(*) from postrider.jobs") == 1)
        try queue.connection.execute("select postrider.cancel(min(id)) from postrider.jobs")
        try queue.wait(60, until: "select exists (select from postrider.job_status where state = 'succeeded')")
        #expect(worker.isRunning)
    }

    @Test func `ticks without a running worker are made later or counted as missed, depending on catch_up`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let (cron, period, away) = Soak.isOn ? ("* * * * *", 60, 95) : ("*/2 * * * * *", 2, 7)
        for policy in ["none", "one", "all"] {
            try queue.connection.execute(
                """
                insert into postrider.schedules (name, cron, spec, catch_up)
                values ('\(policy)', '\(cron)', jsonb_build_object('url', '\(target.url)/ok/\(policy)'), '\(policy)')
                """)
        }
        let everyMade =
            "select count(*) = 3 from postrider.schedules where last_run_at > now() - interval '\(period) s'"
        let before = try RunningWorker(queue.database)
        try queue.wait(130, until: everyMade)
        // A period of 95 seconds that begins in the second half of a minute contains two ticks of a minute.
        try queue.wait(
            70, until: Soak.isOn ? "select extract(second from now()) between 30 and 50" : "select true")
        #expect(before.end(SIGTERM) == 0)
        // A busy machine may have missed ticks before now, and even before the first job, so the test counts from here.
        let counts = """
            select s.name, s.missed, s.last_missed_at, s.last_missed_reason, count(j.id) as made,
                   greatest(max(j.run_at), s.last_missed_at) as latest
              from postrider.schedule_status s left join postrider.jobs j on j.tag = s.name
             group by s.name, s.missed, s.last_missed_at, s.last_missed_reason
            """
        try queue.connection.execute("create temp table base as \(counts); select pg_sleep(\(away))")
        let after = try RunningWorker(queue.database)
        try queue.wait(130, until: everyMade)
        try queue.connection.execute("update postrider.schedules set enabled = false")
        let rows = try queue.rows(
            """
            select c.name, (c.missed > 0)::text, (c.last_missed_at is not null and c.last_missed_reason is not null)::text,
                   ((c.made - b.made + c.missed - b.missed) * \(period) - extract(epoch from c.latest - b.latest)::int)::text
              from (\(counts)) c join base b using (name) order by c.name
            """)
        #expect(
            rows == [
                ["all", "false", "false", "0"], ["none", "true", "true", "0"], ["one", "true", "true", "0"],
            ])
        #expect(after.isRunning)
    }
}
