// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The findings of workers in a restored database.
///
/// The tests store another timeline, as a promotion would.
struct RestoredRowsTests {
    private static let start = "00000000-0000-4000-8000-00000000000a"

    private func enlist(_ old: Int64, start: String = start, identity: String = "null", wal: Int64 = 0) -> String {
        """
        postrider_internal.enlist(\(old)::int, 'a', '0', null, 8, array[r.track], array[r.seq], 'release', array[r.fence], '\(start)',
          \(identity), \(wal))
        """
    }

    private static let newest = "(select i.id from postrider_internal.identities i order by i.number desc limit 1)"

    /// A worker with two leases, one of them for an at_most_once job.
    private func leased(_ queue: borrowing TestQueue) throws -> Int64 {
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'a', '0', null, 8, '{}', '{}', p_start => '\(Self.start)')"
        )
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0);
            insert into postrider.jobs (url, delivery) values ('http://h/once', 'at_most_once'),
              ('http://h/often', default);
            update postrider_internal.ready set worker = \(worker), fence = nextval('postrider_internal.fences'),
              attempt = 1, since = now();
            update postrider_internal.workers set in_flight = 2;
            insert into postrider_internal.aborts (worker, fence, job_id) values (\(worker), 1, 1);
            update postrider_internal.leases set owner = \(worker), epoch = 3, until = now() + interval '10 s'
            """)
        return worker
    }

    @Test func `jobs inserted after a restore and before the first worker get new idempotency keys`() throws {
        let queue = try TestQueue()
        _ = try leased(queue)
        let last = try queue.number("select max(id) from postrider.jobs")
        try queue.connection.execute("update postrider_internal.identities set timeline = timeline + 1")
        // This transaction stays open longer than the first worker.
        let open = try PGConnection(queue.database)
        try open.execute("begin; insert into postrider.jobs (url) values ('http://h/open')")
        let client = try TestRole.client.connect(queue)
        try client.execute("insert into postrider.jobs (url) values ('http://h/1'), ('http://h/2')")
        try client.execute("insert into postrider.jobs (url) select 'http://h/' || i from generate_series(1, 12000) i")
        try client.execute("select postrider.submit('{\"chain\": [{\"url\": \"http://h/\"}]}')")
        let above = try queue.number(
            "select e.keys_above[1] from postrider_internal.enlist(0, 'a', '0', null, 8, '{}', '{}') e")
        #expect(above == last)
        try open.execute("commit")
        #expect(try queue.number("select min(id) from postrider.jobs where url = 'http://h/open'") > above)
        try queue.connection.execute("delete from postrider_internal.early_inserts")
        // After that, an INSERT records nothing.
        try client.execute("insert into postrider.jobs (url) values ('http://h/3')")
        #expect(try queue.number("select count(*) from postrider_internal.early_inserts") == 0)
    }

    @Test func `an INSERT that commits after the first worker gives no new keys after the next restore`() throws {
        let queue = try TestQueue()
        _ = try leased(queue)
        let restore =
            "update postrider_internal.identities set timeline = timeline + 1 where number = (select max(number) from postrider_internal.identities)"
        let worker = "select e.keys_above::text from postrider_internal.enlist(0, 'a', '0', null, 8, '{}', '{}') e"
        try queue.connection.execute(restore)
        let open = try PGConnection(queue.database)
        try open.execute("begin; insert into postrider.jobs (url) values ('http://h/open')")
        _ = try queue.rows(worker)
        try open.execute("commit")
        try queue.insert("url", "'http://h/called'")
        let called = try queue.number("select max(id) from postrider.jobs")
        try queue.connection.execute(restore)
        #expect(try queue.rows(worker) == [["{2,\(called)}"]])
    }

    @Test func `an early INSERT names the identity that was the newest before its check`() throws {
        let queue = try TestQueue()
        _ = try leased(queue)
        // The first worker stores the new identity during the check.
        try queue.connection.execute(
            """
            create or replace function postrider_internal.is_identified() returns boolean language plpgsql as $$
            begin
              insert into postrider_internal.identities (above_id, system_identifier, timeline, database_oid, workers_oid)
              select above_id, system_identifier, timeline + 1, database_oid, workers_oid
                from postrider_internal.identities;
              return false;
            end $$
            """)
        let fresh = try PGConnection(queue.database)
        try fresh.execute("insert into postrider.jobs (url) values ('http://h/')")
        #expect(
            try queue.number("select after_identity from postrider_internal.early_inserts") == 1)
    }

    @Test func `after a restore, the first worker ends all leases and a second worker finds none`() throws {
        let queue = try TestQueue()
        let old = try leased(queue)
        try queue.connection.execute("update postrider_internal.identities set timeline = timeline + 1")
        let first = try queue.rows(
            """
            select e.worker::text, cardinality(e.held)::text, e.lost_leases::text, e.unknown_jobs::text,
                   e.keys_above::text
            from (select array_agg(r.track) t, array_agg(r.seq) s, array_agg(r.fence) f
                  from postrider_internal.ready r) r,
              postrider_internal.enlist(\(old)::int, 'a', '0', null, 8, r.t, r.s, 'release', r.f, '\(Self.start)', \(Self.newest)) e
            """)[0]
        #expect(first[1...] == ["0", "2", "1", "{2}"])
        #expect(try queue.states() == "ready 1, unknown 1")
        #expect(try queue.number("select attempt from postrider_internal.ready") == 1)
        #expect(
            try queue.number("select count(*) from postrider_internal.past_attempts where error_code = 'lost_worker'")
                == 1)
        #expect(try queue.number("select count(*) from postrider_internal.workers where id = \(old) and lost") == 1)
        #expect(try queue.number("select count(*) from postrider_internal.aborts") == 0)
        #expect(try queue.number("select count(*) from postrider_internal.leases where until > now()") == 0)
        let clock = "extract(epoch from now() - interval '1 min') * 1000000"
        #expect(try queue.number("select (last_value > \(clock))::int from postrider_internal.fences") == 1)
        #expect(try queue.number("select (epoch > \(clock))::int from postrider_internal.leases") == 1)
        #expect(Int64(first[0] ?? "") ?? 0 > 200_000_000)
        let second = try queue.rows(
            "select e.lost_leases::text from postrider_internal.enlist(0, 'b', '0', null, 8, '{}', '{}') e")
        #expect(second == [[nil]])
        #expect(try queue.rows("select worker, lost_leases::text from postrider.restores") == [["a", "2"]])
    }

    @Test func `if two workers enlist at once after a restore, only the first ends the leases`() throws {
        let queue = try TestQueue()
        _ = try leased(queue)
        try queue.connection.execute("update postrider_internal.identities set timeline = timeline + 1")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider_internal.enlist(0, 'b', '0', null, 8, '{}', '{}')")
        let refused = #expect(throws: PGError.self) {
            try queue.rows("select e.worker::text from postrider_internal.enlist(0, 'c', '0', null, 8, '{}', '{}') e")
        }
        #expect(refused?.sqlState == .lockNotAvailable)
        try other.execute("commit")
        #expect(
            try queue.rows(
                "select e.lost_leases::text from postrider_internal.enlist(0, 'c', '0', null, 8, '{}', '{}') e")
                == [[nil]])
        #expect(try queue.number("select count(*) from postrider.restores") == 1)
    }

    @Test(arguments: ["null", "gen_random_uuid()"])
    func `a worker number from another database moves no leases at enlist`(identity: String) throws {
        let queue = try TestQueue()
        let other = try leased(queue)
        let sql =
            "select cardinality(e.held) from postrider_internal.ready r, \(enlist(other, identity: identity)) e limit 1"
        #expect(try queue.number(sql) == 0)
        #expect(
            try queue.number("select count(*) from postrider_internal.workers where id = \(other) and ended_at is null")
                == 1)
        #expect(try queue.number("select count(*) from postrider_internal.ready where worker = \(other)") == 2)
        #expect(try queue.number("select count(*) from postrider.restores") == 0)
    }

    @Test(arguments: [(true, 0), (false, 1)])
    func `enlist recognises a restored database by the worker's start or by the WAL position`(
        isOtherStart: Bool, extraWAL: Int64
    ) throws {
        let queue = try TestQueue()
        let worker = try leased(queue)
        let start = isOtherStart ? "00000000-0000-4000-8000-00000000000b" : Self.start
        // A timeline with the same identity that is a megabyte ahead.
        let wal = try extraWAL * (queue.number("select (pg_current_wal_flush_lsn() - '0/0')::bigint") + 1_000_000_000)
        #expect(
            try queue.number(
                "select e.lost_leases from \(enlist(worker, start: start, identity: Self.newest, wal: wal).replacing("r.track", with: "1").replacing("r.seq", with: "1").replacing("r.fence", with: "1")) e"
            ) == 2)
    }

    @Test func `before a worker enlists in a restored database, claim, lead and beat are refused`() throws {
        let queue = try TestQueue()
        let worker = try leased(queue)
        try queue.connection.execute("update postrider_internal.identities set timeline = timeline + 1")
        let fresh = try PGConnection(queue.database)
        let claim = "select postrider_internal.claim(\(worker)::int, 0, 1, '{1}', '{1}', '{0}', true, '{0}')"
        #expect(TestRole.refusal(of: claim, fresh) == "PR008")
        #expect(try fresh.query("select postrider_internal.lead(\(worker)::int)").isNull(0, 0))
        #expect(try !fresh.query("select postrider_internal.leads(\(worker)::int, 3)").bool(0, 0))
        #expect(try !fresh.query("select postrider_internal.beat(\(worker)::int, 0, false, false)").bool(0, 0))
        try queue.connection.execute("update postrider_internal.identities set timeline = timeline - 1")
        #expect(try fresh.query("select postrider_internal.beat(\(worker)::int, 0, false, false)").bool(0, 0))
        #expect(TestRole.refusal(of: claim, fresh) == nil)
    }

    @Test func `end_unknown ends at_most_once jobs that may have been called since the backup`() throws {
        let queue = try TestQueue()
        _ = try leased(queue)
        try queue.insert("url, delivery", "'http://h/', 'at_most_once'")
        try queue.insert("url, delivery, run_at", "'http://h/', 'at_most_once', now() + interval '1 h'")
        try queue.insert("url, run_at", "'http://h/', now() + interval '1 h'")
        let admin = try TestRole.admin.connect(queue)
        #expect(try admin.query("select postrider.end_unknown(before => now())").int64(0, 0) == 2)
        #expect(try queue.states() == "running 2, scheduled 1, unknown 2")
        #expect(
            try queue.number("select count(*) from postrider_internal.results where error_code = 'lost_worker'") == 2)
        #expect(try admin.query("select postrider.end_unknown(before => now())").int64(0, 0) == 0)
        #expect(try admin.query("select postrider.retry_failed()").int64(0, 0) == 0)
        try queue.insert("url, delivery", "'http://h/', 'at_most_once'")
        #expect(try admin.query("select postrider.end_unknown(before => now() - interval '1 h')").int64(0, 0) == 0)
        #expect(TestRole.refusal(of: "select postrider.end_unknown(null)", admin) == "PR001")
    }

    @Test func `a heartbeat with another start or a WAL position ahead of the database is refused`() throws {
        let queue = try TestQueue()
        let worker = try leased(queue)
        let beat = "select postrider_internal.beat(\(worker)::int, 0, false, false"
        #expect(try queue.connection.query("\(beat), '\(Self.start)', 0)").bool(0, 0))
        #expect(try !queue.connection.query("\(beat), gen_random_uuid(), 0)").bool(0, 0))
        #expect(
            try !queue.connection.query(
                "\(beat), '\(Self.start)', (pg_current_wal_flush_lsn() - '0/0')::bigint + 1000000000)"
            ).bool(0, 0))
    }
}
