// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// INSERTs of more rows than the fast path handles.
struct LargeInsertTests {
    @Test func `a large INSERT drains without delaying small INSERTs of a higher priority`() throws {
        let count = Soak.count(3_000_000, reduced: 30_000)
        let nginx = try NginxServer(firstPort: 23_480)
        let url = "http://127.0.0.1:\(nginx.port)/text"
        let queue = try TestQueue()
        let database = queue.database
        let workers = try (1...2).map { _ in try RunningWorker(database, concurrency: 64) }
        defer { workers.kill() }
        try queue.insert("url, priority", "'\(url)', 4")
        try queue.waitUntilDone()

        let done = Flag()
        let inserter = BackgroundThread {
            guard let connection = try? PGConnection(database) else { return }
            try? connection.execute(
                "insert into postrider.jobs (url, tag) select '\(url)', 'large' from generate_series(1, \(count))")
            done.isSet.store(true, ordering: .releasing)
        }
        var slowestInsert = 0.0
        var slowestRun = 0.0
        var probes = 0
        while try !done.isSet.load(ordering: .acquiring) || queue.number(Self.left) > 0 {
            let start = TestClock.now
            let id = try queue.insert("url, priority", "'\(url)', 4")
            slowestInsert = max(slowestInsert, TestClock.seconds(since: start))
            try queue.wait(30, for: id, toBe: "succeeded")
            slowestRun = max(slowestRun, TestClock.seconds(since: start))
            probes += 1
            TestClock.sleep(milliseconds: 20)
            guard probes < 20_000 else { break }
        }
        inserter.join()
        // Two or three probes wait for the end of the large INSERT.
        #expect(probes > 20)
        #expect(slowestInsert < Soak.seconds(1))
        #expect(slowestRun < Soak.seconds(5))
        #expect(
            try queue.number("select count(*) from postrider_internal.results where state = 's'")
                == Int64(count + probes + 1))
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
    }

    @Test func `jobs with an expiry or notify wait behind an earlier large INSERT`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(11_000, "url", "'\(target.url)/ok/' || i")
        try queue.insert("url, notify", "'\(target.url)/ok/told', true")
        try queue.insert("url, expires_at", "'\(target.url)/ok/dated', '2100-01-01'")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 11002")
        // Apart from the calls in flight at the same time, all earlier jobs had begun.
        let paths = target.requests.suffix(64).map(\.path)
        #expect(paths.contains("/ok/told") && paths.contains("/ok/dated"))
    }

    @Test func `cancel_all cancels jobs of a large INSERT that are still in the intake`() throws {
        let queue = try TestQueue()
        try queue.insert(12_000, "url, tag", "'http://h/' || i, 'large'")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
        #expect(try queue.number("select postrider.cancel_all(tag => 'large')") == 12_000)
        #expect(try queue.number("select count(*) from postrider_internal.results where state = 'c'") == 12_000)
    }

    @Test func `an open transaction that cancels jobs in the intake does not delay a later INSERT`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        for lane in ["a", "b"] { try queue.insert(11_000, "url, lane", "'\(target.url)/ok/' || i, '\(lane)'") }
        let lists = try queue.rows("select first_id::text from postrider_internal.intake").compactMap { $0[0] }
        #expect(lists.count >= 2)
        let other = try PGConnection(queue.database)
        try other.execute(
            "begin; select postrider.cancel(id) from unnest('{\(lists.joined(separator: ","))}'::bigint[]) id")
        try queue.insert(11_000, "url, lane", "'\(target.url)/ok/' || i, 'c'")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
        let worker = try RunningWorker(queue.database, concurrency: 32)
        try queue.wait(60, until: "select count(*) = 11000 from postrider_internal.results")
        #expect(
            try queue.number("select count(distinct lane) from postrider.job_status where state = 'succeeded'") == 1)
        try other.execute("rollback")
        try queue.wait(60, until: "select count(*) = 33000 from postrider_internal.results where state = 's'")
        #expect(worker.count(of: "statement_failed") == 0)
    }

    @Test func `jobs beyond the last partition go to the overflow, run, and lead to a new partition`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1999900)")
        try queue.insert(300, "url", "'\(target.url)/ok/' || i")
        #expect(try queue.number("select count(*) from postrider_internal.jobs_overflow") == 200)
        let worker = try RunningWorker(queue.database, concurrency: 16)
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 300")
        #expect(try queue.number("select count(*) from postrider_internal.results_overflow") == 200)
        try worker.wait(for: "partition_added")
        try queue.wait(until: "select to_regclass('postrider_internal.jobs_3') is not null")
        let id = try queue.insert("url", "'\(target.url)/ok/after'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text("select tableoid::regclass::text from postrider.jobs where id = \(id)")
                == "postrider_internal.jobs_3"
        )
        let later = try queue.insert("url, run_at", "'\(target.url)/ok/later', now() + interval '1 h'")
        #expect(try queue.text("select postrider.cancel(\(later))::text") == "true")
    }

    @Test(arguments: ["true", "nextval('postrider.jobs_id_seq') > 0"])
    func `a large INSERT lists each id once and in order, with or without gaps`(filter: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            set work_mem = '5MB';
            insert into postrider.jobs (url)
            select 'http://h/' || i % 2 from generate_series(1, 12345) i where \(filter)
            """)
        let listed =
            """
            (select i.first_id as list, u.* from postrider_internal.intake i,
                    unnest(coalesce(i.ids, array(select generate_series(i.first_id,
                        i.last_id)))) with ordinality as u (id, place)) l
            """
        #expect(
            try queue.number("select count(*) from postrider.jobs j join \(listed) on l.id = j.id") == 12345)
        #expect(try queue.number("select count(*) from \(listed)") == 12345)
        #expect(
            try queue.number(
                """
                select count(*) from (select l.id < lag(l.id) over (order by l.list, l.place) as falls from \(listed)) f
                where falls
                """) == 0)
        #expect(
            try queue.number(
                """
                select count(*) from postrider_internal.intake
                where first_id <> ids[1] or last_id <> ids[jobs] or jobs > 1000
                """) == 0)
        #expect(try queue.text("show work_mem") == "5MB")
        #expect(try queue.text("show enable_sort") == "on")
    }

    @Test(arguments: [
        ("kind", "'x'"), ("method", "'FETCH'"), ("queue", "''"), ("priority", "1000"), ("max_attempts", "0"),
        ("delivery", "'x'"), ("run_at", "'-infinity'"), ("response_format", "'x'"), ("result_type", "'x'"),
        ("on_duplicate", "'x'"), ("mode", "'x'"), ("cache_version", "null"), ("use_cdn", "null"),
        ("ignore_cache", "null"), ("created_by", "null"), ("tag", "repeat('x', 401)"),
        ("timeout", "'-1 s'"), ("url", "'ftp://h/'"),
        ("body_json", "('[' || repeat('1e131000,', 600) || '0]')::jsonb"),
        ("metadata", "('[' || repeat('1e131000,', 600) || '0]')::jsonb"),
    ])
    func `one bad row in a large INSERT of equal rows refuses the whole INSERT`(column: String, value: String) throws {
        let queue = try TestQueue(sharedBy: #function)
        let good = try #require(
            try queue.text(
                """
                select format('%s::%s', coalesce(pg_get_expr(d.adbin, d.adrelid), 'null'),
                              format_type(a.atttypid, a.atttypmod))
                from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                where a.attrelid = 'postrider.jobs'::regclass and a.attname = '\(column)'
                """))
        let url = column == "url" ? "" : "url, "
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.jobs (\(url)\(column)) select \(column == "url" ? "" : "'http://h/', ")
                case when i = 12000 then \(value) else \(column == "url" ? "'http://h/'" : good) end
                from generate_series(1, 12000) i
                """)
        }
        #expect(error.message.contains(column), "\(error.message)")
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    /// The lane of row i, and the most jobs in a list of one lane and in a list of several lanes.
    private static let spreads: [(lane: String, most: Int64, mostShared: Int64)] = [
        ("i % 1000", 0, 1_800), ("i % 10", 1001, 0), ("case when i % 100 = 0 then i % 1000 else 1000 end", 1100, 400),
        ("case when i < 1000 then i else 1000 end", 1001, 150), ("i", 0, 750),
    ]

    @Test(arguments: Soak.isOn ? spreads : [spreads[2], spreads[4]])
    func `intake lists and feed steps have bounded numbers of jobs for every spread of lanes`(
        lane: String, most: Int64, mostShared: Int64
    ) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.jobs (lane, url) select 'lane ' || \(lane), 'http://h/' from generate_series(1, 128000) i"
        )
        #expect(try queue.number("select sum(jobs) from postrider_internal.intake") == 128_000)
        for (kind, most) in [("not null", most), ("null", mostShared)] {
            let longest = try queue.number(
                "select coalesce(max(jobs), 0) from postrider_internal.intake where lane is \(kind)")
            #expect(longest <= most && longest >= most / 4, "\(longest)")
        }
        let worker =
            "insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 1) returning id"
        let leader = try queue.number(worker)
        let epoch = try queue.lead(leader)
        let feed = "select postrider_internal.feed_next(\(leader), \(epoch), 20000)"
        if try queue.number("select count(*) from postrider_internal.intake where lane is not null") > 0 {
            let fed = try queue.number(feed)
            #expect(fed > 19_000 && fed < 20_000 + most)
        }
        while try queue.number(feed) > 0 {}
        // The tracks that were fed before count as claimed.
        let feedShared = "select postrider_internal.feed_crowd(\(leader), \(epoch), 5000)"
        while try queue.number("select count(*) from postrider_internal.intake") > 0 {
            let fed = try queue.number(feedShared)
            #expect(fed > 0 && fed < 5_000 + max(1_100, mostShared))
            try queue.connection.execute("update postrider_internal.feed_cursors set tracks = '{}', seqs = '{}'")
        }
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 128_000)
    }

    @Test(arguments: [
        ("http://h/", "h:80"), ("https://h/a", "h:443"), ("http://h:8080/", "h:8080"), ("https://h:80/", "h:80"),
        ("http://h:80/", "h:80"), ("https://h:443/", "h:443"), ("http://h./", "h:80"), ("http://h.:8080/", "h:8080"),
        ("http://h:080/", "h:80"), ("https://me@H./", "h:443"), ("https://h.?a=b", "h:443"),
        ("http://H/", "h:80"), ("HTTPS://h/", "h:443"), ("http://me:x@h:8080/", "h:8080"), ("http://h?a=:1", "h:80"),
        ("http://other/", "none"),
    ])
    func `a single row goes to the track of its host and port`(url: String, lane: String) throws {
        let queue = try TestQueue(sharedBy: #function, inTransaction: true)
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority)
            select 'default', unnest(array['h:80', 'h:443', 'h:8080', 'h.:80', 'h.:443', 'h:080', 'H:80', 'h?a=:1',
                                     'me:x@h:8080']), 0
            """)
        let id = try queue.insert("url", "'\(url)'")
        let found = "select coalesce((select lane from postrider_internal.tracks t where t.id = r.track), 'none')"
        #expect(try queue.text("\(found) from postrider_internal.ready r where job_id = \(id)") == lane)
        // The job is found again by its lane, in a list and alone.
        #expect(try queue.state(id) == "ready")
        #expect(
            try queue.text("select lane from postrider.job_status where id = \(id)")
                == (lane == "none" ? "other:80" : lane))
        // An unusual URL costs 0.2 ms per row, so most rows have a usual one.
        try queue.insert(10_000, "url", "case when i % 5 = 0 then '\(url)' else 'http://rest/' end")
        #expect(
            try queue.text(
                "select string_agg(distinct lane, ' ') from postrider_internal.intake where lane <> 'rest:80'")
                == (lane == "none" ? "other:80" : lane))
        for job in [id, try queue.number("select max(id) from postrider.jobs")] {
            #expect(try queue.number("select postrider.cancel(\(job))::int") == 1)
        }
    }

    @Test func `a bad URL is refused even if a track with its host and port exists`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority)
            select 'default', unnest(array['a b:80', 'h_$:80', 'h:70000', 'h:', 'h:0']), 0
            """)
        for url in ["http://a b/", "http://h$/", "http://h:70000/", "http://h:0/", "http://h:80/ ", "httpx://h:80/"] {
            #expect(throws: PGError.self) { try queue.insert("url", "'\(url)'") }
        }
    }

    @Test func `a large INSERT of rows whose host is too long for a lane is refused`() throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.insert(12_000, "url", "'http://' || repeat('a', 300) || '/'")
        }
        #expect(error?.column == "url")
    }

    private static let left =
        "select (select count(*) from postrider.jobs) - (select count(*) from postrider_internal.results)"

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }
}
