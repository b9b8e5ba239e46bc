// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// One session of a worker falls silent while its connection stays open: the test stops its backend.
struct SilentSessionTests {
    private enum Session: String { case jobs, duties }

    /// The process of the session's backend, by the statement that it ran last. Returns 0 if it ran none yet.
    private func process(of session: Session, in queue: borrowing TestQueue) throws -> pid_t {
        let isJobs = "query ~ 'postrider_internal.(enlist|claim|finish|ready|schema)|listen postrider'"
        let found = try queue.connection.query(
            """
            select pid from pg_stat_activity where datname = current_database() and usename = 'test_worker'
            and query ~ 'postrider' and (\(isJobs)) = \(session == .jobs) order by backend_start limit 1
            """)
        return found.rowCount == 0 ? 0 : found.int32(0, 0)
    }

    /// Stops the backend of a session while it waits for a statement, also according to the server.
    private func stop(_ session: Session, of queue: borrowing TestQueue) throws -> pid_t {
        var stopped: pid_t = 0
        try TestClock.wait(20, for: "a moment without a statement of \(session)") {
            let process = try process(of: session, in: queue)
            // kill(0) would stop this process and its group.
            guard process > 0 else { return false }
            kill(process, SIGSTOP)
            // A statement that begins at this moment never ends.
            TestClock.sleep(milliseconds: 10)
            let idle = "select count(*) from pg_stat_activity where pid = \(process) and state = 'idle'"
            let isIdle = try queue.number(idle) == 1
            if isIdle { stopped = process } else { kill(process, SIGCONT) }
            return isIdle
        }
        return stopped
    }

    @Test func `a new session replaces a silent jobs session and stores its results within 15 s`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        for delivery in ["at_most_once", "at_least_once"] {
            try queue.insert(4, "url, method, delivery", "'\(target.url)/held/' || i, 'POST', '\(delivery)'")
        }
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        let process = try stop(.jobs, of: queue)
        defer { kill(process, SIGCONT) }
        let silent = TestClock.now
        target.release()
        try queue.insert(8, "url", "'\(target.url)/ok/' || i")
        try queue.waitUntilDone()
        #expect(TestClock.seconds(since: silent) < Soak.seconds(15))
        #expect(try queue.states() == "succeeded 16")
        try worker.wait(for: "enlisted", times: 2)
        #expect(worker.count(of: "connection_lost") == 1)
        #expect(worker.output.contains("the server is idle and does not answer the statements"))
        // The old backend ends when it continues.
        let print = "select md5(string_agg(r::text, '' order by job_id)) from postrider_internal.results r"
        let before = try queue.text(print)
        kill(process, SIGCONT)
        try queue.wait(until: "select count(*) = 0 from pg_stat_activity where pid = \(process)")
        #expect(try queue.text(print) == before)
        #expect(target.requests.count == 16)
        #expect(try queue.unexplainedCalls(target) == [])
        #expect(worker.count(of: "leases_lost") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a worker with a silent duties session sends heartbeats again before it counts as lost`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let other = try RunningWorker(queue.database)
        try other.wait(for: "enlisted")
        try worker.wait(for: "enlisted")
        try queue.insert(16, "url, method, delivery", "'\(target.url)/held/' || i, 'POST', 'at_most_once'")
        try TestClock.wait(10, for: "16 calls") { target.underWay == 16 }
        let process = try stop(.duties, of: queue)
        defer { kill(process, SIGCONT) }
        try TestClock.wait(15, for: "the loss of the session") {
            worker.count(of: "connection_lost") + other.count(of: "connection_lost") == 1
        }
        try TestClock.wait(10, for: "a new session") {
            worker.count(of: "connected") + other.count(of: "connected") == 5
        }
        let again = TestClock.now
        // The leader first reaps lost workers and then expires jobs. Both workers have sent heartbeats.
        let expired = try queue.insert("url, expires_at", "'\(target.url)/ok', now() + interval '1 s'")
        try queue.wait(for: expired, toBe: "expired")
        #expect(try queue.number("select count(*) from postrider.worker_status where state = 'running'") == 2)
        #expect(worker.count(of: "worker_reaped") + other.count(of: "worker_reaped") == 0)
        target.release()
        try queue.waitUntilDone()
        #expect(TestClock.seconds(since: again) < 30)
        #expect(try queue.states() == "expired 1, succeeded 16")
        #expect(target.requests.count == 16)
    }

    /// As behind PgBouncer: the worker cannot ask the server about the backend, so the time limit of the answer
    /// applies.
    ///
    /// The old backend is not terminated either.
    @Test func `late statements of a replaced silent session change no result`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--prepare", "off"])
        try queue.insert(4, "url, method, delivery", "'\(target.url)/held/' || i, 'POST', 'at_most_once'")
        try TestClock.wait(10, for: "4 calls") { target.underWay == 4 }
        let process = try stop(.jobs, of: queue)
        defer { kill(process, SIGCONT) }
        // The finish and the later claims wait in the socket of the stopped backend.
        target.release()
        try queue.insert(4, "url, method, delivery", "'\(target.url)/ok/' || i, 'POST', 'at_most_once'")
        try worker.wait(60, for: "enlisted", times: 2)
        try queue.waitUntilDone()
        let print = "select md5(string_agg(r::text, '' order by job_id)) from postrider_internal.results r"
        let before = try queue.text(print)
        kill(process, SIGCONT)
        try queue.wait(until: "select count(*) = 0 from pg_stat_activity where pid = \(process)")
        let last = try queue.insert("url", "'\(target.url)/ok/last'")
        try queue.wait(for: last, toBe: "succeeded")
        #expect(try queue.text(print + " where job_id < \(last)") == before)
        #expect(try queue.states() == "succeeded 9")
        #expect(target.requests.count == 9)
        #expect(worker.count(of: "leases_lost") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `with --prepare off, a worker replaces a silent duties session after a time limit`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--prepare", "off"])
        try worker.wait(for: "enlisted")
        let first = try queue.insert("url", "'\(target.url)/ok/first'")
        try queue.wait(for: first, toBe: "succeeded")
        let process = try stop(.duties, of: queue)
        defer { kill(process, SIGCONT) }
        try worker.wait(30, for: "connected", times: 3)
        let id = try queue.insert("url", "'\(target.url)/ok/second'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(worker.end(SIGTERM) == 0)
    }
}
