// SPDX-License-Identifier: Apache-2.0

import JobStore
import PGClient
import TestSupport
import Testing

/// The claim of a single announced job, and the jobs that it leaves to the full claim.
struct ClaimOneTests {
    /// A worker simulated by SQL, one track with its jobs, and a closed gate.
    private struct Fixture: ~Copyable {
        let queue: TestQueue
        let worker: Int64
        let track: Int64

        init() throws {
            let queue = try TestQueue()
            try queue.connection.execute(
                "insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0)")
            let track = try queue.number("select id from postrider_internal.tracks")
            let worker = try queue.number(
                "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
            try Self.prepare(queue.connection)
            _ = try queue.rows("select postrider_internal.close_hold_gate()::text")
            self.queue = queue
            self.track = track
            self.worker = worker
        }

        static func prepare(_ connection: borrowing PGConnection) throws {
            try connection.execute("set enable_seqscan = off; set synchronous_commit = on")
            // The enlisting does the same in the claiming session.
            try connection.execute("select postrider_internal.is_identified()")
            try connection.execute("prepare one as \(StoreStatement.claimOne.sql)")
        }

        func one(_ job: Int64, above: Int64 = 0) -> String { "execute one(\(worker), \(track), 0, \(above), \(job))" }

        var all: String {
            "select * from postrider_internal.claim(\(worker)::int, 0, 64, array[\(track)]::int[], '{64}', '{0}', true, '{0}')"
        }

        func shutGate() throws { _ = try queue.rows("select postrider_internal.close_hold_gate()::text") }

        func isOpen() throws -> Bool { try queue.number("select last_value from postrider_internal.hold_gate") == 2 }

        /// Whether the claim takes this job.
        func takes(_ job: Int64, above: Int64 = 0) throws -> Bool {
            let result = try queue.connection.query(one(job, above: above))
            guard result.rowCount > 0 else { return false }
            #expect(result.int64(0, 3) == job)
            return true
        }
    }

    @Test(arguments: [
        ("method", "'POST'"), ("method, body_json", "'POST', '{\"a\": 1}'"), ("method, body", "'PUT', '\\x00ff'"),
        ("delivery", "'at_most_once'"), ("priority, tag", "0, 'x'"),
    ])
    func `the single-job claim returns the same columns and values as the full claim`(columns: String, values: String)
        throws
    {
        let fixture = try Fixture()
        let first = try fixture.queue.insert("url, \(columns)", "'http://h/a?b=1', \(values)")
        _ = try fixture.queue.insert("url", "'http://h/later'")
        try fixture.queue.connection.execute("begin")
        let one = try fixture.queue.rows(fixture.one(first))
        let state = try fixture.queue.rows(
            "select worker::text, attempt::text, (since = now())::text from postrider_internal.ready where job_id = \(first)"
        )
        try fixture.queue.connection.execute("rollback; begin")
        let all = try fixture.queue.rows("\(fixture.all) order by seq limit 1")
        try fixture.queue.connection.execute("rollback")
        #expect(one.count == 1)
        // All columns except the fence, and the time that the job has waited.
        #expect(one.first.map { $0[..<2] + $0[3...].dropLast() } == all.first.map { $0[..<2] + $0[3...].dropLast() })
        #expect(state == [["\(fixture.worker)", "1", "true"]])
    }

    @Test func `the single-job claim waits for the disk only if the job is at_most_once`() throws {
        let fixture = try Fixture()
        for (delivery, commit) in [("at_least_once", "off"), ("at_most_once", "on")] {
            let job = try fixture.queue.insert("url, delivery", "'http://h/a', '\(delivery)'")
            try fixture.queue.connection.execute("begin")
            #expect(try fixture.takes(job))
            #expect(try fixture.queue.text("show synchronous_commit") == commit)
            try fixture.queue.connection.execute("commit")
        }
    }

    @Test(arguments: [
        "insert into postrider.lanes (name, max_in_flight) values ('other', 1)",
        "insert into postrider.lanes (name, rate_limit) values ('h:80', 1)",
        "select postrider.pause_lane('h:80')", "select postrider.pause_queue('default')",
        "insert into postrider_internal.lane_pauses (lane, until, reason) values ('h:80', now() + interval '1 h', '429')",
        """
        create function public.hook(bigint, text) returns void language sql as 'select';
        insert into postrider.hooks (event, function) values ('will_start', 'public.hook(bigint, text)')
        """,
    ])
    func `the single-job claim takes nothing while a lane limit, pause or hook exists`(hold: String) throws {
        let fixture = try Fixture()
        let job = try fixture.queue.insert("url", "'http://h/a'")
        let other = try PGConnection(fixture.queue.database)
        try other.execute("begin; \(hold)")
        // The gate is already open. The leader does not close it before that transaction has ended.
        try fixture.shutGate()
        #expect(try fixture.isOpen())
        #expect(try !fixture.takes(job))
        try other.execute("commit")
        try fixture.shutGate()
        #expect(try fixture.isOpen())
        #expect(try !fixture.takes(job))
        try fixture.queue.connection.execute(
            "delete from postrider.lanes; delete from postrider_internal.lane_pauses; delete from postrider.hooks; delete from postrider.queues"
        )
        #expect(try !fixture.takes(job))
        try fixture.shutGate()
        #expect(try !fixture.isOpen())
        #expect(try fixture.takes(job))
    }

    @Test(arguments: [
        ("service", "'s'"), ("headers", "'{\"A\": \"b\"}'"), ("timeout", "'5 s'"), ("response_format", "'json'"),
        ("cache_ttl", "'1 min'"), ("ok_statuses", "'{[200,300)}'"), ("expires_at", "now() + interval '1 h'"),
    ])
    func `the single-job claim leaves a job that is not plain, and no plain job overtakes it`(
        column: String, value: String
    ) throws {
        let fixture = try Fixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('s', 'http://h/')")
        let first = try fixture.queue.insert("url, lane, \(column)", "'http://h/a', 'h:80', \(value)")
        let plain = try fixture.queue.insert("url", "'http://h/b'")
        #expect(try !fixture.takes(first))
        #expect(try !fixture.takes(plain))
        #expect(try fixture.queue.number("select count(*) from postrider_internal.ready where worker = 0") == 2)
        let all = try fixture.queue.rows("select job_id::text from (\(fixture.all)) c order by seq")
        #expect(all == [["\(first)"], ["\(plain)"]])
    }

    @Test func `the leader cannot reap a worker during its claim, and a reaped worker claims nothing`() throws {
        let fixture = try Fixture()
        let job = try fixture.queue.insert("url", "'http://h/a'")
        let leader = try fixture.queue.number(
            "select worker from postrider_internal.enlist(0, 'leader', '0', null, 64, '{}', '{}')")
        let epoch = try fixture.queue.lead(leader)
        try fixture.queue.connection.execute(
            "update postrider_internal.workers set heartbeat_at = now() - interval '1 h' where id = \(fixture.worker)")
        let claims = try PGConnection(fixture.queue.database)
        try Fixture.prepare(claims)
        try claims.execute("begin")
        #expect(try claims.query(fixture.one(job)).int64(0, 3) == job)
        // The single-job claim does not hold the lock of a full claim. It does hold the row of the worker.
        #expect(throws: PGError.self) {
            try fixture.queue.rows("select jobs::text from postrider_internal.reap(\(leader)::int, \(epoch))")
        }
        try claims.execute("commit")
        #expect(
            try fixture.queue.rows(
                "select lost_worker::text, jobs::text from postrider_internal.reap(\(leader)::int, \(epoch))")
                == [["\(fixture.worker)", "1"]])
        #expect(try fixture.queue.number("select worker from postrider_internal.ready where job_id = \(job)") == 0)
        #expect(try !fixture.takes(job))
    }

    @Test func `the single-job claim skips a locked job and takes nothing if fences went backwards`() throws {
        let fixture = try Fixture()
        let first = try fixture.queue.insert("url", "'http://h/a'")
        let second = try fixture.queue.insert("url", "'http://h/b'")
        let holder = try PGConnection(fixture.queue.database)
        try holder.execute("begin; select from postrider_internal.ready where job_id = \(first) for update")
        #expect(try fixture.takes(second))
        try holder.execute("rollback")
        let fence = try fixture.queue.number("select last_value from postrider_internal.fences")
        #expect(try !fixture.takes(first, above: fence + 1_000))
        #expect(try fixture.takes(first, above: fence))
    }

    @Test func `the single-job claim takes only the first job of a track`() throws {
        let fixture = try Fixture()
        let first = try fixture.queue.insert("url", "'http://h/a'")
        let second = try fixture.queue.insert("url", "'http://h/b'")
        #expect(try !fixture.takes(second))
        #expect(try fixture.takes(first))
        #expect(try fixture.takes(second))
        #expect(try !fixture.takes(second))
    }

    @Test func `after fences are set back, the full claim continues above the highest known fence`() throws {
        let fixture = try Fixture()
        for _ in 1...2 { _ = try fixture.queue.insert("url", "'http://h/'") }
        func claim(above: Int64) throws -> Int64 {
            try fixture.queue.number(
                """
                select fence from postrider_internal.claim(\(fixture.worker)::int, \(above), 1,
                                                           array[\(fixture.track)]::int[], '{64}', '{0}', true, '{0}')
                """)
        }
        let known = try fixture.queue.number("select last_value + 1000 from postrider_internal.fences")
        #expect(try claim(above: known) == known + 1)
        // The fence is also above the fences of other workers.
        #expect(try claim(above: 0) == known + 2)
    }
}
