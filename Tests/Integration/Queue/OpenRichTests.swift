// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Open transactions lock the other rows that a prepared job needs: cookies, cached answers and more.
struct OpenRichTests {
    /// A service with a credential whose answers to `/set` bring a new cookie each time. All answers except the first
    /// are held.
    private func cookieTarget(_ queue: borrowing TestQueue) throws -> TargetServer {
        let target = try TargetServer { request in
            (request.path == "/set" && request.turn == 1 ? [] : [.held])
                + TargetStep.answer(200, headers: request.path == "/set" ? ["Set-Cookie: who=\(request.turn)"] : [])
        }
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('user', 'bearer');
            insert into postrider.services (name, base_url, credential, cookies) values ('s', '\(target.url)', 'user',
                true);
            select postrider.log_in('user', '{"access_token": "ada"}')
            """)
        return target
    }

    /// Starts several calls. The first one brings a new value for a cookie that is already in the jar.
    private func beginCalls(_ queue: borrowing TestQueue, _ target: TargetServer) throws -> [Int64] {
        let first = try queue.insert("service, url", "'s', '/set'")
        try queue.wait(for: first, toBe: "succeeded")
        var jobs = [try queue.insert("service, url", "'s', '/set'")]
        for other in 1...4 { jobs.append(try queue.insert("service, url", "'s', '/other/\(other)'")) }
        try TestClock.wait(20, for: "the calls") { target.underWay == jobs.count }
        return jobs
    }

    @Test(arguments: ["log_out('user')", #"log_in('user', '{"access_token": "bob"}')"#], ["commit", "rollback"])
    func `an open log_in or log_out does not delay answers, not even answers with cookies`(
        call: String, end: String
    ) throws {
        let queue = try TestQueue()
        let target = try cookieTarget(queue)
        let worker = try RunningWorker(queue.database)
        let jobs = try beginCalls(queue, target)
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.\(call)")
        target.release()
        for job in jobs { try queue.wait(for: job, toBe: "succeeded") }
        let plain = try queue.insert("url", "'\(target.url)/plain'")
        try queue.wait(for: plain, toBe: "succeeded")
        try other.execute(end)
        #expect(try queue.number("select count(*) from postrider_internal.cookies") == (end == "commit" ? 0 : 1))
        #expect(worker.count(of: "statement_failed") + worker.count(of: "worker_reaped") == 0)
    }

    @Test(arguments: ["commit", "rollback"])
    func `an open DELETE of a service does not delay the answers of its running calls`(end: String) throws {
        let queue = try TestQueue()
        let target = try cookieTarget(queue)
        let worker = try RunningWorker(queue.database)
        let jobs = try beginCalls(queue, target)
        let other = try PGConnection(queue.database)
        try other.execute("begin; delete from postrider.services")
        target.release()
        for job in jobs { try queue.wait(for: job, toBe: "succeeded") }
        try other.execute(end)
        #expect(try queue.number("select count(*) from postrider_internal.cookies") == (end == "commit" ? 0 : 1))
        #expect(worker.count(of: "statement_failed") + worker.count(of: "result_unstorable") == 0)
    }

    @Test func `an answer that waits for an operator's lock delays no other answer and is stored later`() throws {
        let queue = try TestQueue()
        let target = try cookieTarget(queue)
        let worker = try RunningWorker(queue.database)
        let jobs = try beginCalls(queue, target)
        let other = try PGConnection(queue.database)
        // An operator's trigger takes the lock.
        try queue.connection.execute(
            """
            create function public.gate() returns trigger language plpgsql as $$
            begin
              perform pg_advisory_xact_lock(4711);
              return new;
            end $$;
            create trigger gate before insert on postrider_internal.results for each row when (new.job_id = \(jobs[0]))
              execute function public.gate()
            """)
        try other.execute("begin; select pg_advisory_xact_lock(4711)")
        target.release()
        for job in jobs.dropFirst() { try queue.wait(for: job, toBe: "succeeded") }
        let late = try queue.insert("service, url", "'s', '/other/late'")
        try queue.wait(for: late, toBe: "succeeded")
        #expect(try queue.state(jobs[0]) == "running")
        try worker.wait(40, for: "statement_failed")
        // The worker's end waits for the lock, and leaves nothing behind.
        worker.send(SIGTERM)
        try other.execute("rollback")
        #expect(worker.wait() == 0)
        #expect(try queue.state(jobs[0]) == "succeeded")
        #expect(try queue.text("select line from postrider_internal.cookies")?.hasSuffix("\t2") == true)
        #expect(worker.count(of: "statement_failed") == 1, "\(worker.output)")
    }

    @Test func `an open cache_invalidate does not delay answers that replace the same cache entries`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 50)
        func fetchAll() throws {
            try queue.insert(40, "url, cache_ttl, ignore_cache", "'\(target.url)/ok/' || i, '1 h', true")
        }
        try fetchAll()
        try queue.waitUntilDone()
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cache_invalidate()")
        // A lock wait of a second for each of the 40 answers would exceed the statement timeout of 30 s.
        try fetchAll()
        try queue.insert(20, "url", "'\(target.url)/ok/plain/' || i")
        try queue.waitUntilDone(15)
        #expect(try queue.states() == "succeeded 100")
        #expect(try queue.number("select count(*) from postrider_internal.uncacheable_keys") == 0)
        try other.execute("rollback")
        #expect(worker.count(of: "statement_failed") + worker.count(of: "worker_reaped") == 0)
    }

    @Test func `an open cancel of claimed jobs before their calls neither holds slots nor delays other jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 4)
        let first = try queue.insert("url, cache_ttl", "'\(target.url)/ok/cached', '1 h'")
        try queue.wait(for: first, toBe: "succeeded")
        // The job stays between claim and call as long as the cache cannot be read.
        let gate = try PGConnection(queue.database)
        try gate.execute("begin; lock table postrider.cache_entries")
        try queue.insert(4, "url, cache_ttl, tag", "'\(target.url)/ok/cached', '1 h', 'held'")
        try queue.wait(until: "select count(*) = 4 from postrider_internal.ready where worker > 0")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cancel_all(tag => 'held')")
        try gate.execute("rollback")
        let rich = try queue.insert("url, cache_ttl", "'\(target.url)/ok/rich', '1 h'")
        let plain = try queue.insert("url", "'\(target.url)/ok/plain'")
        for job in [rich, plain] { try queue.wait(for: job, toBe: "succeeded") }
        #expect(
            try queue.number("select count(*) from postrider.job_status where tag = 'held' and state = 'succeeded'")
                == 0)
        try other.execute("rollback")
        try queue.wait(60, until: "select count(*) = 7 from postrider_internal.results where state = 's'")
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
        #expect(worker.count(of: "worker_reaped") == 0)
    }
}
