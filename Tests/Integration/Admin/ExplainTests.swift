// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Explanations for jobs without a hold: the jobs before it, and the workers that could take it.
struct ExplainTests {
    /// Registers workers that are only rows: number 1 takes all queues, number 2 the queue `mail`.
    private func enlist(_ queue: borrowing TestQueue, name: String, queues: String = "null", slots: Int = 2) throws {
        _ = try queue.connection.query(
            "select worker from postrider_internal.enlist(0, '\(name)', '0.1.0', \(queues), \(slots), '{}', '{}')")
    }

    private func explain(_ queue: borrowing TestQueue, _ id: Int64) throws -> String {
        try queue.text("select postrider.explain(\(id))") ?? ""
    }

    private func silence(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            "set timezone = 'UTC'; update postrider_internal.workers set heartbeat_at = '2026-01-02 03:04:05+00' where ended_at is null"
        )
    }

    @Test func `explain says which worker is missing if no live worker takes the queue`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        let later = try queue.insert("url, run_at", "'http://h/', now() + interval '1 day'")
        let none = "no worker takes queue default now: none is running, start one with worker."
        #expect(try explain(queue, id) == "Job \(id) is ready, but \(none)")
        #expect(try explain(queue, later).hasSuffix(", but \(none)"))
        try enlist(queue, name: "a", queues: "array['mail']")
        #expect(try explain(queue, id).hasSuffix("queue default now: start one with worker --queue default."))
        try enlist(queue, name: "b")
        #expect(try explain(queue, id).hasSuffix("2 free slot(s) take queue default; it begins in a moment."))
        try silence(queue)
        #expect(
            try explain(queue, id)
                == "Job \(id) is ready, but no worker takes queue default now: b has sent no heartbeat since 2026-01-02 03:04:05 UTC; restart it, or start another worker."
        )
        // Of several, it names the one that was alive last.
        try enlist(queue, name: "c")
        try queue.connection.execute(
            "update postrider_internal.workers set heartbeat_at = '2026-01-02 03:09:00+00' where name = 'c'")
        #expect(
            try explain(queue, id).hasSuffix(
                "now: c has sent no heartbeat since 2026-01-02 03:09:00 UTC; restart it, or start another worker."))
    }

    @Test func `explain counts running calls and jobs of higher priority as they are now`() throws {
        let queue = try TestQueue()
        try enlist(queue, name: "a")
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 9), ('default', 'h:80', 0), ('mail', 'h:80', 4)"
        )
        try queue.insert(5, "url, priority", "'http://h/', 9")
        try queue.insert(3, "url", "'http://h/'")
        let id = try queue.insert("url", "'http://h/'")
        let other = try queue.insert("url, queue, priority", "'http://h/', 'mail', 4")
        #expect(
            try explain(queue, id).contains(
                "is ready: 3 job(s) before it in lane h:80 at priority 0 and 6 of higher priority, 1 worker(s)"))
        #expect(
            try explain(queue, other).contains(
                "is ready: 0 job(s) before it in lane h:80 at priority 4 and 5 of higher priority"))
        // The worker has taken jobs since its last heartbeat.
        try queue.connection.execute(
            """
            update postrider_internal.ready set worker = 1, since = now(), attempt = 1
             where ctid = any (array(select ctid from postrider_internal.ready order by job_id limit 2))
            """)
        let busy = try explain(queue, id)
        #expect(
            busy.contains(" and 4 of higher priority, 1 worker(s) with 0 free slot(s) take queue default"), "\(busy)")
        #expect(busy.hasSuffix("; it begins when these jobs have begun and a slot is free."), "\(busy)")
        // Jobs of a paused queue do not count as jobs before it.
        try queue.connection.execute("select postrider.pause_queue('mail')")
        #expect(try explain(queue, id).contains(" and 3 of higher priority, "))
        try queue.connection.execute("delete from postrider_internal.ready where worker = 0 and job_id <> \(id)")
        #expect(try explain(queue, id).hasSuffix("; it begins when a call has ended."))
    }

    @Test func `explain shows a rescheduled job at its new priority`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 1)
        defer { worker.kill() }
        let hung = try queue.insert("url", "'\(target.url)/hang'")
        try queue.wait(for: hung, toBe: "running")
        try queue.insert(3, "url", "'\(target.url)/ok'")
        let id = try queue.insert("url", "'\(target.url)/ok'")
        try queue.connection.execute("select postrider.reschedule(\(id), priority => 50)")
        try queue.wait(for: id, toBe: "ready")
        #expect(
            try explain(queue, id).contains(
                "is ready: 0 job(s) before it in lane 127.0.0.1:\(target.port) at priority 50, 1 worker(s) with 0 free")
        )
    }

    @Test func `explain distinguishes a job of a large INSERT from a job behind the INSERT`() throws {
        let queue = try TestQueue()
        try enlist(queue, name: "a")
        try queue.insert(12_000, "url", "'http://h/' || i")
        let large = try queue.number("select max(id) from postrider.jobs")
        let small = try queue.insert("url", "'http://h/small'")
        #expect(
            try explain(queue, large)
                == "Job \(large) is ready: a large INSERT added it, and the leader is moving these jobs to lane h:80.")
        #expect(
            try explain(queue, small)
                == "Job \(small) is ready: it waits until the leader has moved the jobs of a large INSERT, and then enters lane h:80."
        )
        // Most of the list has been fed, so the job's place is unknown.
        try queue.connection.execute("delete from postrider_internal.intake where last_id < \(large - 2000)")
        let either = "is ready: it is part of a large INSERT or waits behind one, and the leader is moving it to lane"
        #expect(try explain(queue, large) == "Job \(large) \(either) h:80.")
        try queue.connection.execute("delete from postrider_internal.intake where last_id < \(small)")
        #expect(try explain(queue, small) == "Job \(small) \(either) h:80.")
    }

    @Test func `explain gives the time at which a job that has not started expires`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set timezone = 'UTC'")
        try enlist(queue, name: "a")
        let later = "'http://h/', '2100-01-02 03:04:05+00'"
        let ends = "; it ends if it has not begun by its expires_at, 2100-01-02 03:04:05 UTC."
        let ready = try queue.insert("url, expires_at", later)
        #expect(try explain(queue, ready).hasSuffix("; it begins in a moment" + ends))
        let planned = try queue.insert("url, expires_at, run_at", later + ", now() + interval '1 h'")
        #expect(try explain(queue, planned).hasSuffix(ends))
        // The next attempt would come after the expiry.
        let retried = try queue.insert("url, expires_at, run_at", later + ", now() + interval '1 h'")
        try queue.connection.execute(
            "update postrider_internal.scheduled set attempt = 1, run_at = '2101-01-01' where job_id = \(retried)")
        #expect(
            try explain(queue, retried).contains(
                "; but its expires_at, 2100-01-02 03:04:05 UTC, comes before that and ends it"))
        let over = try queue.insert(
            "url, run_at, expires_at", "'http://h/', now() - interval '2 s', now() - interval '1 s'")
        #expect(try explain(queue, over).hasSuffix(" UTC, has passed, so it ends in a moment."))
        try queue.connection.execute("select postrider.pause_lane('h:80')")
        #expect(try explain(queue, ready).contains(" is paused until it is resumed"))
        #expect(try explain(queue, ready).hasSuffix(ends))
        let endless = try queue.insert("url, expires_at", "'http://h/', 'infinity'")
        #expect(try !explain(queue, endless).contains("expires_at"))
    }

    @Test func `explain says why a member waits for its turn and whether its expires_at has passed`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set timezone = 'UTC'")
        let batch = try queue.number(
            """
            select postrider.submit('{"max_parallel": 1, "batch": [
              {"url": "http://h/1", "run_at": "2100-01-02T00:00:00Z"}, {"url": "http://h/2"}, {"url": "http://h/3"}]}')
            """)
        #expect(
            try explain(queue, batch).hasPrefix(
                "Job \(batch) is running: 0 of the 3 members of this batch have ended so far, 0 are under way and 3 wait. "
                    + "Job \(batch + 1) is scheduled: it runs at 2100-01-02 00:00:00 UTC"))
        let turn =
            "is waiting: batch \(batch) runs 1 member(s) at once (max_parallel), and others came first; "
            + "1 of these keep(s) a place while waiting for a run_at or a retry"
        #expect(try explain(queue, batch + 2) == "Job \(batch + 2) \(turn).")
        let late = try queue.insert(
            "parent_id, url, run_at, expires_at", "\(batch), 'http://h/4', '2026-01-01 00:00Z', '2026-01-01 00:01Z'")
        let passed = "; its expires_at, 2026-01-01 00:01:00 UTC, has passed, so it ends as expired when its turn comes."
        #expect(try explain(queue, late) == "Job \(late) \(turn)\(passed)")
        #expect(
            try explain(queue, batch).contains(
                "0 of the 4 members of this batch have ended so far, 0 are under way and 4 wait."))
        let planned = try queue.number(
            """
            select postrider.submit('{"run_at": "2100-01-02T00:00:00Z", "batch": [{"url": "http://h/1"}, {"url": "http://h/2"}]}')
            """)
        #expect(
            try explain(queue, planned).hasSuffix(
                "have ended so far, 0 are under way and 2 wait, and none begins before 2100-01-02 00:00:00 UTC."))
        let chain = try queue.number(
            """
            select postrider.submit('{"expires_at": "2100-01-02T00:00:00Z", "chain": [{"url": "http://h/1"},
              {"batch": [{"url": "http://h/2", "run_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-01T00:01:00Z"}]}]}')
            """)
        #expect(
            try explain(queue, chain + 2).hasSuffix(
                "; see explain(\(chain + 1)); it ends as expired if its turn comes after its expires_at, 2100-01-02 00:00:00 UTC."
            ))
        #expect(try explain(queue, chain + 3).hasSuffix("; see explain(\(chain + 2))\(passed)"))
    }

    @Test func `explain shows the previous attempt's error before a retry, and a silent worker during a call`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let worker = try RunningWorker(queue.database)
        let retried = try queue.insert("url, backoff", "'\(target.url)/status/503', array['1 h']::interval[]")
        try queue.wait(for: retried, toBe: "scheduled")
        let sentence = try explain(queue, retried)
        #expect(
            sentence.contains("attempt 2 follows at ")
                && sentence.contains("; attempt 1 ended with http_status: the server answered 503"), "\(sentence)")
        let hung = try queue.insert("url", "'\(target.url)/hang'")
        try queue.wait(for: hung, toBe: "running")
        worker.send(SIGSTOP)
        try silence(queue)
        #expect(
            try explain(queue, hung).hasSuffix(
                ", but the worker has sent no heartbeat since 03:04:05 UTC, and another worker takes over the job 15 s later."
            )
        )
        worker.send(SIGKILL)
    }
}
