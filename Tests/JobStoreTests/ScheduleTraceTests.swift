// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The counts and times that schedules keep of ticks without a job. The test sets the times.
struct ScheduleTraceTests {
    /// A database in which worker 1 leads for a day, without other workers.
    private struct Fixture: ~Copyable {
        let queue: TestQueue

        init() throws {
            let queue = try TestQueue()
            try queue.connection.execute(
                """
                set timezone = 'UTC';
                update postrider_internal.leases set owner = 1, epoch = 1, until = now() + interval '1 day'
                  where name = 'leader'
                """)
            self.queue = queue
        }

        func add(_ columns: String, _ values: String, spec: String = "{\"url\": \"http://h/\"}") throws {
            try queue.connection.execute(
                "insert into postrider.schedules (name, spec, \(columns)) values ('a', '\(spec)', \(values))")
        }

        /// Runs the leader's search at a time, and returns how many jobs it made.
        @discardableResult
        func look(_ at: String) throws -> Int64 {
            try queue.number("select made from postrider_internal.run_schedules(1, 1, null, 100, '\(at)')")
        }

        /// missed, skipped, last_missed_at, last_missed_reason.
        func trace() throws -> [String?] {
            try queue.rows(
                """
                select missed::text, skipped::text, to_char(last_missed_at, 'HH24:MI:SS'), last_missed_reason
                  from postrider.schedule_status
                """)[0]
        }
    }

    @Test(
        arguments: [
            ("none", ["10:02:00"], "1", "10:01:00", "no worker made its job in time; catch_up is none"),
            ("one", ["10:02:00"], "1", "10:01:00", "no worker made its job in time; catch_up is one"),
            ("all", ["10:01:00", "10:02:00"], "0", nil, nil),
        ] as [(String, [String], String, String?, String?)])
    func `after 95 seconds without a worker, each missed tick makes a job or is counted`(
        policy: String, ticks: [String], missed: String, last: String?, reason: String?
    ) throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider_internal.workers (name, version, concurrency, started_at, heartbeat_at,
                                                    ended_at) values
              ('before', '0', 1, '2025-11-22 09:00Z', '2025-11-22 10:00:30Z', '2025-11-22 10:00:30Z'),
              ('after', '0', 1, '2025-11-22 10:02:05Z', '2025-11-22 10:02:05Z', null)
            """)
        try fixture.add("cron, next_run_at, catch_up", "'* * * * *', '2025-11-22 10:01Z', '\(policy)'")
        try fixture.look("2025-11-22 10:02:05.2Z")
        #expect(
            try fixture.queue.rows("select to_char(run_at, 'HH24:MI:SS') from postrider.jobs order by id").map { $0[0] }
                == ticks)
        #expect(try fixture.trace() == [missed, "0", last, reason])
        // The next tick in time changes nothing.
        #expect(try fixture.look("2025-11-22 10:03Z") == 1)
        #expect(try fixture.trace() == [missed, "0", last, reason])
    }

    @Test(arguments: [
        ("'@hourly', '2025-11-22 00:00Z', 'none', 100, 'allow'", "11", "10:00:00"),
        ("'@hourly', '2025-11-22 00:00Z', 'one', 100, 'allow'", "10", "09:00:00"),
        ("'@hourly', '2025-11-22 00:00Z', 'all', 3, 'allow'", "8", "07:00:00"),
        ("'@hourly', '2025-11-22 00:00Z', 'all', 11, 'allow'", "0", nil),
        ("'@hourly', '2025-11-22 00:00Z', 'all', 3, 'skip'", "10", "09:00:00"),
        ("'* * * * *', '2025-11-20 10:30Z', 'none', 100, 'allow'", "2880", "10:29:00"),
        ("'* * * * * *', '2024-11-22 10:30Z', 'all', 20, 'allow'", "\(365 * 86400 + 1 - 20)", "10:29:40"),
        // A time set by a user, which is not a tick of the cron rule.
        ("'@hourly', '2025-11-22 08:15Z', 'none', 100, 'allow'", "3", "10:00:00"),
    ])
    func `a schedule counts all missed ticks, even a year of seconds`(values: String, missed: String, last: String?)
        throws
    {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, catch_up, catch_up_limit, overlap", values)
        try fixture.look("2025-11-22 10:30Z")
        let trace = try fixture.trace()
        #expect(trace[0] == missed)
        #expect(trace[2] == last)
        #expect((trace[3] == nil) == (last == nil))
    }

    @Test func `missed ticks are counted correctly over a clock change`() throws {
        let fixture = try Fixture()
        // Hours 0 to 9 of a day with 25 hours.
        try fixture.add(
            "cron, timezone, next_run_at, catch_up", "'0 * * * *', 'Europe/Berlin', '2025-10-25 22:00Z', 'none'")
        try fixture.look("2025-10-26 08:30Z")
        #expect(try fixture.trace()[0] == "11")
    }

    @Test func `ticks left for the next search are counted as missed only once`() throws {
        let fixture = try Fixture()
        // Each INSERT of a job takes 300 ms. A search ends after a second.
        try fixture.queue.connection.execute(
            """
            create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return new; end $$;
            create trigger slow before insert on postrider.jobs for each row execute function slow()
            """)
        try fixture.add("cron, next_run_at, catch_up, catch_up_limit", "'* * * * *', '2025-11-22 10:00Z', 'all', 12")
        let look = "select more::text from postrider_internal.run_schedules(1, 1, null, 100, '2025-11-22 11:00Z')"
        var looks = 1
        while try fixture.queue.rows(look)[0][0] == "true", looks < 20 { looks += 1 }
        #expect(looks > 2)
        #expect(try fixture.queue.number("select count(*) from postrider.jobs") == 12)
        #expect(try fixture.trace() == ["49", "0", "10:48:00", "no worker made its job in time; catch_up_limit is 12"])
    }

    @Test func `a skipped tick records its time and reason`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, overlap", "'* * * * *', '2025-11-22 10:00Z', 'skip'")
        try fixture.look("2025-11-22 10:00Z")
        #expect(try fixture.trace() == ["0", "0", nil, nil])
        let id = try fixture.queue.number("select max(id) from postrider.jobs")
        try fixture.look("2025-11-22 10:01Z")
        #expect(try fixture.trace() == ["0", "1", "10:01:00", "job \(id) had not ended, and overlap is skip"])
        #expect(try fixture.queue.text("select last_error from postrider.schedule_status") == nil)
    }

    @Test func `a tick skipped for its dedupe_key or an invalid spec records the reason`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('s', 'http://h/');
            insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'k')
            """)
        try fixture.add(
            "cron, next_run_at", "'* * * * *', '2025-11-22 10:00Z'",
            spec: #"{"url": "/", "service": "s", "dedupe_key": "k", "on_duplicate": "skip"}"#)
        try fixture.look("2025-11-22 10:00Z")
        #expect(try fixture.trace() == ["0", "1", "10:00:00", "an unfinished job has its dedupe_key"])
        try fixture.queue.connection.execute("delete from postrider.services")
        try fixture.look("2025-11-22 10:01Z")
        let trace = try fixture.trace()
        #expect(trace[1] == "2" && trace[2] == "10:01:00")
        #expect(trace[3]?.contains("there is no service 's'") == true, "\(trace)")
    }

    @Test func `a schedule whose cron became invalid records the error, and other schedules still run`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            set statement_timeout = '6s';
            insert into postrider.schedules (name, cron, spec, next_run_at) values
              ('a', '* * * * *', '{"url": "http://h/"}', '2025-11-22 10:00Z'), ('b', '* * * * *', '{"url": "http://h/"}', '2025-11-22 10:00Z');
            alter table postrider.schedules disable trigger schedules_check;
            update postrider.schedules set cron = '*/90 * * * *' where name = 'a';
            alter table postrider.schedules enable trigger schedules_check
            """)
        #expect(try fixture.look("2025-11-22 10:00Z") == 1)
        let row = try fixture.queue.rows(
            """
            select skipped::text, to_char(next_run_at, 'HH24:MI'), to_char(last_missed_at, 'HH24:MI'),
                   last_missed_reason, last_error
              from postrider.schedule_status where name = 'a'
            """)[0]
        let reason = "cron: minute: the step of */90 is longer than the field, which has 60 values"
        #expect(row[0...3] == ["1", "11:00", "10:00", reason])
        #expect(row[4]?.hasSuffix(reason) == true)
    }

    @Test func `run_schedule with overlap skip returns null while an earlier job is unfinished`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, overlap", "'@yearly', 'skip'")
        let run = "select postrider.run_schedule('a')::text"
        let first = try #require(try fixture.queue.text(run))
        #expect(try fixture.queue.text(run) == nil)
        #expect(
            try fixture.queue.rows("select count(*)::text, max(id)::text from postrider.jobs") == [["1", first]])
        try fixture.queue.connection.execute("select postrider.cancel(\(first))")
        let second = try #require(try fixture.queue.text(run))
        // It also holds within one transaction.
        try fixture.queue.connection.execute("select postrider.cancel(\(second)); begin")
        #expect(try fixture.queue.text(run) != nil)
        #expect(try fixture.queue.text(run) == nil)
        try fixture.queue.connection.execute("commit")
        // An earlier tick counts too, and so does a tree.
        try fixture.queue.connection.execute(
            """
            select postrider.cancel(last_job_id) from postrider.schedules;
            update postrider.schedules set cron = '* * * * *', next_run_at = '2025-11-22 10:00Z',
              spec = '{"chain": [{"url": "http://h/1"}, {"url": "http://h/2"}]}'
            """)
        #expect(try fixture.look("2025-11-22 10:00Z") == 1)
        #expect(try fixture.queue.text(run) == nil)
        #expect(try fixture.queue.number("select skipped from postrider.schedules") == 0)
        try fixture.queue.connection.execute("update postrider.schedules set overlap = 'allow'")
        #expect(try fixture.queue.text(run) != nil)
    }
}
