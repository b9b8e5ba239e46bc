// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Lists of jobs by state. They show the rows of job_status without reading all jobs.
final class NewestJobsTests {
    private static let states = [
        "waiting", "scheduled", "ready", "running", "succeeded", "failed", "cancelled", "expired", "skipped", "unknown",
    ]
    private let queue: TestQueue
    private let worker: Int64
    private let epoch: Int64

    init() throws {
        queue = try TestQueue()
        worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        epoch = try queue.lead(worker)
    }

    /// Inserts jobs of all kinds and states in two queues.
    private func mix() throws {
        for name in ["default", "other"] {
            try queue.connection.execute(
                """
                insert into postrider.jobs (url, queue, run_at)
                select 'http://h' || i % 3 || '/', '\(name)', case when i % 5 = 0 then now() + interval '1 h'
                  else now() end
                from generate_series(1, 60) i;
                select postrider.submit('{"queue": "\(name)", "chain": [{"queue": "\(name)", "url": "http://h/1"}, {"batch": [{"queue": "\(name)", "url": "http://h/2"}, {"chain": [{"url": "http://h/3"}]}]}]}');
                select postrider.submit('{"queue": "\(name)", "run_at": "2100-01-01", "batch": [{"url": "http://h/2"}, {"url": "http://h/3"}]}');
                """)
        }
        while try queue.number("select more::int from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
            == 1
        {}
        try queue.connection.execute(
            """
            -- Some came back and stand behind all others.
            update postrider_internal.ready set seq = nextval('postrider.jobs_id_seq')
              where job_id % 7 = 0 and parent_id is null;
            -- Some run, some have ended, some end together with their callbacks.
            update postrider_internal.ready set worker = \(worker), fence = 1 where job_id % 4 = 0 and job_id % 3 = 0;
            with gone as (delete from postrider_internal.ready where job_id % 4 > 1 and parent_id is null returning *)
            insert into postrider_internal.results (job_id, attempt, state)
            select job_id, 1, (array['s', 'f', 'c', 'e', 'k', 'u'])[1 + job_id / 4 % 6]::"char" from gone;
            with gone as (delete from postrider_internal.ready where job_id % 4 = 1 and parent_id is null returning *)
            insert into postrider_internal.outcomes (job_id, attempt, state)
            select job_id, 1, (array['s', 'f', 'c', 'e', 'k', 'u'])[1 + job_id / 4 % 6]::"char" from gone;
            insert into postrider.jobs (url) select 'http://h/late' from generate_series(1, 9);
            insert into postrider.jobs (url) select 'http://h/large/' || i from generate_series(1, 12000) i;
            """)
        try queue.connection.execute(
            "insert into postrider.jobs (url, queue) select 'http://h/large/' || i, 'other' from generate_series(1, 20000) i"
        )
    }

    @Test func `newest_jobs lists the same jobs as job_status for each state, newest first`() throws {
        try mix()
        #expect(try queue.number("select count(distinct ids is null)::int from postrider_internal.intake") == 1)
        for state in Self.states {
            for name in ["null", "'default'", "'other'", "'none'"] {
                let found = try queue.rows("select id::text from postrider.newest_jobs('\(state)', \(name), 10000)")
                let expected = try queue.rows(
                    """
                    select s.id::text from postrider.job_status s
                      where state = '\(state)' and queue = coalesce(\(name), queue)
                    order by s.id desc limit 10000
                    """)
                #expect(found == expected, "\(state) of \(name)")
                #expect(
                    name == "'none'" || !found.isEmpty, "\(state) of \(name)")
                let few = try queue.rows("select id::text from postrider.newest_jobs('\(state)', \(name), 3)")
                #expect(few == Array(expected.prefix(3)), "three \(state) of \(name)")
            }
        }
    }

    @Test func `newest_jobs reads hardly more pages over 200,000 jobs than over 2,000`() throws {
        func measure() throws -> [Int] {
            try queue.connection.execute("vacuum analyze")
            return try Self.states.flatMap { state in
                try ["null", "'default'", "'other'"].map { name in
                    let list = "select * from postrider.newest_jobs('\(state)', \(name), 20)"
                    // The first query of each kind in a session also reads the catalogue.
                    _ = try queue.rows("select id::text from (\(list)) x")
                    let plan = try queue.text("explain (analyze, buffers, format json) \(list)") ?? ""
                    let place = try #require(plan.firstRange(of: "\"Shared Hit Blocks\": "))
                    return try #require(Int(plan[place.upperBound...].prefix { $0.isNumber }))
                }
            }
        }
        func fill(_ count: Int) throws {
            for run in ["now() + interval '1 h'", "now()"] {
                try queue.connection.execute(
                    """
                    insert into postrider.jobs (url, queue, run_at)
                    select 'http://h/', case when i % 10 = 0 then 'other' else 'default' end, \(run)
                      from generate_series(1, \(count)) i
                    """)
            }
            while try queue.number(
                "select more::int from postrider_internal.run_queue_duties(\(worker), \(epoch), null)") == 1
            {
            }
            // The oldest third has ended, all but twenty successfully. Ten jobs of each queue run.
            try queue.connection.execute(
                """
                with gone as (delete from postrider_internal.ready where worker = 0 and job_id % 3 = 0 returning *)
                insert into postrider_internal.results (job_id, attempt, state)
                select job_id, 1, case when row_number() over (order by job_id) <= 20 then 'f' else 's' end::"char" from gone;
                """)
        }
        try fill(1_000)
        try queue.connection.execute(
            "update postrider_internal.ready set worker = \(worker), fence = 1 where job_id in (select job_id from postrider_internal.ready order by job_id limit 10)"
        )
        let short = try measure()
        try fill(100_000)
        let long = try measure()
        for (place, cost) in long.enumerated() {
            // An index has two more levels for each of twenty rows. The front of a track holds ten thousand rows.
            let isFront = Self.states[place / 3] == "running"
            #expect(
                cost <= 2 * short[place] + (isFront ? 10_000 : 200),
                "\(Self.states[place / 3]): \(short[place]), \(cost)")
        }
    }

    @Test func `newest_jobs reads at most 1,000 rows for 20 jobs in 300 lanes`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) select 'q', 'l' || i, 0
              from generate_series(1, 300) i;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts)
            select i, i, 1 + i % 300, 5 from generate_series(1, 15000) i;
            analyze postrider_internal.ready, postrider_internal.tracks
            """)
        let read =
            "select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'postrider_internal.ready'::regclass"
        try queue.connection.execute("begin")
        let before = try queue.number(read)
        let newest = try queue.rows("select id::text from postrider.newest_jobs('ready', null, 20) id")
        let rows = try queue.number(read) - before
        try queue.connection.execute("commit")
        #expect(newest == (14_981...15_000).reversed().map { ["\($0)"] })
        // One row of each lane, and at most 20 rows of each of 20 lanes. The last 20 rows of all lanes are 6,000.
        #expect(rows <= 1000, "\(rows)")
    }

    @Test(arguments: [
        ("'done'", "state"), ("null", "state"), ("'ready', null, 0", "limit"), ("'ready', null, null", "limit"),
    ])
    func `newest_jobs refuses an invalid state or limit`(arguments: String, column: String) throws {
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("select * from postrider.newest_jobs(\(arguments))")
        }
        #expect(error?.sqlState == SQLState(rawValue: "PR001"))
        #expect(error?.message.hasPrefix("\(column): ") == true, "\(error?.message ?? "")")
    }
}
