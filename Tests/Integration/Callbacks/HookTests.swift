// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Functions that run for every job of a service or queue.
struct HookTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    private static let events = ["will_start", "will_stop", "did_stop"]

    private func queueWithHooks() throws -> TestQueue {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        for event in Self.events.reversed() {
            try queue.connection.execute(
                "insert into postrider.hooks (event, function) values ('\(event)', 'app.hook(bigint, text)')")
        }
        return queue
    }

    @Test func `hooks run before the call and before and after the callback, also for older jobs`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let early = try queue.insert("url", "'\(target.url)/ok'")
        for event in Self.events.reversed() {
            try queue.connection.execute(
                "insert into postrider.hooks (event, function) values ('\(event)', 'app.hook(bigint, text)')")
        }
        let good = try queue.insert("url, on_success", "'\(target.url)/status/503,200', 'note'")
        let bad = try queue.insert("url, on_failure", "'\(target.url)/status/404', 'note'")
        let worker = try RunningWorker(queue.database)
        try queue.wait(for: good, toBe: "succeeded")
        try queue.wait(for: bad, toBe: "failed")
        try queue.wait(for: early, toBe: "succeeded")
        let start = "will_start running"
        #expect(try CallbackLog.lines(queue, of: early) == [start, "will_stop succeeded", "did_stop succeeded"])
        #expect(
            try CallbackLog.lines(queue, of: good)
                == [start, "will_stop succeeded", "callback succeeded", "did_stop succeeded"])
        #expect(
            try CallbackLog.lines(queue, of: bad) == [start, "will_stop failed", "callback failed", "did_stop failed"])
        // A retry by a user is a new run.
        try queue.connection.execute("select postrider.retry(\(bad))")
        try queue.wait(until: "select count(*) = 8 from app.log where job = \(bad)")
        #expect(try queue.number("select count(*) from postrider_internal.hook_starts") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a call starts after its will_start hooks have ended, even if a hook fails`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.gate(bigint, text) returns void language plpgsql as $$
            begin
              perform pg_advisory_xact_lock(77);
            end $$;
            create function app.broken(bigint, text) returns void language plpgsql as $$
            begin
              raise exception 'broken hook';
            end $$;
            insert into postrider.hooks (event, function) values
              ('will_start', 'app.gate(bigint, text)'), ('will_start', 'app.broken(bigint, text)')
            """)
        let keeper = try PGConnection(queue.database)
        try keeper.execute("select pg_advisory_lock(77)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url", "'\(target.url)/ok'")
        try queue.waitUntilBlocked("begin_job")
        #expect(target.requests.isEmpty)
        #expect(try queue.state(id) == "running")
        let held = "; its will_start hooks come before the call and have not ended."
        #expect(try queue.text("select postrider.explain(\(id))")?.hasSuffix(held) == true)
        try keeper.execute("select pg_advisory_unlock(77)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.count == 1)
        #expect(
            try queue.rows("select event, function, error from postrider.callback_errors where job_id = \(id)")
                == [["will_start", "app.broken(bigint, text)", "broken hook"]])
        let called = try queue.insert("url", "'\(target.url)/hang'")
        try TestClock.wait(20, for: "the call") { target.underWay == 1 }
        #expect(try queue.text("select postrider.explain(\(called))")?.contains("hooks") == false)
    }

    @Test func `a job that is cancelled or expires during its will_start hook is not called`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.stop(bigint, text) returns void language sql as $$ select postrider.cancel($1) $$;
            create function app.linger(bigint, text) returns void language sql as $$
              update postrider_internal.ready set expires_at = clock_timestamp() where job_id = $1 $$;
            insert into postrider.hooks (event, function, queue) values
              ('will_start', 'app.stop(bigint, text)', 'stopped'), ('will_start', 'app.linger(bigint, text)', 'late'),
              ('did_stop', 'app.hook(bigint, text)', null)
            """)
        let worker = try RunningWorker(queue.database)
        let delivery = "case i % 2 when 0 then 'at_most_once' else 'at_least_once' end"
        for name in ["stopped", "late"] {
            try queue.insert(10, "url, queue, delivery", "'\(target.url)/ok', '\(name)', \(delivery)")
        }
        try queue.waitUntilDone()
        let ends = try queue.rows(
            """
            select distinct queue, state, attempt::text, error_code, error, started_at::text from postrider.job_status
              order by 1
            """)
        #expect(
            ends == [
                ["late", "expired", "0", "expired", "not started before expires_at", nil],
                ["stopped", "cancelled", "0", "cancelled", "cancelled before it was called", nil],
            ])
        #expect(target.requests.isEmpty)
        #expect(try queue.number("select count(*) from app.log") == 20)
        // The slots are free again.
        try queue.insert(200, "url", "'\(target.url)/ok'")
        try queue.waitUntilDone()
        #expect(target.requests.count == 200)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `hooks and callbacks also run for a cache hit, a cancel and an expiry`() throws {
        let queue = try queueWithHooks()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let columns = "url, cache_ttl, on_success"
        let values = "'\(target.url)/ok', '1 h', 'note'"
        let first = try queue.insert(columns, values)
        try queue.wait(for: first, toBe: "succeeded")
        let hit = try queue.insert(columns, values)
        try queue.wait(for: hit, toBe: "succeeded")
        #expect(try queue.text("select from_cache::text from postrider.job_status where id = \(hit)") == "true")
        #expect(
            try CallbackLog.lines(queue, of: hit)
                == ["will_start succeeded", "will_stop succeeded", "callback succeeded", "did_stop succeeded"])
        let planned = try queue.insert("url, run_at, on_failure", "'\(target.url)/ok', now() + interval '1 h', 'note'")
        let late = try queue.insert(
            "url, run_at, expires_at, on_failure",
            "'\(target.url)/ok', now() + interval '1 h', now() + interval '1 h 1 s', 'note'")
        #expect(try queue.text("select postrider.cancel(\(planned))::text") == "true")
        #expect(try queue.text("select postrider.cancel(\(planned))::text") == "false")
        #expect(try queue.state(planned) == "cancelled")
        try queue.connection.execute(
            "update postrider_internal.scheduled set expires_at = now() where job_id = \(late)")
        for (id, state) in [(planned, "cancelled"), (late, "expired")] {
            try queue.wait(until: "select count(*) = 3 from app.log where job = \(id)")
            #expect(
                try CallbackLog.lines(queue, of: id)
                    == ["will_stop \(state)", "callback \(state)", "did_stop \(state)"])
            #expect(try queue.state(id) == state)
        }
        let running = try queue.insert("url, on_failure", "'\(target.url)/hang', 'note'")
        try TestClock.wait(20, for: "the call") { target.requests("/hang").count == 1 }
        try queue.connection.execute("select postrider.cancel(\(running))")
        try queue.wait(until: "select count(*) = 4 from app.log where job = \(running)")
    }

    @Test func `a hook runs only for jobs of its service and its queue`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', '\(target.url)');
            insert into postrider.hooks (event, function, service, queue) values
              ('did_stop', 'app.hook(bigint, text)', 'api', null), ('will_start', 'app.hook(bigint, text)', null, 'mail')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let plain = try queue.insert("url", "'\(target.url)/ok'")
        let service = try queue.insert("service, url", "'api', 'ok'")
        let both = try queue.insert("service, url, queue", "'api', 'ok', 'mail'")
        for id in [plain, service, both] { try queue.wait(for: id, toBe: "succeeded") }
        #expect(try CallbackLog.lines(queue, of: plain) == [])
        #expect(try CallbackLog.lines(queue, of: service) == ["did_stop succeeded"])
        #expect(try CallbackLog.lines(queue, of: both) == ["will_start running", "did_stop succeeded"])
    }

    @Test func `only the owner registers functions, and a job may name only registered callbacks`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        func refusal(_ sql: String) -> String {
            do throws(PGError) {
                try queue.connection.execute(sql)
                return "accepted"
            } catch {
                return "\(error.sqlState?.rawValue ?? "") \(error.message)"
            }
        }
        let callback = "insert into postrider.callbacks (name, function) values ('x', "
        for function in [
            "app.none(bigint)", "app.note(text)", "note(bigint)", "app.note", "pg_sleep(double precision)", "x'; --",
        ] {
            #expect(refusal(callback + "$$\(function)$$)").hasPrefix("PR001 callbacks.function: "), "\(function)")
        }
        #expect(refusal(callback + "null)").hasPrefix("PR001 callbacks.function: "))
        #expect(
            refusal("insert into postrider.hooks (event, function) values ('now', 'app.hook(bigint, text)')")
                .hasPrefix("PR001 hooks.event: "))
        #expect(
            refusal("insert into postrider.hooks (event, function) values ('did_stop', 'app.note(bigint)')")
                .hasPrefix("PR001 hooks.function: "))
        let unknown = refusal(
            "insert into postrider.hooks (event, function, service) values ('did_stop', 'app.hook(bigint, text)', 'none')"
        )
        #expect(unknown.hasPrefix("PR001 hooks.service: there is no service 'none'"))
        for column in ["on_success", "on_failure"] {
            #expect(
                refusal("insert into postrider.jobs (url, \(column)) values ('http://h/', 'unknown')")
                    .hasPrefix("PR001 jobs.\(column): there is no callback 'unknown'"))
        }
        // Roles belong to the whole cluster, so each test has its own.
        let role = "clerk_\(getpid())_\(UInt32.random(in: 0...UInt32.max))"
        try queue.connection.execute(
            "create role \(role); grant usage on schema postrider, postrider_internal, app to \(role); grant insert on postrider.callbacks, postrider.hooks to \(role); set role \(role)"
        )
        #expect(refusal(callback + "'app.note(bigint)')").hasPrefix("42501 callbacks: only the owner"))
        #expect(
            refusal("insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')")
                .hasPrefix("42501 hooks: only the owner"))
        try queue.connection.execute("reset role; drop owned by \(role); drop role \(role)")
    }
}
