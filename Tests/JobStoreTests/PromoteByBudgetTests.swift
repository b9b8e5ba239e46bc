// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rows that promote moves while a lane is failing, and the wait of the others.
struct PromoteByBudgetTests {
    /// A leader simulated by SQL, with two lanes: a, which is failing, and b.
    private struct Fixture: ~Copyable {
        let queue: TestQueue
        private var worker: Int64
        private var epoch: Int64

        /// - Parameter calls: the calls of lane a within the last ten seconds.
        init(calls: Int = 0) throws {
            let queue = try TestQueue()
            let worker = try queue.number(
                "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
            let epoch = try queue.lead(worker)
            try queue.connection.execute(
                """
                insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'a', 0),
                  ('default', 'b', 0);
                insert into postrider_internal.failing_lanes (lane, calls, good, bad, failing, at)
                values ('a', \(calls), 0, 100, true, now() + interval '1 h')
                """)
            self.queue = queue
            self.worker = worker
            self.epoch = epoch
        }

        /// Adds due jobs of a lane, in the order of their ids.
        func add(_ count: Int, lane: String, attempt: Int) throws {
            let last = try queue.number("select coalesce(max(id), 0) from postrider.jobs")
            try queue.insert(count, "url, lane, run_at", "'http://h/' || i, '\(lane)', now() + interval '1 h'")
            try queue.connection.execute(
                """
                update postrider_internal.scheduled set attempt = \(attempt),
                  run_at = now() - interval '5 s' + (job_id - \(last)) * interval '1 us'
                where job_id > \(last)
                """)
        }

        /// Makes another worker the leader.
        mutating func changeLeader() throws {
            try queue.connection.execute("update postrider_internal.leases set until = now() - interval '1 s'")
            worker = try queue.number(
                "select worker from postrider_internal.enlist(0, 'next', '0', null, 64, '{}', '{}')")
            epoch = try queue.lead(worker)
        }

        /// The number of moved rows, and whether more may be due.
        func promote() throws -> String {
            try queue.text(
                """
                select moved || ' ' || more || case when latest is distinct from due.last and not more
                  then ', not to the last' else '' end
                from (select max(run_at) as last from postrider_internal.scheduled s where run_at <= now()) due,
                  lateral postrider_internal.promote(\(worker)::int, \(epoch), null, 5000)
                """) ?? ""
        }

        /// Moves all times back, as if this much time had passed.
        func pass(_ time: String) throws {
            try queue.connection.execute(
                """
                update postrider_internal.scheduled set run_at = run_at - interval '\(time)';
                update postrider_internal.failing_lanes set last_slot = last_slot - interval '\(time)',
                  last_check = last_check - interval '\(time)'
                """)
        }

        /// The rows in `scheduled`: the numbers with and without a slot, and the first and last wait of each in
        /// seconds.
        func left() throws -> [String] {
            try queue.rows(
                """
                select concat_ws(' ', case when has_slot then 'slots' else 'looks' end, count(*),
                  round(extract(epoch from min(run_at) - now()), 1), round(extract(epoch from max(run_at) - now()), 1))
                from postrider_internal.scheduled group by has_slot order by has_slot desc
                """
            ).map { $0[0] ?? "" }
        }

        /// Folds these deltas.
        func fold(_ tallies: String) throws {
            try queue.connection.execute(
                "insert into postrider_internal.job_deltas (tracks, states, jobs) values \(tallies)")
            _ = try queue.text("select postrider_internal.fold(\(worker), \(epoch), 0, 10000)::text")
        }

        func inOneMoment<Value>(_ body: (borrowing Fixture) throws -> Value) throws -> Value {
            try queue.connection.execute("begin")
            let value = try body(self)
            try queue.connection.execute("commit")
            return value
        }
    }

    @Test func `a failing lane promotes ten retries a second, and first attempts and other lanes at once`() throws {
        let fixture = try Fixture()
        try fixture.add(300, lane: "a", attempt: 1)
        try fixture.add(40, lane: "a", attempt: 0)
        try fixture.add(50, lane: "b", attempt: 3)
        let states = try fixture.inOneMoment { fixture in
            try [fixture.promote()] + fixture.left()
        }
        // Ten slots are one second's worth. Promote assigns the slots of five seconds.
        #expect(states == ["100 false", "slots 50 0.1 5.0", "looks 240 5.0 5.5"])
        #expect(try fixture.queue.number("select count(*) from postrider_internal.ready where attempt = 0") == 40)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.ready where attempt = 3") == 50)
        let disorder = """
            select count(*) from postrider_internal.scheduled s join postrider_internal.scheduled t
            on t.job_id > s.job_id and t.run_at < s.run_at
            """
        #expect(try fixture.queue.number(disorder) == 0)
        #expect(
            try fixture.queue.number(
                "select min(s.job_id) - max(r.job_id) from postrider_internal.scheduled s, postrider_internal.ready r where r.attempt = 1"
            ) == 1)
    }

    @Test func `retries with a promotion slot go at its time, and the others ask again later`() throws {
        let fixture = try Fixture()
        try fixture.add(80, lane: "a", attempt: 1)
        let states = try fixture.inOneMoment { fixture in
            var states = try [fixture.promote(), fixture.promote()] + fixture.left()
            try fixture.pass("2 s")
            states += try [fixture.promote()] + fixture.left()
            // After 20 seconds without calls, only one second's worth of unused slots remains.
            try fixture.pass("20 s")
            return try states + [fixture.promote()] + fixture.left()
        }
        #expect(
            states == [
                "10 false", "0 false", "slots 50 0.1 5.0", "looks 20 5.0 5.0",
                "20 false", "slots 30 0.1 3.0", "looks 20 3.0 3.0",
                "40 false", "slots 10 0.1 1.0",
            ])
    }

    @Test(arguments: [(0, 10), (400, 10), (1_000, 20), (20_000, 400)])
    func `the retry rate of a failing lane grows with its calls`(calls: Int, rate: Int) throws {
        let fixture = try Fixture(calls: calls)
        try fixture.add(3_000, lane: "a", attempt: 1)
        let states = try fixture.inOneMoment { try [$0.promote()] + $0.left() }
        #expect(states[0] == "\(rate) false")
        #expect(states[1].hasPrefix("slots \(5 * rate) "), "\(states)")
    }

    @Test func `the checks of a long retry backlog are spread to 500 a second`() throws {
        let fixture = try Fixture()
        try fixture.add(12_000, lane: "a", attempt: 1)
        let (states, last) = try fixture.inOneMoment { fixture in
            let states = try [fixture.promote(), fixture.promote(), fixture.promote()] + fixture.left()
            try fixture.queue.connection.execute(
                "update postrider_internal.failing_lanes set last_check = now() + interval '1 h'")
            try fixture.add(10, lane: "a", attempt: 1)
            return try (states, [fixture.promote()] + fixture.left())
        }
        #expect(states == ["10 true", "0 true", "0 false", "slots 50 0.1 5.0", "looks 11940 5.0 28.9"])
        // The longest wait is a quarter of an hour, as for backoffs.
        #expect(last[0] == "0 false" && last[2].hasSuffix(" 900.0"), "\(last)")
    }

    @Test func `the leader's fold counts the calls of failing lanes over all their tracks`() throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            """
            truncate postrider_internal.failing_lanes;
            insert into postrider_internal.tracks (queue, lane, priority) values ('other', 'a', 4), ('other', 'c', 0)
            """)
        let rows = """
            select lane || ' ' || calls || ' ' || good || ' ' || bad || ' ' || failing
              from postrider_internal.failing_lanes order by lane
            """
        // Tracks 1 and 3 are of lane a, 2 of b, 4 of c.
        //
        // Cancelled and returned jobs count as no calls. Withdrawn changes do not count either.
        try fixture.fold(
            """
            ('{1,3,2,1}', '{r,s,s,f}', '{30,5,90,7}'), ('{1,2,1,1}', '{r,r,c,h}', '{20,80,1000,50}'),
            ('{1,1,4}', '{s,s,r}', '{-500,1,5}')
            """)
        #expect(try fixture.queue.rows(rows) == [["a 63 6 50 false"], ["c 5 0 5 false"]])
        try fixture.fold("('{4}', '{s}', '{50}')")
        #expect(try fixture.queue.rows(rows) == [["a 63 6 50 false"]])
        #expect(
            try fixture.queue.rows(
                "select concat_ws(' ', queue, state, jobs) from postrider_internal.job_totals order by queue, state"
            ).map { $0[0] } == [
                "default c 1000", "default f 7", "default h 50", "default r 130", "default s -409", "other r 5",
                "other s 55",
            ])
    }

    @Test(arguments: [
        "update postrider_internal.failing_lanes set failing = false", "delete from postrider_internal.failing_lanes",
        "update postrider_internal.failing_lanes set at = now() - interval '61 s'",
        "insert into postrider.lanes (name, retry_budget) values ('a', 1)",
        "update postrider_internal.failing_lanes set lane = 'b'",
        "update postrider_internal.scheduled set has_slot = true",
    ])
    func `promote holds no retries in a lane that is not failing or has no budget`(change: String) throws {
        let fixture = try Fixture()
        try fixture.add(100, lane: "a", attempt: 1)
        try fixture.queue.connection.execute(change)
        #expect(try fixture.promote() == "100 false")
        #expect(try fixture.left() == [])
    }

    @Test func `the retry budget does not hold jobs that wait for the cache or a credential`() throws {
        let fixture = try Fixture()
        try fixture.add(60, lane: "a", attempt: 1)
        try fixture.queue.connection.execute(
            """
            insert into postrider_internal.cache_waits (job_id, key, seq, run_at)
            select job_id, 'x', job_id, run_at from postrider_internal.scheduled order by job_id desc limit 20;
            insert into postrider_internal.credential_waits (job_id, credential, seq, run_at)
            select job_id, 'x', job_id, run_at + case when job_id % 2 = 0 then '0 s' else '1 s' end::interval
            from postrider_internal.scheduled order by job_id limit 40
            """)
        // 20 jobs wait for the cache and 20 for a credential. The other jobs became due at another time.
        #expect(try fixture.promote() == "50 false")
        #expect(
            try fixture.queue.number("select count(*) from postrider_internal.scheduled where job_id % 2 = 1") == 10)
    }

    @Test func `a new leader continues the promotion slots, and a former leader promotes nothing`() throws {
        var fixture = try Fixture()
        try fixture.add(100, lane: "a", attempt: 1)
        try fixture.queue.connection.execute("begin")
        #expect(try fixture.promote() == "10 false")
        try fixture.add(100, lane: "a", attempt: 2)
        try fixture.queue.connection.execute("update postrider_internal.leases set until = now() - interval '1 s'")
        #expect(try fixture.promote() == "0 false, not to the last")
        try fixture.changeLeader()
        // The slots of the next five seconds are already assigned.
        #expect(try fixture.promote() == "0 false")
        #expect(try fixture.left() == ["slots 50 0.1 5.0", "looks 140 5.0 5.3"])
        try fixture.queue.connection.execute("commit")
    }

    @Test func `a job that a user reschedules is not held by the retry budget`() throws {
        let fixture = try Fixture()
        try fixture.add(100, lane: "a", attempt: 1)
        let moved = try fixture.inOneMoment { fixture in
            let first = try fixture.promote()
            let id = try fixture.queue.number("select max(job_id) from postrider_internal.scheduled")
            _ = try fixture.queue.rows("select postrider.reschedule(\(id), now())::text")
            return try [first, fixture.promote()]
        }
        #expect(moved == ["10 false", "1 false"])
    }

    @Test func `explain and lane_status show the retry budget of a failing lane`() throws {
        let fixture = try Fixture(calls: 1_000)
        try fixture.add(30, lane: "a", attempt: 1)
        try fixture.add(1, lane: "b", attempt: 1)
        try fixture.queue.connection.execute("insert into postrider.lanes (name, retry_budget) values ('a', 0.25)")
        #expect(try fixture.promote() == "26 false")
        let id = try fixture.queue.number("select min(job_id) from postrider_internal.scheduled")
        let sentence = try fixture.queue.text("select postrider.explain(\(id))") ?? ""
        #expect(
            sentence.contains("scheduled: attempt 2 follows at ")
                && sentence.contains(
                    ", at the earliest: most calls of its lane a fail, so its retries are limited to 25 a second (lanes.retry_budget, 0.25)"
                ), "\(sentence)")
        let status = """
            select lane, retry_budget::text, failing::text, retry_rate::text from postrider.lane_status order by lane
            """
        #expect(try fixture.queue.rows(status) == [["a", "0.25", "true", "25.0"], ["b", "0.2", "false", nil]])
        try fixture.queue.connection.execute("update postrider.lanes set retry_budget = 1")
        #expect(try fixture.queue.rows(status)[0] == ["a", "1", "true", nil])
        #expect(try fixture.queue.text("select postrider.explain(\(id))")?.contains("retry_budget") == false)
    }
}
