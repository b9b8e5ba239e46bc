// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The jobs that the leader makes for due schedules. The test sets the times.
struct TickTests {
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

        func add(_ columns: String, _ values: String) throws {
            try queue.connection.execute(
                "insert into postrider.schedules (name, spec, \(columns)) values ('a', '{\"url\": \"http://h/\"}', \(values))"
            )
        }

        /// Runs the leader's search at a time, and returns how many jobs it made.
        @discardableResult
        func look(_ at: String, epoch: Int = 1) throws -> Int64 {
            try queue.number("select made from postrider_internal.run_schedules(1, \(epoch), null, 100, '\(at)')")
        }

        /// The ticks that made jobs.
        func ticks() throws -> [String] {
            try queue.rows(
                "select to_char(run_at, 'MM-DD HH24:MI:SS') from postrider.jobs where parent_id is null order by id"
            )
            .map { $0[0] ?? "" }
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-03-26 00:00Z"), ("Europe/Berlin", "2026-10-22 00:00Z"),
        ("America/New_York", "2026-03-05 00:00Z"),
        ("America/New_York", "2026-10-29 00:00Z"), ("Australia/Lord_Howe", "2026-04-02 00:00Z"),
        ("Africa/Casablanca", "2026-02-12 00:00Z"),
    ])
    func `over a week with a clock change, each schedule makes exactly its expected jobs`(
        zone: String, from: String
    ) throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, timezone, spec, next_run_at)
            select c, c, '\(zone)', '{"url": "http://h/"}', postrider.cron_next(c, '\(zone)', '\(from)')
              from unnest('{*/30 * * * *,15 2 * * *,45 1 * * *,0 0 * * *,30 2 * * 0}'::text[]) c;
            do $$
            begin
              for i in 0 .. 7 * 24 * 4 loop
                perform postrider_internal.run_schedules(1, 1, null, 100,
                                                         '\(from)'::timestamptz + i * interval '15 min'
                                                           + interval '3 s');
              end loop;
            end $$;
            create temp table instants as
              select t, t at time zone '\(zone)' as shown
                from generate_series('\(from)'::timestamptz, '\(from)'::timestamptz + interval '8 days', '1 min') t;
            create index on instants (shown, t);
            analyze instants;
            """)
        // All local times of the week that match the rule, each as the first instant that shows it.
        //
        // If no instant shows the time, the next one counts. If the hour is a star, each instant counts.
        let wrong = try fixture.queue.rows(
            """
            with locals as (
              select l from generate_series('\(from)'::timestamptz at time zone '\(zone)' + interval '1 s',
                                            '\(from)'::timestamptz at time zone '\(zone)' + interval '7 days'
                                              + interval '1 hour', '1 min') s (x)
               cross join lateral date_trunc('minute', s.x + interval '59 s') l),
            expected as (
              select c.cron, coalesce((select min(i.t) from instants i where i.shown = l.l),
                                      (select i.t from instants i where i.shown > l.l
                                       order by i.shown, i.t limit 1)) as t
                from locals l
               cross join (values ('15 2 * * *', '02:15$'), ('45 1 * * *', '01:45$'),
                                  ('0 0 * * *', '00:00$'), ('30 2 * * 0', '02:30$')) c (cron, pattern)
               where to_char(l.l, 'HH24:MI') ~ c.pattern and (c.cron not like '% 0' or extract(dow from l.l) = 0)),
            wanted as (
              select distinct cron, t from (
                select cron, t from expected
                 union all
                select '*/30 * * * *', i.t from instants i where to_char(i.shown, 'HH24:MI') ~ '(00|30)$') e
               where t > '\(from)' and t <= '\(from)'::timestamptz + interval '7 days'),
            made as (select tag as cron, run_at as t from postrider.jobs)
            (select 'not made', cron, t::text from wanted except all select 'not made', cron, t::text from made)
            union all
            (select 'made', cron, t::text from made except all select 'made', cron, t::text from wanted)
            """)
        #expect(wrong.isEmpty, "\(wrong)")
        #expect(try fixture.queue.number("select count(*) from postrider.jobs") > 330)
    }

    @Test func `a tick makes one job despite repeated searches, and only the leader makes jobs`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at", "'*/5 * * * *', '2025-11-22 10:05Z'")
        #expect(try fixture.look("2025-11-22 10:04:59Z") == 0)
        #expect(try fixture.look("2025-11-22 10:05:01Z", epoch: 2) == 0)
        #expect(try fixture.look("2025-11-22 10:05:01Z") == 1)
        #expect(try fixture.look("2025-11-22 10:05:01Z") == 0)
        #expect(try fixture.look("2025-11-22 10:09:59Z") == 0)
        #expect(try fixture.look("2025-11-22 10:10:00Z") == 1)
        #expect(try fixture.ticks() == ["11-22 10:05:00", "11-22 10:10:00"])
        let row = try fixture.queue.rows(
            """
            select to_char(next_run_at, 'HH24:MI'), to_char(last_run_at, 'HH24:MI'),
                   (last_job_id = (select max(id) from postrider.jobs))::text,
                   last_state, last_error, (select string_agg(distinct tag, ',') from postrider.jobs)
              from postrider.schedule_status
            """)
        #expect(row == [["10:15", "10:10", "true", "ready", nil, "a"]])
    }

    @Test(arguments: [
        ("none", 3, []), ("one", 3, ["11-22 10:00:00"]),
        ("all", 3, ["11-22 08:00:00", "11-22 09:00:00", "11-22 10:00:00"]),
        ("all", 1000, (0...10).map { "11-22 \($0 < 10 ? "0" : "")\($0):00:00" }),
    ])
    func `catch_up decides if missed ticks make no job, one job, or up to the limit`(
        policy: String, limit: Int, ticks: [String]
    ) throws {
        let fixture = try Fixture()
        try fixture.add(
            "cron, next_run_at, catch_up, catch_up_limit", "'@hourly', '2025-11-22 00:00Z', '\(policy)', \(limit)")
        try fixture.look("2025-11-22 10:30Z")
        #expect(try fixture.ticks() == ticks)
        #expect(try fixture.queue.text("select to_char(next_run_at, 'HH24:MI') from postrider.schedules") == "11:00")
        #expect(try fixture.look("2025-11-22 10:31Z") == 0)
    }

    @Test(arguments: ["none", "one", "all"])
    func `a tick of the last minute makes a job under each catch_up policy`(policy: String) throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, catch_up, catch_up_limit", "'@hourly', '2025-11-22 07:00Z', '\(policy)', 1")
        try fixture.look("2025-11-22 10:00:45Z")
        #expect(try fixture.ticks() == ["11-22 10:00:00"])
    }

    @Test func `a retry for an unknown timezone is not a tick, but a user's next_run_at is`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at", "'0,30 * * * *', '2025-11-22 10:00Z'")
        func zone(_ name: String) throws {
            try fixture.queue.connection.execute(
                """
                alter table postrider.schedules disable trigger schedules_check;
                update postrider.schedules set timezone = '\(name)'
                """)
        }
        func next() throws -> String? {
            try fixture.queue.text("select to_char(next_run_at, 'HH24:MI:SS') from postrider.schedules")
        }
        try zone("Europe/Nowhere")
        #expect(try fixture.look("2025-11-22 10:00:02Z") == 0)
        #expect(try next() == "11:00:02")
        #expect(
            try fixture.queue.text("select last_error from postrider.schedules")
                == "its ticks cannot be computed, checked again at 2025-11-22 11:00:02.000000 UTC: time zone \"Europe/Nowhere\" not recognized"
        )
        #expect(try fixture.look("2025-11-22 11:00:03Z") == 0)
        #expect(try next() == "12:00:03")
        try zone("UTC")
        #expect(try fixture.look("2025-11-22 12:00:04Z") == 1)
        #expect(try fixture.ticks() == ["11-22 12:00:00"])
        #expect(try next() == "12:30:00")
        // No tick lies between the last search and this one.
        try zone("Europe/Nowhere")
        try fixture.queue.connection.execute(
            "update postrider.schedules set cron = '0 0 * * *', next_run_at = '2025-11-22 13:00Z'")
        #expect(try fixture.look("2025-11-22 13:00:00Z") == 0)
        try zone("UTC")
        #expect(try fixture.look("2025-11-22 14:00:00Z") == 0)
        #expect(
            try fixture.queue.text("select to_char(next_run_at, 'MM-DD HH24:MI') from postrider.schedules")
                == "11-23 00:00")
        try zone("Europe/Nowhere")
        try fixture.queue.connection.execute("update postrider.schedules set next_run_at = '2025-11-22 15:00Z'")
        #expect(try fixture.look("2025-11-22 15:00:00Z") == 0)
        try fixture.queue.connection.execute("update postrider.schedules set next_run_at = '2025-11-22 15:17Z'")
        try zone("UTC")
        #expect(try fixture.look("2025-11-22 15:17:00Z") == 1)
        #expect(try fixture.ticks().last == "11-22 15:17:00")
    }

    @Test(arguments: [("none", 1), ("one", 1), ("all", 7)])
    func `of ticks each second without a worker, only the last counts as in time`(policy: String, count: Int) throws {
        let fixture = try Fixture()
        try fixture.add(
            "cron, next_run_at, catch_up, catch_up_limit", "'* * * * * *', '2025-11-22 10:00:00Z', '\(policy)', 7")
        try fixture.look("2025-11-22 10:00:20.5Z")
        #expect(try fixture.ticks() == (0..<count).map { "11-22 10:00:\(20 - count + 1 + $0)" })
    }

    @Test func `no tick is missed during the takeover from a dead leader`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at", "'* * * * * *', '2025-11-22 10:00:06Z'")
        // One worker died at :05. The other waits for the end of the dead worker's lease.
        try fixture.queue.connection.execute(
            """
            insert into postrider_internal.workers (name, version, concurrency, started_at, heartbeat_at)
            values ('dead', '0', 1, '2025-11-22 09:00Z', '2025-11-22 10:00:05Z'),
            ('next', '0', 1, '2025-11-22 09:00Z', '2025-11-22 10:00:16Z')
            """)
        try fixture.look("2025-11-22 10:00:16.2Z")
        #expect(try fixture.ticks().count == 11)
        // The worker has deregistered, so later ticks are missed.
        try fixture.queue.connection.execute("update postrider_internal.workers set ended_at = '2025-11-22 10:00:20Z'")
        try fixture.look("2025-11-22 10:00:40.2Z")
        #expect(try fixture.ticks().count == 11 + 4 + 1)
    }

    @Test(arguments: ["none", "one", "all"])
    func `ticks after the last worker stopped are missed, even if another worker died earlier`(policy: String) throws {
        let fixture = try Fixture()
        try fixture.add(
            "cron, next_run_at, catch_up, catch_up_limit", "'* * * * * *', '2025-11-22 10:00:19Z', '\(policy)', 4")
        try fixture.queue.connection.execute(
            """
            insert into postrider_internal.workers (name, version, concurrency, started_at, heartbeat_at, ended_at,
                                                    lost) values
              ('dead', '0', 1, '2025-11-22 09:00Z', '2025-11-22 10:00:05Z', '2025-11-22 10:00:16Z', true),
              ('next', '0', 1, '2025-11-22 09:00Z', '2025-11-22 10:00:20Z', '2025-11-22 10:00:20Z', false)
            """)
        try fixture.look("2025-11-22 10:00:28.2Z")
        let last = policy == "all" ? ["25", "26", "27", "28"] : ["28"]
        #expect(try fixture.ticks() == (["19", "20"] + last).map { "11-22 10:00:" + $0 })
    }

    @Test func `catch-up after a year of missed seconds makes only catch_up_limit jobs`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, catch_up, catch_up_limit", "'* * * * * *', '2024-11-22 10:00Z', 'all', 20")
        #expect(try fixture.look("2025-11-22 10:00Z") == 20)
        #expect(try fixture.ticks().first == "11-22 09:59:41")
    }

    @Test func `overlap skip makes no job while the job of an earlier tick is unfinished`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, overlap", "'* * * * *', '2025-11-22 10:00Z', 'skip'")
        #expect(try fixture.look("2025-11-22 10:00Z") == 1)
        #expect(try fixture.look("2025-11-22 10:01Z") == 0)
        #expect(try fixture.look("2025-11-22 10:02Z") == 0)
        #expect(try fixture.queue.number("select skipped from postrider.schedule_status") == 2)
        try fixture.queue.connection.execute("select postrider.cancel((select max(id) from postrider.jobs))")
        #expect(try fixture.look("2025-11-22 10:03Z") == 1)
        #expect(try fixture.ticks() == ["11-22 10:00:00", "11-22 10:03:00"])
    }

    @Test func `a schedule tags the root of its tree, and a tag in the spec stays`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, next_run_at, spec) values
              ('tree', '* * * * *', '2025-11-22 10:00Z',
               '{"kind": "chain", "chain": [{"url": "http://h/1"}, {"batch": [{"url": "http://h/2"}, {"url": "http://h/3"}]}]}'),
              ('own', '* * * * *', '2025-11-22 10:00Z', '{"url": "http://h/4", "tag": "mine"}')
            """)
        #expect(try fixture.look("2025-11-22 10:00Z") == 2)
        #expect(try fixture.look("2025-11-22 10:01Z") == 2)
        let jobs = try fixture.queue.rows(
            "select kind, tag, count(*)::text from postrider.jobs group by kind, tag order by kind, tag nulls last")
        #expect(
            jobs == [["batch", nil, "2"], ["chain", "tree", "2"], ["request", "mine", "2"], ["request", nil, "6"]])
    }

    @Test func `jitter delays each job by a random part of the jitter`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, next_run_at, jitter, catch_up", "'* * * * * *', '2025-11-22 10:00Z', '10 s', 'all'")
        try fixture.look("2025-11-22 10:01Z")
        let late = try fixture.queue.rows(
            """
            select count(distinct j.run_at - t.t)::text, bool_and(j.run_at - t.t between '0' and '10 s')::text,
                   max(j.run_at - t.t) > '3 s'
              from (select row_number() over (order by id) as n, run_at from postrider.jobs) j
              join (select row_number() over (order by t) as n, t
                      from generate_series('2025-11-22 10:00Z'::timestamptz, '2025-11-22 10:01Z', '1 s') t) t using (n)
            """)
        #expect(late.first?[1] == "true")
        #expect(Int(late.first?[0] ?? "") ?? 0 > 30)
    }

    @Test func `a schedule whose spec became invalid records the error, and other schedules still run`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('s', 'http://h/');
            insert into postrider.schedules (name, cron, next_run_at, spec) values
              ('1', '* * * * *', '2025-11-22 10:00Z', '{"url": "/", "service": "s"}'),
              ('2', '* * * * *', '2025-11-22 10:00Z', '{"batch": [{"url": "http://h/", "dedupe_key": "k", "on_duplicate": "skip"}]}'),
              ('3', '* * * * *', '2025-11-22 10:00Z', '{"url": "http://h/"}');
            insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'k');
            delete from postrider.services
            """)
        #expect(try fixture.look("2025-11-22 10:00Z") == 1)
        let rows = try fixture.queue.rows(
            "select name, last_error, skipped::text, to_char(next_run_at, 'HH24:MI') from postrider.schedule_status order by name"
        )
        #expect(rows.map { $0[3] } == ["10:01", "10:01", "10:01"])
        #expect(rows.map { $0[2] } == ["1", "1", "0"])
        #expect(rows[0][1]?.contains("there is no service 's'") == true)
        #expect(rows[1][1]?.contains("all members are left out") == true)
        #expect(rows[2][1] == nil)
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('s', 'http://h/')")
        #expect(try fixture.look("2025-11-22 10:01Z") == 2)
        #expect(try fixture.queue.text("select last_error from postrider.schedules where name = '1'") == nil)
    }

    @Test func `ticks that take over a second continue in later searches, and endless ticks are skipped`() throws {
        let fixture = try Fixture()
        // Each INSERT of a job takes 300 ms.
        try fixture.queue.connection.execute(
            """
            create function slow() returns trigger language plpgsql as $$
              begin perform pg_sleep(case when new.tag = 'endless' then 60 when new.tag = 'slow' then 0.3
                                     else 0 end); return new; end $$;
            create trigger slow before insert on postrider.jobs for each row execute function slow();
            insert into postrider.schedules (name, cron, next_run_at, spec, catch_up, catch_up_limit) values
              ('slow', '* * * * *', '2025-11-22 10:00Z', '{"url": "http://h/"}', 'all', 1000),
              ('endless', '* * * * *', '2025-11-22 10:59Z', '{"url": "http://h/"}', 'none', 1),
              ('other', '* * * * *', '2025-11-22 11:00Z', '{"url": "http://h/"}', 'none', 1);
            set statement_timeout = '6s'
            """)
        let look =
            "select more::text, made::text from postrider_internal.run_schedules(1, 1, null, 100, '2025-11-22 11:00Z')"
        var looks = 1
        while try fixture.queue.rows(look)[0][0] == "true", looks < 100 { looks += 1 }
        #expect((15...40).contains(looks), "\(looks)")
        #expect(
            try fixture.queue.rows(
                "select tag, count(*)::text from postrider.jobs group by 1 order by 1") == [
                    ["other", "1"], ["slow", "61"],
                ])
        #expect(
            try fixture.queue.text("select last_error from postrider.schedules where name = 'endless'")?.hasPrefix(
                "making its jobs took longer than the limit of 6 s") == true)
        #expect(try fixture.queue.number("select skipped from postrider.schedules where name = 'endless'") == 1)
    }

    @Test func `run_schedule makes a job even while the schedule is off and keeps next_run_at`() throws {
        let fixture = try Fixture()
        try fixture.add("cron, enabled", "'@yearly', false")
        let id = try fixture.queue.number("select postrider.run_schedule('a')")
        #expect(
            try fixture.queue.rows("select id::text, tag, state from postrider.job_status") == [
                ["\(id)", "a", "ready"]
            ])
        #expect(
            try fixture.queue.rows("select last_job_id::text, next_run_at::text from postrider.schedules") == [
                ["\(id)", nil]
            ])
        let error = try #require(throws: PGError.self) {
            _ = try fixture.queue.number("select postrider.run_schedule('b')")
        }
        #expect(error.sqlState?.rawValue == "PR003")
    }

    @Test func `a search for due schedules reads fewer than 10 rows among 20,000 schedules`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            set session_replication_role = replica;
            insert into postrider.schedules (name, cron, spec, next_run_at)
            select i, '@yearly', '{"url": "http://h/"}', now() + i * interval '1 h' from generate_series(1, 20000) i;
            set session_replication_role = origin;
            analyze postrider.schedules;
            insert into postrider.schedules (name, cron, spec, next_run_at) values ('a', '@yearly', '{"url": "http://h/"}', '2026-01-01Z')
            """)
        #expect(try fixture.queue.number("select made from postrider_internal.run_schedules(1, 1, null, 100)") == 0)
        let read =
            "select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint from pg_stat_xact_user_tables where relname = 'schedules'"
        try fixture.queue.connection.execute("begin; select postrider_internal.run_schedules(1, 1, null, 100)")
        #expect(try fixture.queue.number(read) < 10)
        try fixture.queue.connection.execute("commit")
    }
}
