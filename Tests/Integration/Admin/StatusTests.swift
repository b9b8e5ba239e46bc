// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The views and `explain`, compared with the true state of jobs.
struct StatusTests {
    @Test func `a join with job_status reads only the joined jobs, not all jobs`() throws {
        let queue = try TestQueue()
        try queue.insert(20_000, "url, run_at", "'http://h/', now() + make_interval(days => i % 2)")
        try queue.connection.execute(
            """
            create table orders as select id as job, id % 1000 as customer from postrider.jobs;
            create index on orders (customer);
            create table customers as select n as id from generate_series(0, 999) n;
            alter table customers add primary key (id)
            """)
        try queue.connection.execute("vacuum analyze")
        for join in ["join", "left join"] {
            let plan = try queue.rows(
                """
                explain (analyze, buffers)
                select s.state, s.result, a.error
                  from customers c join orders o on o.customer = c.id \(join) postrider.job_status s on s.id = o.job
                  left join postrider.attempts a on a.job_id = o.job
                 where c.id = 7
                """
            ).map { $0[0] ?? "" }
            let text = plan.joined(separator: "\n")
            #expect(!text.contains("Seq Scan on jobs_1"), "\(text)")
            // 20 orders, and about 30 pages for each.
            let line = try #require(plan.first { $0.contains("Buffers: shared hit=") })
            let pages = try #require(Int(line.split(separator: "=")[1].prefix { $0.isNumber }))
            #expect(pages < 1_500, "\(text)")
        }
    }

    @Test func `listing jobs by parent_id or frequent tag uses an index, not a full scan`() throws {
        let queue = try TestQueue()
        try queue.insert(100_000, "url, tag", "'http://h/', case when i % 5 = 0 then 'often' end")
        try queue.connection.execute(
            """
            with b as (insert into postrider.jobs (kind) values ('batch') returning id)
            insert into postrider.jobs (parent_id, position, url) select b.id, i, 'http://h/'
              from b, generate_series(1, 20000) i;
            insert into postrider_internal.results (job_id, attempt, state) select id, 1, 's' from postrider.jobs
              where kind = 'request';
            analyze
            """)
        let batch = try queue.number("select max(id) from postrider.jobs where kind = 'batch'")
        for filter in ["parent_id = \(batch)", "tag = 'often'"] {
            for order in ["", "order by id desc"] {
                let list = "select id, state, status_code from postrider.job_status where \(filter) \(order) limit 100"
                // The jobs alone fill 2,044 pages, which may be read up to the batch's page. Each row of the list takes
                // 15.
                let blocks = try queue.buffers(list)
                #expect(blocks < 5_000, "\(list): \(blocks)")
            }
            let plan = try queue.rows(
                "explain select state, count(*) from postrider.job_status where \(filter) group by state"
            ).map { $0[0] ?? "" }.joined(separator: "\n")
            #expect(!plan.contains("Seq Scan on jobs_1") && !plan.contains("Seq Scan on results_1"), "\(plan)")
        }
    }

    @Test func `counting a batch's members does not read the deltas of other batches`() throws {
        let queue = try TestQueue()
        let batch = try queue.number("select postrider.submit('{\"batch\": [{\"url\": \"http://h/\"}]}')")
        try queue.insert("parent_id, url", "\(batch), 'http://h/'")
        try queue.connection.execute(
            """
            insert into postrider_internal.tree_deltas (tree_id, run, added, finished)
            select case when i % 2 = 0 then \(batch) else -i end, 1, i % 2, 1 - i % 2 from generate_series(1, 100000) i;
            analyze postrider_internal.tree_deltas
            """)
        let count = "select children from postrider.job_status where id = \(batch)"
        #expect(try queue.number(count) == 2)
        let blocks = try queue.buffers(count)
        #expect(blocks < 100, "\(blocks)")
    }

    @Test func `queue_status counts the requests of each queue by state, including waiting members`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            select postrider.submit('{"chain": [
              {"url": "http://h/1"},
              {"batch": [{"url": "http://h/2", "queue": "mail"}, {"url": "http://h/3"}]},
              {"url": "http://h/4"}]}');
            select postrider.submit('{"max_parallel": 1, "batch": [
              {"url": "http://h/5", "queue": "mail"}, {"url": "http://h/6", "queue": "mail"}]}');
            insert into postrider.jobs (url, run_at) values ('http://h/7', now() + interval '1 day');
            insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 10100);
            """)
        let shown =
            "select queue, ready::text, scheduled::text, waiting::text from postrider.queue_status order by queue"
        #expect(try queue.rows(shown) == [["default", "10101", "1", "2"], ["mail", "1", "0", "2"]])
        let counted = """
            select queue, count(*) filter (where state = 'ready')::text,
                   count(*) filter (where state = 'scheduled')::text,
                   count(*) filter (where state = 'waiting')::text
              from postrider.job_status where kind = 'request' group by queue order by queue
            """
        #expect(try queue.rows(counted) == queue.rows(shown))
        try queue.connection.execute("select postrider.cancel_all()")
        #expect(try queue.rows(shown) == [["default", "0", "0", "0"], ["mail", "0", "0", "0"]])
        #expect(
            try queue.rows("select queue, cancelled::text from postrider.queue_status order by queue")
                == queue.rows(
                    """
                    select queue, count(*)::text from postrider.job_status
                     where kind = 'request' and state = 'cancelled' group by queue order by queue
                    """))
    }

    @Test func `queue_status counts jobs that end without being ready, until they run again`() throws {
        let queue = try TestQueue()
        let ended = """
            select queue, cancelled::text, skipped::text from postrider.queue_status
             where cancelled + skipped > 0 order by queue
            """
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [{"url": "http://h/1", "queue": "mail"}, {"url": "http://h/2", "queue": "mail"},
              {"batch": [{"url": "http://h/3", "queue": "bulk"}, {"url": "http://h/4", "queue": "bulk"}]}]}')
            """)
        try queue.connection.execute("select postrider.cancel(\(chain + 1))")
        #expect(try queue.state(chain) == "failed")
        #expect(try queue.rows(ended) == [["bulk", "0", "2"], ["mail", "1", "1"]])
        try queue.connection.execute("select postrider.retry(\(chain))")
        #expect(try queue.rows(ended) == [])
        try queue.connection.execute("select postrider.cancel(\(chain))")
        #expect(try queue.rows(ended) == [["bulk", "2", "0"], ["mail", "2", "0"]])
    }

    @Test func `job_status.max_attempts is the total after retries for a job, and null for a tree`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let url = "\(target.url)/status/500"
        let id = try queue.insert("url, max_attempts, backoff", "'\(url)', 2, '{1 ms}'")
        let tree = try queue.number(
            #"select postrider.submit('{"batch": [{"url": "\#(url)", "max_attempts": 2, "backoff": ["1 ms"]}]}')"#)
        func shown(_ job: Int64) throws -> [[String?]] {
            try queue.rows(
                "select attempt::text, max_attempts::text, method from postrider.job_status where id = \(job)")
        }
        for attempts in ["2", "4"] {
            try queue.waitUntilDone()
            #expect(try shown(id) == [[attempts, attempts, "GET"]])
            #expect(try shown(tree + 1) == [[attempts, attempts, "GET"]])
            #expect(try shown(tree) == [["0", nil, nil]])
            try queue.connection.execute("select postrider.pause_queue('default')")
            for job in [id, tree] {
                try queue.connection.execute("select postrider.retry(\(job))")
            }
            let most = attempts == "2" ? "4" : "6"
            #expect(try shown(id) == [[attempts, most, "GET"]])
            #expect(try shown(tree + 1) == [[attempts, most, "GET"]])
            try queue.connection.execute("select postrider.resume_queue('default')")
        }
    }

    @Test func `queue_status estimates large backlogs within 20 % and counts small queues exactly`() throws {
        let count: Int64 = 150_000
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('big', 'h:80', 0),
              ('small', 'h:80', 0), ('later', 'h:80', 0);
            insert into postrider_internal.ready (seq, job_id, track, max_attempts, worker)
            select i, i, 1, 5, (i <= 64)::int from generate_series(1, \(count)) i;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts) select i, i, 2, 5
              from generate_series(1, 7) i;
            insert into postrider_internal.scheduled (run_at, job_id, track, max_attempts)
            select now() + interval '1 h', i, 3, 5 from generate_series(1, 2 * \(count)) i;
            """)
        let ready = try queue.number("select ready from postrider.queue_status where queue = 'big'")
        #expect(abs(ready - count) < count / 5, "\(ready)")
        let scheduled = try queue.number("select scheduled from postrider.queue_status where queue = 'later'")
        #expect(abs(scheduled - 2 * count) < count * 2 / 5, "\(scheduled)")
        #expect(try queue.number("select running from postrider.queue_status where queue = 'big'") == 64)
        #expect(try queue.number("select ready from postrider.queue_status where queue = 'small'") == 7)
        // If few rows are left in a table that was large, they are counted and not estimated.
        try queue.connection.execute(
            "delete from postrider_internal.ready where track = 1 and seq > 64; delete from postrider_internal.scheduled where job_id > 7"
        )
        #expect(
            try queue.rows(
                "select queue, ready::text, running::text, scheduled::text from postrider.queue_status order by queue")
                == [["big", "0", "64", "0"], ["later", "0", "0", "7"], ["small", "7", "0", "0"]])
    }

    @Test func `schedule_status reads only the last job of each schedule`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 3000);
            insert into postrider_internal.results (job_id, attempt, state)
            select job_id, 1, 's' from postrider_internal.ready order by job_id limit 2900;
            delete from postrider_internal.ready r using postrider_internal.results f where f.job_id = r.job_id;
            insert into postrider.schedules (name, cron, spec)
            select 's' || i, '@daily', '{"url": "http://h/"}' from generate_series(1, 200) i;
            update postrider.schedules set last_job_id = 2710 + substr(name, 2)::int
            """)
        let states = "select last_state, count(*)::text from postrider.schedule_status group by 1 order by 1"
        #expect(try queue.rows(states) == [["ready", "10"], ["succeeded", "190"]])
        let plan =
            try queue.text(
                "explain (analyze, buffers, format json) select * from postrider.schedule_status") ?? ""
        let place = try #require(plan.firstRange(of: "\"Shared Hit Blocks\": "))
        let touched = try #require(Int(plan[place.upperBound...].prefix { $0.isNumber }))
        #expect(touched < 10 * 200, "\(touched) buffers")
    }

    @Test func `user and password in a service's URL are sent as Basic auth but never shown`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let place = target.url.dropFirst("http://".count)
        try queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('s', 'http://ada:5ecret@\(place)/')")
        let good = try queue.insert("service, url", "'s', 'ok'")
        let bad = try queue.insert("service, url", "'s', 'status/404'")
        let worker = try RunningWorker(queue.database)
        try queue.wait(for: good, toBe: "succeeded")
        try queue.wait(for: bad, toBe: "failed")
        #expect(
            target.requests.map { $0.header("authorization") } == ["Basic YWRhOjVlY3JldA==", "Basic YWRhOjVlY3JldA=="])
        let views = [
            "service_status", "job_status", "attempts", "pages", "lane_status", "queue_status", "recent_failures",
            "cache_status",
            "worker_status",
        ]
        for view in views {
            let shown = try queue.text("select string_agg(v::text, ' ') from postrider.\(view) v") ?? ""
            #expect(!shown.contains("5ecret"), "\(view): \(shown)")
        }
        #expect(try queue.text("select base_url from postrider.service_status") == "http://\(place)/")
        #expect(!worker.output.contains("5ecret"))
    }

    @Test func `job_status.run_at shows the time that reschedule has set`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, run_at", "'http://h/', now() + interval '1 day'")
        func matches(_ condition: String) throws -> Bool {
            try queue.number("select count(*) from postrider.job_status where id = \(id) and \(condition)") == 1
        }
        #expect(try matches("run_at > now() + interval '23 h'"))
        try queue.connection.execute("select postrider.reschedule(\(id), now() + interval '2 h')")
        #expect(try matches("run_at between now() + interval '1 h' and now() + interval '2 h'"))
        try queue.connection.execute("select postrider.reschedule(\(id), now())")
        let target = try TargetServer()
        let called = try queue.insert("url, run_at", "'\(target.url)/ok', now() + interval '1 day'")
        try queue.connection.execute("select postrider.reschedule(\(called), now())")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: called, toBe: "succeeded")
        #expect(
            try queue.number(
                "select count(*) from postrider.job_status where id = \(called) and run_at <= started_at") == 1)
    }

    @Test func `explain names each hold of a job and the next call time of a rate-limited lane`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, queue, lane", "'http://h/', 'mail', 'api'")
        try queue.connection.execute(
            """
            select postrider.pause_queue('mail');
            select postrider.pause_lane('api');
            insert into postrider.lanes (name, rate_limit, rate_period) values ('slow', 1, '1 h');
            insert into postrider_internal.lane_rates (lane, last_slot)
            select id, '2999-01-01 10:00+00' from postrider.lanes where name = 'slow';
            set timezone = 'UTC'
            """)
        let both = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(both.contains("resume_queue('mail')") && both.contains("resume_lane('api')"), "\(both)")
        let limited = try queue.insert("url, lane", "'http://h/', 'slow'")
        let one = try queue.text("select postrider.explain(\(limited))") ?? ""
        #expect(one.contains("its next call begins at about 2999-01-01 11:00:00 UTC"), "\(one)")
    }
}
