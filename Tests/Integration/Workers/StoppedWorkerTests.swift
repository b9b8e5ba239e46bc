// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// SIGTERM, a second SIGTERM, SIGSTOP, and SIGHUP under nohup.
struct StoppedWorkerTests {
    @Test func `calls that end within the drain are stored, and the worker claims no further jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--drain", "10s"])
        try queue.insert(50, "url", "'\(target.url)/wait/3000/' || i")
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        let asked = TestClock.now
        #expect(worker.end(SIGTERM) == 0)
        #expect(TestClock.seconds(since: asked) < Soak.seconds(5.5))
        #expect(target.requests.count == 8)
        #expect(try queue.states() == "ready 42, succeeded 8")
        #expect(
            try queue.number("select count(*) from postrider.job_status where state = 'ready' and attempt > 0") == 0)
        #expect(try queue.text("select state from postrider.worker_status") == "ended")
    }

    @Test func `calls that outlast the drain use no attempt and run again on another worker`() throws {
        let target = try TargetServer { $0.turn == 1 ? [.hang] : TargetStep.answer(200) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--drain", "500ms"])
        try queue.insert(8, "url, max_attempts", "'\(target.url)/' || i, 1")
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        let asked = TestClock.now
        #expect(worker.end(SIGTERM) == 0)
        #expect(TestClock.seconds(since: asked) < Soak.seconds(3))
        #expect(worker.count(of: "handed_back") == 1)
        #expect(
            try queue.number("select count(*) from postrider.job_status where attempt = 0 and error_code is null") == 8)
        let next = try RunningWorker(queue.database)
        defer { next.kill() }
        try queue.waitUntilDone(10)
        #expect(try queue.states() == "succeeded 8")
        #expect(try queue.number("select count(*) from postrider.job_status where attempt = 1") == 8)
        #expect(try queue.unexplainedCalls(target) == [])
    }

    @Test func `a worker under nohup ignores SIGHUP`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, under: ["nohup"])
        try worker.wait(for: "enlisted")
        worker.send(SIGHUP)
        try queue.insert("url", "'\(target.url)/'")
        try queue.waitUntilDone(10)
        #expect(worker.count(of: "draining") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a second signal ends a drain within 2 seconds with exit status 0`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--drain", "1h"])
        let id = try queue.insert("url", "'\(target.url)/hang'")
        try TestClock.wait(10, for: "a call") { target.underWay == 1 }
        worker.send(SIGTERM)
        try worker.wait(for: "draining")
        #expect(worker.isRunning)
        let asked = TestClock.now
        #expect(worker.end(SIGINT) == 0)
        #expect(TestClock.seconds(since: asked) < Soak.seconds(2))
        #expect(["ready", "scheduled"].contains(try queue.state(id)))
    }

    @Test func `a leader frozen by SIGSTOP is replaced within 15 s, and its late results are refused`() throws {
        // The first calls get their answers only when the stopped worker continues.
        let target = try TargetServer { request in
            request.turn == 1 && request.path.hasPrefix("/slow")
                ? [.pause(milliseconds: 12_000)] + TargetStep.answer(200, "\"old\"") : TargetStep.answer(200, "\"new\"")
        }
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        try queue.insert(8, "url", "'\(target.url)/slow/' || i")
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        try queue.wait(until: "select exists (select from postrider.worker_status where leader)")
        let old = try queue.rows("select owner::text, epoch::text from postrider_internal.leases where name = 'leader'")
        let owner = old[0][0] ?? ""
        let epoch = old[0][1] ?? ""
        let second = try RunningWorker(queue.database)
        try second.wait(for: "enlisted")
        first.send(SIGSTOP)
        let stopped = TestClock.now
        try queue.wait(
            15, until: "select owner <> \(owner) and until > now() from postrider_internal.leases where name = 'leader'"
        )
        try TestClock.wait(15, for: "second calls") { target.requests.count == 16 }
        #expect(TestClock.seconds(since: stopped) < Soak.seconds(15))
        try queue.waitUntilDone(5)
        #expect(try queue.number("select count(*) from postrider_internal.results where worker = \(owner)") == 0)

        // Runs every statement of a leader under the expired lease. They find work, and must do none of it.
        let due = try queue.insert("url, run_at", "'\(target.url)/later', now() + interval '1 h'")
        try queue.connection.execute(
            """
            begin;
            update postrider_internal.scheduled set run_at = now() - interval '1 s', expires_at = now()
              where job_id = \(due);
            """)
        let calls = try queue.rows(Self.leaderCalls(owner, epoch)).map { $0[0] ?? "" }
        #expect(calls.count >= 8)
        for call in calls { try queue.connection.execute("select * from \(call)") }
        #expect(try queue.number("select count(*) from postrider_internal.scheduled where job_id = \(due)") == 1)
        #expect(try queue.text("select postrider_internal.lead(\(owner))::text") == nil)
        #expect(
            try queue.number("select leads::int from postrider_internal.run_queue_duties(\(owner), \(epoch), null)")
                == 0)
        try queue.connection.execute("rollback")

        // The worker's calls now have their answers, and it tries to store them.
        try TestClock.wait(20, for: "the slow answers") { target.underWay == 0 }
        let print = "select md5(string_agg(r::text, '' order by job_id)) from postrider_internal.results r"
        let before = try queue.text(print)
        first.send(SIGCONT)
        try first.wait(for: "enlisted", times: 2)
        let id = try queue.insert("url", "'\(target.url)/after'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.text(print + " where job_id < \(due)") == before)
        try queue.report(
            .fenced, attack: "the leader is frozen until it has lost its leases", calls: target.requests.count,
            where: "j.run_at <= now()")
        #expect(try queue.number("select count(*) from postrider_internal.results where body = '\"old\"'") == 0)
        #expect(try queue.number("select count(*) from postrider.worker_status where leader") == 1)
        #expect(try queue.unexplainedCalls(target) == [])
    }

    /// A call of each function that takes a worker and its epoch. Limits are 100, other arguments null.
    private static func leaderCalls(_ owner: String, _ epoch: String) -> String {
        """
        select p.oid::regproc || '(' || (
          select string_agg(
            case a.name when 'p_worker' then '\(owner)' when 'p_epoch' then '\(epoch)' when 'p_limit' then '100'
                        when 'p_lists' then '100' else 'null' end, ', ' order by a.place)
            from unnest(p.proargnames) with ordinality a(name, place) where a.place <= p.pronargs) || ')'
        from pg_proc p
        where p.pronamespace = any (postrider_internal.own_schemas())
          and p.proargnames[1:2] = '{p_worker,p_epoch}'
        """
    }
}
