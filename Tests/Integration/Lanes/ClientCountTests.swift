// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The leader's counts for `client_limits`.
struct ClientCountTests {
    private let client = TestRole.client.name

    @Test func `a client at its limit inserts again within 2 s after its jobs have ended`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.client_limits (role, max_unfinished) values ('\(client)', 20)")
        let session = try TestRole.client.connect(queue)
        let worker = try RunningWorker(queue.database, concurrency: 20)
        defer { worker.kill() }
        let twenty = "insert into postrider.jobs (url) select '\(target.url)/held/' || i from generate_series(1, 20) i"
        try session.execute(twenty)
        try TestClock.wait(20, for: "the calls") { target.underWay == 20 }
        try queue.wait(
            until: "select coalesce((select unfinished from postrider.client_status where role = '\(client)'), 0) = 20")
        #expect(TestRole.refusal(of: twenty, session) == "PR015")
        target.release()
        try queue.waitUntilDone()
        let ended = TestClock.now
        try TestClock.wait(20, for: "an INSERT") { TestRole.refusal(of: twenty, session) == nil }
        #expect(TestClock.now - ended <= Soak.nanoseconds(2))
    }

    @Test func `a failed client count appears in client_status, stops no other count and recovers by a recount`() throws
    {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.client_limits (role, max_unfinished) values ('\(client)', 20);
            alter function postrider_internal.fold_clients(bigint[]) rename to fold_clients_kept;
            create function postrider_internal.fold_clients(bigint[]) returns void language plpgsql as $$begin raise exception 'broken'; end$$
            """)
        let session = try TestRole.client.connect(queue)
        let worker = try RunningWorker(queue.database)
        try session.execute("insert into postrider.jobs (url) values ('\(target.url)/ok'), ('\(target.url)/held')")
        try queue.wait(until: "select succeeded = 1 from postrider.queue_status where queue = 'default'")
        let error = "select count(*) from postrider.client_status where role = '\(client)' and count_error = 'broken'"
        try queue.wait(until: "select (\(error)) = 1")
        #expect(try session.query(error).int64(0, 0) == 0, "a client sees its row without the error")
        #expect(try session.query("select count(*) from postrider.client_status").int64(0, 0) == 1)
        #expect(try TestRole.reader.connect(queue).query(error).int64(0, 0) == 1)
        // Moves the failure back, as if 10 s had passed.
        let retry = "update postrider_internal.client_counting set failed_at = failed_at - interval '10 s'"
        try queue.connection.execute(
            """
            drop function postrider_internal.fold_clients(bigint[]);
            alter function postrider_internal.fold_clients_kept(bigint[]) rename to fold_clients;
            \(retry)
            """)
        try queue.wait(
            until: """
                select is_counted and unfinished = 1 and count_error is null
                  from postrider.client_status where role = '\(client)'
                """)
        // When the last limit is deleted, the error of the count is deleted too.
        try queue.connection.execute(
            "update postrider_internal.client_counting set scope = null, failed_at = now(), error = 'old'; delete from postrider.client_limits; \(retry)"
        )
        try queue.wait(until: "select error is null and failed_at is null from postrider_internal.client_counting")
        target.release()
        try queue.waitUntilDone()
        #expect(worker.count(of: "enlisted") == 1)
    }

    /// The rows that an INSERT reads in the tables of the limits.
    @Test(arguments: [false, true])
    func `a check of limits reads a few rows by index, and none without limits`(hasLimits: Bool) throws {
        let fixture = try LimitFixture("max_unfinished, max_lanes", "100000, 1000")
        try fixture.client.execute(
            "insert into postrider.jobs (url) select 'http://h' || i % 900 || '/' from generate_series(1, 2000) i")
        try fixture.count()
        if !hasLimits {
            try fixture.queue.connection.execute("delete from postrider.client_limits")
            try fixture.count()
        }
        let reads = """
            select coalesce(sum(s.seq_scan) filter (where s.relname ~ '^client_(usage|lanes|deltas|new_lanes)$'),
                            0)::bigint,
                   coalesce(sum(s.seq_scan + s.idx_scan) filter (where s.relname ~ '^(jobs|results|outcomes)'),
                            0)::bigint,
                   coalesce(sum(s.idx_tup_fetch) filter (where s.relname ~ '^client_'), 0)::bigint
              from pg_stat_xact_user_tables s where s.schemaname in ('postrider', 'postrider_internal')
            """
        for rows in [1, 100] {
            let insert = "insert into postrider.jobs (url) select 'http://h1/' from generate_series(1, \(rows))"
            try fixture.queue.connection.execute("begin")
            let before = try fixture.queue.connection.query(reads)
            try fixture.queue.connection.execute("set local role \(client); \(insert); reset role")
            let after = try fixture.queue.connection.query(reads)
            try fixture.queue.connection.execute("rollback")
            #expect(after.int64(0, 0) == before.int64(0, 0), "\(rows) rows")
            #expect(after.int64(0, 1) == before.int64(0, 1), "\(rows) rows")
            let read = after.int64(0, 2) - before.int64(0, 2)
            #expect(hasLimits ? 1...8 ~= read : read == 0, "\(rows) rows: \(read)")
        }
    }

    @Test func `the client counts stay exact when jobs end, are cancelled or are retried`() throws {
        let fixture = try LimitFixture("max_unfinished, max_lanes", "1000, 1000")
        func check(_ expected: String, _ place: String) throws {
            try fixture.count()
            let (usage, truth) = (try fixture.usage(), try fixture.truth())
            #expect(usage == expected && truth == expected, "\(place): \(usage ?? ""), \(truth ?? "")")
        }
        try fixture.client.execute(
            """
            insert into postrider.jobs (url) select 'http://h' || i % 3 || '/' from generate_series(1, 9) i;
            insert into postrider.jobs (url, run_at, expires_at) select 'http://later/', now() + interval '1 h',
              now() + interval '2 h' from generate_series(1, 4);
            select postrider.submit('{"chain": [{"url": "http://a/"}, {"batch": [{"url": "http://b/"}, {"url": "http://c/"}]}]}')
            """)
        try check("16 7", "inserted")
        try fixture.queue.connection.execute(
            """
            update postrider_internal.ready r set worker = 7, fence = 1 from postrider.jobs j
              where j.id = r.job_id and j.url = 'http://h0/';
            select postrider_internal.fail_claimed_jobs(7, array_agg(track order by seq), array_agg(seq order by seq),
                                                        array_agg(fence), 'connect', array_agg('x'::text))
              from postrider_internal.ready where worker = 7
            """)
        try check("13 6", "finished")
        #expect(try fixture.queue.number("select postrider.cancel_all(lane => 'h1:80')") == 3)
        try check("10 5", "cancelled")
        #expect(try fixture.queue.number("select postrider.retry_failed()") == 3)
        try check("13 6", "retried")
        #expect(
            try fixture.queue.number(
                "select count(*) from postrider.jobs where kind = 'chain' and postrider.cancel(id)")
                == 1)
        try check("10 3", "cancelled a chain")
        _ = try fixture.queue.number("select count(postrider.retry(id)) from postrider.jobs where kind = 'chain'")
        try check("13 6", "retried a chain")
        #expect(try fixture.queue.number("select postrider.cancel_all()") > 0)
        try check("0 0", "cancelled all")
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_lanes") == 0)
        // Without limits, the leader keeps no counts.
        try fixture.queue.connection.execute("delete from postrider.client_limits")
        try fixture.count()
        #expect(
            try fixture.queue.number(
                "select (select count(*) from postrider_internal.client_usage) + (select count(*) from postrider_internal.client_deltas)"
            )
                == 0)
        try fixture.client.execute("insert into postrider.jobs (url) values ('http://h/')")
        _ = try fixture.queue.number("select postrider.cancel_all()")
        #expect(
            try fixture.queue.number("select count(*) from postrider_internal.job_deltas where ended is not null") == 0)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0)
    }

    @Test func `a recount includes jobs older than the limits while clients insert and cancel jobs`() throws {
        let fixture = try LimitFixture(role: "nobody", "max_unfinished", "1")
        let insert =
            "insert into postrider.jobs (url, run_at) select 'http://h' || i % 7 || '/', now() + interval '1 h'"
        try fixture.client.execute("\(insert) from generate_series(1, 35000) i")
        try fixture.count()
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0)
        // This INSERT is open when the recount begins. Its ids lie on both sides of the recount's start.
        let open = try TestRole.client.connect(fixture.queue)
        try open.execute("begin; \(insert) from generate_series(1, 300) i")
        try fixture.limit(client, "max_unfinished, max_lanes", "1000000, 1000")
        var random = SystemRandomNumberGenerator()
        for round in 0..<60 {
            if round == 3 { try open.execute("commit") }
            try fixture.client.execute(
                "\(insert) from generate_series(1, \(random.next(upperBound: UInt64(40)) + 1)) i")
            _ = try fixture.queue.number(
                """
                select count(*) from (select job_id from postrider_internal.scheduled order by random() limit 5) s
                 where postrider.cancel(s.job_id)
                """)
            if round % 7 == 0 { try fixture.count() }
        }
        try fixture.recount()
        #expect(try fixture.usage() == fixture.truth())
        // The recount includes the INSERT that began before it could see the limits.
        #expect(try fixture.queue.number("select unfinished from postrider.client_status") > 35_000)
        #expect(
            TestRole.words(
                of:
                    "insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 2000000) i where i = -1",
                fixture.client) == nil)
    }

    @Test(arguments: [false, true])
    func `the leader counts an INSERT with thousands of lanes in steps, also during a recount`(isRecount: Bool) throws {
        let fixture = try LimitFixture("max_unfinished, max_lanes", "1000000, 1000000")
        let rows =
            "insert into postrider.jobs (url, lane) select 'http://h/', 'lane ' || i from generate_series(1, 12000) i"
        try fixture.client.execute("insert into postrider.jobs (url) values ('http://h/')")
        try fixture.count()
        // Two statements of one transaction, with ids on both sides of the recount's start.
        let open = try TestRole.client.connect(fixture.queue)
        try open.execute("begin; \(rows)")
        if isRecount {
            try fixture.queue.connection.execute("update postrider_internal.client_counting set recounted_at = null")
            try fixture.count()
        }
        try open.execute("\(rows.replacing("lane ' || i", with: "lane ' || 2 * i")); commit")
        _ = try fixture.queue.number(
            "select count(*) from postrider.jobs where lane = 'lane 7' and postrider.cancel(id)")
        let version = try fixture.queue.number("select version from postrider_internal.client_counting")
        var counts = 0
        try TestClock.wait(60, for: "the count") {
            try fixture.count()
            counts += 1
            return try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0
        }
        let steps = try fixture.queue.number("select version - \(version) from postrider_internal.client_counting")
        #expect(steps >= 12, "\(steps) steps in \(counts) counts")
        if isRecount { try fixture.recount() }
        #expect(try fixture.usage() == "24000 18000")
        #expect(try fixture.usage() == fixture.truth())
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_new_lanes") == 0)
    }

    @Test(arguments: Soak.stormSeeds)
    func `client counts stay exact while sessions insert, roll back, cancel and retry jobs`(seed: UInt64) throws {
        let fixture = try LimitFixture(role: "*", "max_unfinished, max_lanes", "10000000, 1000000")
        let database = TestRole.client.database(fixture.queue.database)
        let superuser = fixture.queue.database
        let rounds = Soak.count(2_000, reduced: 60)
        let threads = (0..<3).map { number in
            BackgroundThread {
                do {
                    var random = Randomness(seed: seed * 10 + UInt64(number))
                    let session = try PGConnection(database)
                    let admin = try PGConnection(superuser)
                    for _ in 0..<rounds {
                        let rows = """
                            insert into postrider.jobs (url) select 'http://h' || i % \(random.number(1...5)) || '/'
                              from generate_series(1, \(random.number(1...30))) i
                            """
                        switch random.number(0...4) {
                        case 0:
                            try session.execute("begin; \(rows); savepoint s; \(rows); rollback to s; \(rows); commit")
                        case 1: try session.execute("begin; \(rows); rollback")
                        // More lanes than the leader counts in one step.
                        case 2 where random.chance(10):
                            try session.execute(
                                "insert into postrider.jobs (url, lane) select 'http://h/', 'l' || i from generate_series(1, 2500) i"
                            )
                        // Other sessions may have ended or retried the job in the meantime.
                        case 2, 3:
                            for _ in 1...20 {
                                _ = TestRole.refusal(
                                    of:
                                        "select postrider.cancel(min(job_id)) from (select job_id from postrider_internal.ready order by random() limit 1) r",
                                    admin)
                            }
                            for _ in 1...3 {
                                _ = TestRole.refusal(
                                    of:
                                        "select postrider.retry(min(job_id)) from (select job_id from postrider_internal.results order by random() limit 1) r",
                                    admin)
                            }
                        default: try session.execute(rows)
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        for round in 0..<40 {
            // A recount is in progress most of the time, sometimes after a change of its scope.
            if round % 10 == 5 {
                try fixture.queue.connection.execute(
                    "update postrider_internal.client_counting set recounted_at = null")
            }
            try fixture.count()
            TestClock.sleep(milliseconds: 5)
        }
        for thread in threads { thread.join() }
        try TestClock.wait(60, for: "the count") {
            try fixture.count()
            return try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0
        }
        let deltas = try fixture.usage()
        #expect(try deltas == fixture.truth())
        try fixture.recount()
        #expect(try fixture.usage() == deltas)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_new_lanes") == 0)
        #expect(
            try fixture.queue.number("select count(*) from postrider_internal.client_lanes where unfinished <= 0") == 0)
    }
}
