// SPDX-License-Identifier: Apache-2.0

import JobStore
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The buffers that the hot statements touch. Their number must not grow with the queue.
struct PlanTests {
    private let cluster: PrivateCluster

    init() throws { cluster = try TestQueue.quietCluster() }

    /// The buffers that each statement touched for its 64 jobs.
    private struct Cost {
        var claim = 0
        var claimOne = 0
        var finish = 0
        var promote = 0
        var promoteByBudget = 0
        var survey = 0
    }

    @Test func `claim, finish, promote and survey use their indexes and cost the same on a long queue`() throws {
        let queue = try TestQueue(on: cluster)
        let bench = try Bench(queue)
        try bench.fill(1_000, queue)
        let short = try bench.measure(queue)
        try bench.fill(Soak.count(1_000_000, reduced: 60_000), queue)
        let long = try bench.measure(queue)
        let figures = "short \(short), long \(long)"
        #expect(Double(long.claim) <= 1.2 * Double(short.claim), "\(figures)")
        #expect(Double(long.claimOne) <= 1.2 * Double(short.claimOne), "\(figures)")
        #expect(Double(long.finish) <= 1.2 * Double(short.finish), "\(figures)")
        #expect(Double(long.promote) <= 1.2 * Double(short.promote), "\(figures)")
        // Each deferred row goes into four indexes, which may have two more levels.
        #expect(Double(long.promoteByBudget) <= 1.2 * Double(short.promoteByBudget) + 64 * 4 * 2, "\(figures)")
        #expect(Double(long.survey) <= 1.2 * Double(short.survey), "\(figures)")
    }

    @Test func `a survey of a queue with few tracks reads no rows of other queues`() throws {
        let queue = try TestQueue(on: cluster)
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('busy', 'h:80', 0), ('mail', 'h:80', 0);
            insert into postrider_internal.ready (seq, job_id, track, max_attempts)
            select i, i, 1, 1 from generate_series(1, 20000) i union all select 20001, 20001, 2, 1
            """)
        let mail = "select * from postrider_internal.survey('{mail}')"
        _ = try queue.buffers(mail)
        // The rows of the busy track are dead, and a scan of its first rows would read them all.
        try queue.connection.execute("delete from postrider_internal.ready where track = 1")
        let own = try queue.buffers(mail)
        let all = try queue.buffers("select * from postrider_internal.survey(null)")
        #expect(own < 30 && all > 150, "\(own), \(all)")
    }

    @Test func `find_ready_row and job_status use indexes although statistics say that ready is empty`() throws {
        let queue = try TestQueue(on: cluster)
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', postrider_internal.url_lane('http://h/'), 0)"
        )
        for _ in 1...20 { try queue.insert(1_000, "url", "'http://h/' || i") }
        let root = try queue.number(
            """
            select postrider.submit(jsonb_build_object('batch',
              (select jsonb_agg(jsonb_build_object('url', 'http://h/' || i)) from generate_series(1, 20) i)))
            """)
        try queue.connection.execute("vacuum postrider_internal.ready")
        try queue.connection.execute(
            "update pg_class set reltuples = 0 where oid = 'postrider_internal.ready'::regclass")
        let id = try queue.number("select max(job_id) from postrider_internal.ready where seq = job_id and track > 0")
        try queue.connection.execute(
            "set plan_cache_mode = force_generic_plan; prepare place(bigint) as select * from postrider_internal.find_ready_row($1)"
        )
        // In the form of functions, and in the form of users. The first run also reads the catalogue.
        for _ in 1...2 { _ = try queue.text("execute place(\(id))") }
        let place = try queue.buffers("execute place(\(id))")
        let status = "select state from postrider.job_status where"
        _ = try queue.buffers("\(status) id = \(id)")
        let one = try queue.buffers("\(status) id = \(id)")
        let members = try queue.buffers("\(status) parent_id = \(root)")
        #expect(place < 40 && one < 60 && members < 1_000, "\(place), \(one), \(members)")
    }

    @Test func `cancel_all looks up each job by its id, even with stale statistics`() throws {
        let queue = try TestQueue(on: cluster)
        for tag in ["z", "y"] {
            for _ in 1...8 { try queue.insert(1_000, "url, tag", "'http://h/' || i, '\(tag)'") }
            guard tag == "z" else { break }
            // The planner's statistics know no later tags and no ready rows.
            #expect(try queue.number("select postrider.cancel_all()") == 8_000)
            for verb in ["vacuum postrider_internal.ready", "analyze postrider.jobs"] {
                try queue.connection.execute(verb)
            }
        }
        try queue.connection.execute(
            "update pg_class set reltuples = 0, relpages = 1 where oid = 'postrider_internal.ready'::regclass")
        let blocks = try queue.buffers("select postrider.cancel_all(tag => 'y')")
        #expect(try queue.number("select count(*) from postrider_internal.results") == 16_000)
        // 32 blocks for each row. A comparison of each row with all others took 130.
        #expect(blocks < 8_000 * 60, "\(blocks)")
    }

    @Test func `retry_failed reads no jobs of other lanes, queues or tags`() throws {
        let queue = try TestQueue(on: cluster)
        let others = Soak.count(1_000_000, reduced: 50_000)
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) select q, l, 0
              from unnest(array['default', 'q']) q, unnest(array['h:80', 'l']) l;
            set session_replication_role = replica;
            insert into postrider.jobs (url, tag) select 'http://h/', 'other' from generate_series(1, \(others)) i;
            insert into postrider.jobs (url, tag, queue, lane) select 'http://h/', 't', 'q', 'l'
              from generate_series(1, 100) i;
            insert into postrider_internal.results (job_id, attempt, state, error_code, finished_at, track)
            select j.id, 1, case when j.queue = 'q' or j.id % 2 = 0 then 'f'
              else 's' end, 'connect', now() - interval '1 day',
                   (select t.id from postrider_internal.tracks t
                    where t.queue = j.queue and t.lane = coalesce(j.lane, 'h:80'))
              from postrider.jobs j;
            update postrider_internal.results set finished_at = now() where job_id > \(others);
            reset session_replication_role;
            """)
        try queue.connection.execute(
            "vacuum analyze postrider.jobs, postrider_internal.results, postrider_internal.tracks")
        // A scan of all failures reads each one once by the index and reads none of their jobs. Reading the jobs would
        // cost two to four blocks each.
        for (words, most) in [
            ("tag => 't'", 10_000), ("since => now() - interval '1 hour', lane => 'l'", 10_000),
            ("lane => 'l'", 10_000 + others * 6 / 10), ("queue => 'q'", 10_000 + others * 6 / 10),
            ("queue => 'q', tag => 'other'", 10_000 + others * 6 / 10),
        ] {
            try queue.connection.execute("begin")
            _ = try queue.number("select postrider.retry_failed(tag => 'nobody')")
            let blocks = try queue.buffers("select postrider.retry_failed(\(words))")
            let count = try queue.number("select count(*) from postrider_internal.ready")
            try queue.connection.execute("rollback")
            #expect(
                count == (words.contains("other") ? 0 : 100) && blocks < most,
                "\(words): \(count) jobs, \(blocks) blocks")
        }
    }

    @Test func `claim and finish cost the same with dead rows that an open transaction keeps`() throws {
        let queue = try TestQueue(on: cluster)
        let bench = try Bench(queue)
        try bench.fill(12_000, queue)
        let first = try bench.measure(queue)
        let holder = try PGConnection(queue.database)
        try holder.execute("begin isolation level repeatable read; select count(*) from postrider_internal.ready")
        for _ in 1...150 { try bench.turn(queue) }
        let last = try bench.measure(queue)
        #expect(Double(last.claim) <= 1.2 * Double(first.claim), "first \(first), last \(last)")
        #expect(Double(last.claimOne) <= 1.2 * Double(first.claimOne), "first \(first), last \(last)")
        #expect(Double(last.finish) <= 1.2 * Double(first.finish), "first \(first), last \(last)")
        try holder.execute("rollback")
    }

    /// Runs the statements of a worker that leads, without the worker.
    private final class Bench {
        private let worker: Int64
        private let epoch: Int64
        private var track: Int64 = 0
        private var mark: Int64 = 0

        init(_ queue: borrowing TestQueue) throws {
            worker = try queue.number(
                "select worker from postrider_internal.enlist(0, 'bench', '0.1.0', null, 64, '{}', '{}')")
            epoch = try queue.lead(worker)
            try queue.connection.execute(
                """
                set enable_seqscan = off;
                prepare claim_one as \(StoreStatement.claimOne.sql);
                select postrider_internal.close_hold_gate()
                """)
        }

        /// Adds ready and scheduled jobs until the queue has this many of each.
        func fill(_ count: Int, _ queue: borrowing TestQueue) throws {
            while true {
                let there = Int(try queue.number("select count(*) from postrider_internal.ready"))
                guard there < count else { break }
                try queue.insert(min(9_000, count - there), "url", "'http://h/' || i")
                try queue.insert(
                    min(9_000, count - there), "url, run_at",
                    "'http://h/' || i, now() + interval '1 h' + i * interval '1 s'")
                while try queue.number(
                    "select more::int from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
                    == 1
                {}
            }
            track = try queue.number("select id from postrider_internal.tracks")
            try queue.connection.execute("vacuum analyze")
        }

        /// Claims 64 jobs and finishes them.
        func turn(_ queue: borrowing TestQueue) throws {
            _ = try queue.rows("select job_id::text from (\(claim)) c")
            let finish = try finish(queue)
            _ = try queue.rows("select (\(finish))::text")
        }

        /// Measures the cost of one run of each statement. A statement must not scan a whole table.
        func measure(_ queue: borrowing TestQueue) throws -> Cost {
            // The first run of each statement in a session also reads the catalogue.
            try turn(queue)
            var cost = Cost()
            try makeDue(queue)
            _ = try queue.rows("select moved::text from (\(promote)) p")
            try makeDue(queue)
            cost.survey = try buffers(survey, queue)
            cost.promote = try buffers(promote, queue)
            cost.promoteByBudget = try promoteByBudget(queue)
            let job = try queue.number(
                "select job_id from postrider_internal.ready where track = \(track) and seq > \(mark) and worker = 0 order by seq limit 1"
            )
            cost.claimOne = try buffers("execute claim_one(\(worker), \(track), \(mark), 0, \(job))", queue)
            #expect(
                try queue.rows(
                    "update postrider_internal.ready set worker = 0 where track = \(track) and seq > \(mark) and worker > 0 returning '1'"
                ).count == 1)
            cost.claim = try buffers(claim, queue)
            cost.finish = try buffers(finish(queue), queue)
            return cost
        }

        private var claim: String {
            """
            select * from postrider_internal.claim(
              \(worker)::int, 0::bigint, 64, array[\(track)]::int[], array[64]::int[], array[\(mark)]::bigint[], true, array[0])
            """
        }
        private var survey: String { "select * from postrider_internal.survey(null)" }
        private var promote: String {
            "select * from postrider_internal.promote(\(worker)::int, \(epoch)::bigint, null, 5000)"
        }

        /// The finish of the claimed jobs: the leases as arrays, a success, and null for the rest. Moves the watermark.
        private func finish(_ queue: borrowing TestQueue) throws -> String {
            let leases = try queue.rows(
                """
                select array_agg(jsonb_populate_record(
                         postrider_internal.unsent_attempt(track, seq, fence, 's', null, null), '{"status": 200}') order by seq)::text,
                       max(seq)::text, count(*)::text
                from postrider_internal.ready where track = \(track) and seq > \(mark) and worker = \(worker)
                """)[0].map { $0 ?? "" }
            #expect(leases[2] == "64")
            mark = Int64(leases[1]) ?? mark
            return "select postrider_internal.finish(\(worker)::int, '\(leases[0])')"
        }

        /// Promotes retries of a failing lane: some become ready, the others are deferred.
        private func promoteByBudget(_ queue: borrowing TestQueue) throws -> Int {
            try queue.connection.execute(
                """
                insert into postrider_internal.failing_lanes (lane, calls, good, bad, failing, at)
                select lane, 0, 0, 100, true, now() from postrider_internal.tracks
                """)
            var cost = 0
            // The first run in a session also reads the catalogue.
            for _ in 1...2 {
                try queue.connection.execute(
                    """
                    update postrider_internal.scheduled set run_at = now() - interval '1 s', attempt = 1
                    where job_id in (select job_id from postrider_internal.scheduled where attempt = 0
                                     order by run_at limit 64)
                    """)
                cost = try buffers(promote, queue)
            }
            try queue.connection.execute("delete from postrider_internal.scheduled where attempt = 1")
            try queue.connection.execute("delete from postrider_internal.failing_lanes")
            return cost
        }

        private func makeDue(_ queue: borrowing TestQueue) throws {
            try queue.connection.execute(
                """
                update postrider_internal.scheduled set run_at = now() - interval '1 s'
                where job_id in (select job_id from postrider_internal.scheduled order by run_at limit 64)
                """)
        }

        private func buffers(_ sql: String, _ queue: borrowing TestQueue) throws -> Int {
            try queue.connection.execute("begin")
            // The session passes its counters on from time to time. So the difference within one transaction counts.
            let scans = """
                select relname || ' ' || seq_scan from pg_stat_xact_user_tables
                where schemaname in ('postrider', 'postrider_internal')
                  and relname ~ '^(ready|scheduled|jobs|results|past_attempts)' order by relname
                """
            let before = try queue.rows(scans)
            let touched = try queue.buffers(sql)
            #expect(try queue.rows(scans) == before, "\(sql)")
            try queue.connection.execute("commit")
            return touched
        }
    }
}
