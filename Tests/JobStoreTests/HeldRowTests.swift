// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import Synchronization
import TestSupport
import Testing

/// Rows that another transaction locks, while the worker prepares calls and stores their ends.
struct HeldRowTests {
    @Test func `if the cache entry is locked, the answer is not stored and waiting jobs are called`() throws {
        let fixture = try CacheFixture()
        #expect(try fixture.fetch("ignore_cache", "true", "old") == "succeeded miss 200 old")
        let other = try PGConnection(fixture.queue.database)
        try other.execute("begin; select postrider.cache_invalidate()")
        // The test fails if a statement waits without end.
        try fixture.queue.connection.execute("set statement_timeout = '20s'")
        let leader = try fixture.insert("cache_version", "1")
        let follower = try fixture.insert("cache_version", "1")
        #expect(try fixture.take() == [leader])
        #expect(try fixture.answer(leader, "new") == "succeeded cache_version 200 new")
        #expect(try fixture.take() == [follower])
        #expect(try fixture.queue.number("select count(*) from postrider_internal.uncacheable_keys") == 0)
        let free = try fixture.insert(url: "http://h/free")
        #expect(try fixture.take() == [free])
        try fixture.answer(free)
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries where url like '%free'") == 1)
        try other.execute("rollback")
        #expect(try fixture.answer(follower, "newer") == "succeeded cache_version 200 newer")
        #expect(try fixture.fetch("cache_version", "1") == "succeeded hit 200 newer")
    }

    @Test func `a job that finds its cache flight locked twice still waits for the calling job`() throws {
        let fixture = try CacheFixture()
        let other = try fixture.queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('other', '0', 9) returning id")
        let leaders = [try fixture.insert("cache_version", "1"), try fixture.insert("cache_version", "2")]
        #expect(try fixture.take(worker: other) == leaders)
        // The second job makes the call from the commit of the first job's end on.
        //
        // At that moment the second round begins. It must go on although another transaction locks that row too.
        try fixture.queue.connection.execute(
            """
            create sequence fixture.rounds;
            create table fixture.gate ();
            create function fixture.pass() returns trigger language plpgsql as $$
            begin
              if nextval('fixture.rounds') = 2 then
                loop
                  exit when (select count(*) from fixture.gate) > 0;
                  perform pg_sleep(0.005);
                end loop;
              end if;
              return null;
            end $$;
            create trigger pass before insert
              on postrider_internal.cache_flights for each statement execute function fixture.pass()
            """)
        let ends = try PGConnection(fixture.queue.database)
        try ends.execute(
            "begin; select from postrider_internal.cache_flights where job_id = \(leaders[0]) for update")
        let job = try fixture.insert("cache_version", "2")
        let database = fixture.queue.database
        let worker = fixture.worker
        let failure = Mutex<(any Error)?>(nil)
        let taking = BackgroundThread {
            do {
                try PGConnection(database).execute(
                    "set statement_timeout = '60s'; /* taking */ select fixture.take(\(worker), null)")
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let holds = try PGConnection(database)
        do {
            defer { try? fixture.queue.connection.execute("insert into fixture.gate default values") }
            try fixture.queue.waitUntilBlocked("taking")
            try ends.execute(
                """
                delete from postrider_internal.cache_flights where job_id = \(leaders[0]);
                update postrider_internal.cache_flights set leads = true where job_id = \(leaders[1]); commit
                """)
            try holds.execute("begin; select from postrider_internal.cache_flights for update")
        }
        // Longer than the 20 ms that the second round allows for its INSERT.
        try TestClock.wait(20, for: "a wait in the second round") {
            let waits = """
                select exists (select from pg_locks l join pg_stat_activity a using (pid)
                 where a.query like '%/* taking%' and a.pid <> pg_backend_pid() and not l.granted
                   and l.waitstart < clock_timestamp() - interval '40 ms')
                """
            return try failure.withLock { $0 } != nil || fixture.queue.connection.query(waits).bool(0, 0)
        }
        try holds.execute("commit")
        taking.join()
        #expect(failure.withLock { $0 } == nil)
        // The job waits for the job that makes the call.
        #expect(try fixture.queue.state(job) == "scheduled")
    }

    @Test func `prepare waits once for all locked credentials, not once for each`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url)
            select 'c' || i, 'oauth2_refresh_token', 'http://h/token' from generate_series(1, 60) i;
            select postrider.log_in('c' || i, '{"refresh_token": "r"}') from generate_series(1, 60) i
            """)
        try fixture.queue.insert(60, "url, credential", "'http://h/a', 'c' || i")
        let other = try PGConnection(fixture.queue.database)
        try other.execute("begin; update postrider.credentials set scope = 'x' where name <> 'c9'")
        // 60 waits of half a second would take 30 s.
        try fixture.queue.connection.execute("set lock_timeout = '7s'; set statement_timeout = '20s'")
        try fixture.queue.connection.execute("begin")
        #expect(try fixture.take() == [])
        #expect(try fixture.queue.text("show lock_timeout") == "7s")
        try fixture.queue.connection.execute("commit")
        #expect(try fixture.queue.number("select count(*) from postrider_internal.credential_waits") == 60)
        // Only the last credential by name is unlocked, and it is being fetched.
        #expect(
            try fixture.queue.rows("select name from postrider.credentials where state = 'refreshing'") == [["c9"]])
        try other.execute("rollback")
    }

    @Test func `judge waits once for all locked credentials of answers with status 401`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url)
            select 'c' || i, 'oauth2_refresh_token', 'http://h/token' from generate_series(1, 60) i;
            select postrider.log_in('c' || i, '{"refresh_token": "r", "access_token": "a"}') from generate_series(1, 60) i;
            insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0)
            """)
        try queue.insert(60, "url, credential, backoff", "'http://h/', 'c' || i, '{1 h}'")
        try queue.connection.execute("update postrider_internal.ready set worker = 7, fence = 1, attempt = 1")
        let attempts = try queue.rows(
            "select seq::text, track::text, job_id::text from postrider_internal.ready order by job_id"
        )
        .enumerated().map { place, row in
            let lease = Lease(
                track: Int32(row[1] ?? "") ?? 0, seq: Int64(row[0] ?? "") ?? 0, fence: 1,
                jobID: Int64(row[2] ?? "") ?? 0, attempt: 1)
            var attempt = FinishedAttempt(
                lease: lease, verdict: Verdict(.failed, .httpStatus, "no"),
                outcome: CallOutcome(.response(HTTPResponse(status: 401))), isJudged: true)
            attempt.credential = "c\(place + 1)"
            attempt.credentialVersion = 1
            return attempt
        }
        let other = try PGConnection(queue.database)
        try other.execute("begin; update postrider.credentials set scope = 'x' where name <> 'c9'")
        try queue.connection.execute("set statement_timeout = '20s'")
        var ended = AttemptRows()
        var parameters = PGParameters()
        let batch = FinishBatch(attempts)
        batch.encode(worker: 7, appVersion: nil, rows: &ended, into: &parameters)
        #expect(try queue.connection.query(batch.statement.sql, &parameters).int64s(0, 0).count == 60)
        #expect(
            try queue.rows(
                "select error_code, count(*)::text from postrider_internal.past_attempts group by 1 order by 1")
                == [["refresh_failed", "59"], ["token_expired", "1"]])
        // A lock is no failure of the jobs. They wait for its end, and not for their own backoff.
        #expect(
            try queue.rows(
                """
                select round(extract(epoch from s.run_at - r.at))::text, s.attempt::text, count(*)::text
                  from postrider_internal.scheduled s cross
                    join (select min(run_at) as at from postrider_internal.scheduled) r group by 1, 2 order by 1
                """) == [["0", "0", "1"], ["5", "0", "59"]])
        try other.execute("rollback")
    }
}
