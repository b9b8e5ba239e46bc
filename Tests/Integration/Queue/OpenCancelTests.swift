// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// A client cancels or reschedules a job in a transaction that stays open.
///
/// Only that job waits for the transaction, even if a worker or session dies.
struct OpenCancelTests {
    /// The first call of each path never ends; the second does.
    private static func target() throws -> TargetServer {
        try TargetServer { request in
            request.path.hasPrefix("/ok") || request.turn > 1 ? TargetStep.answer(200) : [.hang]
        }
    }

    @Test func `another worker repeats a killed worker's calls, except for jobs with an open cancel`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        try queue.insert(5, "url", "'\(target.url)/lost/' || i")
        try TestClock.wait(10, for: "5 calls") { target.underWay == 5 }
        let held = try queue.number("select min(id) from postrider.jobs")
        let gone = try queue.number("select max(id) from postrider.jobs")
        let back = try PGConnection(queue.database)
        let away = try PGConnection(queue.database)
        try back.execute("begin; select postrider.cancel(\(held))")
        try away.execute("begin; select postrider.cancel(\(gone))")
        first.end(SIGKILL)
        let second = try RunningWorker(queue.database)
        try queue.wait(until: "select count(*) = 3 from postrider_internal.results")
        #expect(try queue.states() == "running 2, succeeded 3")
        try back.execute("rollback")
        try away.execute("commit")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(try queue.states() == "cancelled 1, succeeded 4")
        try queue.wait(until: "select not exists (select from postrider_internal.aborts)")
        #expect(try queue.number("select sum(in_flight) from postrider_internal.workers where lost") == 0)
        #expect(second.count(of: "statement_failed") == 0)
    }

    @Test func `a worker whose sessions are terminated runs other jobs during an open cancel`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let held = try queue.insert("url", "'\(target.url)/held'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cancel(\(held))")
        #expect(
            try queue.number(
                """
                select count(*) filter (where pg_terminate_backend(pid)) from pg_stat_activity
                where datname = current_database() and query not like '%cancel%'
                """) >= 2)
        let next = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: next, toBe: "succeeded")
        try other.execute("rollback")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(target.requests("/held").count == 2)
        #expect(worker.isRunning)
    }

    @Test func `an open reschedule to a new priority delays neither due jobs nor other priorities`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        let later = try queue.insert("url, run_at", "'\(target.url)/ok/later', now() + interval '1 h'")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.reschedule(\(later), priority => 9)")
        let held = try queue.insert("url, priority", "'\(target.url)/ok/held', 9")
        let fresh = try queue.insert("url, priority", "'\(target.url)/ok/fresh', 8")
        let planned = try queue.insert("url, run_at", "'\(target.url)/ok/planned', now() + interval '1 s'")
        for job in [fresh, planned] { try queue.wait(for: job, toBe: "succeeded") }
        #expect(try queue.state(held) == "ready")
        try other.execute("commit")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(worker.count(of: "statement_failed") == 0)
    }

    @Test func `an open cancel of one job of a large INSERT does not block its track`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        try queue.insert(10_000, "url, run_at", "'\(target.url)/ok', now()")
        let id = try queue.number("select max(id) from postrider.jobs")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cancel(\(id))")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        let next = try queue.insert("url, priority", "'\(target.url)/ok/next', 1")
        try queue.wait(for: next, toBe: "succeeded")
        try queue.wait(30, until: "select count(*) >= 9001 from postrider_internal.results")
        try other.execute("commit")
        try queue.waitUntilDone()
        #expect(try queue.states() == "cancelled 1, succeeded 10000")
        #expect(worker.count(of: "statement_failed") == 0)
    }
}
