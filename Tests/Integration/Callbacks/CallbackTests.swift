// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Functions that run when a job ends, with a worker and a target.
struct CallbackTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    private func queueWithLog() throws -> TestQueue {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        return queue
    }

    @Test func `a callback runs at the end of its job and sees the result`() throws {
        let queue = try queueWithLog()
        let worker = try RunningWorker(queue.database)
        let good = try queue.insert("url, on_success, on_failure", "'\(target.url)/ok', 'note', 'bad'")
        let bad = try queue.insert("url, on_success, on_failure", "'\(target.url)/status/404', 'bad', 'note'")
        let silent = try queue.insert("url, on_failure", "'\(target.url)/ok', 'note'")
        try queue.wait(for: good, toBe: "succeeded")
        try queue.wait(for: bad, toBe: "failed")
        try queue.wait(for: silent, toBe: "succeeded")
        // The callback runs in the transaction that stores the result, never later.
        #expect(try CallbackLog.lines(queue, of: good) == ["callback succeeded"])
        #expect(try CallbackLog.lines(queue, of: bad) == ["callback failed"])
        #expect(try CallbackLog.lines(queue, of: silent) == [])
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
        #expect(try queue.number("select count(*) from postrider_internal.outcomes") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a failing callback is rolled back, its job keeps its outcome, and rerun_callback works`() throws {
        let queue = try queueWithLog()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            "insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')")
        let id = try queue.insert("url, on_success", "'\(target.url)/ok', 'bad'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: id) == ["did_stop succeeded"])
        let errors =
            "select event, callback, function, error_code, sqlstate, error from postrider.callback_errors where job_id = \(id)"
        let known = [["on_success", "bad", "app.bad(bigint)", "callback", "P0001", "no such order"]]
        #expect(try queue.rows(errors) == known)
        #expect(try queue.text("select postrider.explain(\(id))")?.contains("no such order") == true)
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == nil)
        #expect(try queue.text("select postrider.rerun_callback(\(id))::text") == "false")
        #expect(try queue.rows(errors) == known)
        // A user's cancel or timeout ends the statement. It is not recorded as a failure of the callback.
        try queue.connection.execute(
            """
            create or replace function app.bad(bigint) returns void language sql as 'select pg_sleep(60)';
            set statement_timeout = '100ms'
            """)
        let cancelled = #expect(throws: PGError.self) { try queue.rows("select postrider.rerun_callback(\(id))::text") }
        #expect(cancelled?.sqlState == .queryCanceled)
        try queue.connection.execute("reset statement_timeout")
        #expect(try queue.rows(errors) == known)
        try queue.connection.execute(
            "create or replace function app.bad(bigint) returns void language sql as $$ insert into app.log (job, event) values ($1, 'mended') $$"
        )
        #expect(try queue.text("select postrider.rerun_callback(\(id))::text") == "true")
        #expect(try CallbackLog.lines(queue, of: id) == ["did_stop succeeded", "mended"])
        #expect(try queue.rows(errors) == [])
    }

    @Test func `a failing deferred constraint undoes only the callback, not the job's end`() throws {
        let queue = try queueWithLog()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            create table app.orders (id bigint primary key);
            create table app.payments (order_id bigint references app.orders deferrable initially deferred);
            grant insert on app.orders, app.payments to postrider_worker;
            create function app.pay(bigint) returns void language sql as $$ insert into app.payments values ($1) $$;
            create function app.late(bigint, text) returns void language plpgsql as $$
            begin
              insert into app.payments values ($1);
              insert into app.orders values ($1);
            end $$;
            insert into postrider.callbacks (name, function) values ('pay', 'app.pay(bigint)');
            insert into postrider.hooks (event, function) values
              ('will_stop', 'app.late(bigint, text)'), ('did_stop', 'app.hook(bigint, text)')
            """)
        let id = try queue.insert("url, on_success", "'\(target.url)/ok', 'pay'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: id) == ["did_stop succeeded"])
        // The hook inserted its payment before its order. The callback's second payment has an order. Both are valid.
        #expect(try queue.number("select count(*) from app.payments") == 2)
        try queue.connection.execute("delete from postrider.hooks where event = 'will_stop'")
        let lone = try queue.insert("url, on_success", "'\(target.url)/ok', 'pay'")
        try queue.wait(for: lone, toBe: "succeeded")
        #expect(try queue.rows("select sqlstate from postrider.callback_errors where job_id = \(lone)") == [["23503"]])
        #expect(try queue.number("select count(*) from app.payments where order_id = \(lone)") == 0)
    }

    @Test func `a callback that takes too long is rolled back and delays neither jobs nor heartbeats`() throws {
        let queue = try queueWithLog()
        let worker = try RunningWorker(queue.database, concurrency: 2)
        try queue.connection.execute(
            "insert into postrider.hooks (event, function) values ('will_stop', 'app.hook(bigint, text)')")
        let slow = try queue.insert("url, on_success", "'\(target.url)/ok', 'slow'")
        try queue.wait(
            until: """
                select exists (select from pg_stat_activity
                 where datname = current_database() and query like '%conclude%' and wait_event = 'PgSleep')
                """)
        try queue.connection.execute("delete from postrider.hooks")
        #expect(try queue.state(slow) == "running")
        #expect(try queue.text("select postrider.explain(\(slow))")?.contains("its call has ended") == true)
        let before = try queue.text("select max(heartbeat_at)::text from postrider_internal.workers") ?? ""
        for _ in 1...20 {
            let id = try queue.insert("url", "'\(target.url)/ok'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        #expect(try queue.state(slow) == "running", "the 20 jobs ran beside it")
        try queue.wait(until: "select max(heartbeat_at) > '\(before)' from postrider_internal.workers")
        try queue.wait(for: slow, toBe: "succeeded")
        // The transaction was rolled back and repeated without the function. The hook was deleted by then.
        #expect(try CallbackLog.lines(queue, of: slow) == [])
        #expect(try queue.rows("select callback, sqlstate from postrider.callback_errors") == [["slow", "57014"]])
        #expect(worker.count(of: "worker_reaped") == 0)
    }

    @Test func `a role that a callback sets is reset in the transaction and after it`() throws {
        let queue = try queueWithLog()
        // Roles belong to the whole cluster, so each test has its own.
        let role = "tenant_\(getpid())_\(UInt32.random(in: 0...UInt32.max))"
        try queue.connection.execute(
            """
            create role \(role);
            grant \(role) to \(TestRole.worker.name);
            create function app.borrow(job bigint) returns void language plpgsql as $$
            begin
              insert into app.log (job, event) values (job, 'borrow');
              if job = 1 then set local role \(role); else set role \(role); end if;
            end $$;
            insert into postrider.callbacks (name, function) values ('borrow', 'app.borrow(bigint)');
            insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')
            """)
        try queue.insert(2, "url, on_success", "'\(target.url)/ok', 'borrow'")
        let worker = try RunningWorker(queue.database)
        for id in Int64(1)...2 { try queue.wait(for: id, toBe: "succeeded") }
        let last = try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        try queue.wait(for: last, toBe: "succeeded")
        for id in Int64(1)...2 {
            #expect(try CallbackLog.lines(queue, of: id) == ["borrow", "did_stop succeeded"])
        }
        #expect(try CallbackLog.lines(queue, of: last) == ["callback succeeded", "did_stop succeeded"])
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
        #expect(worker.end(SIGTERM) == 0)
        try queue.connection.execute("drop role \(role)")
    }

    @Test func `a function that raises query_canceled itself fails once and is not treated as timed out`() throws {
        let queue = try queueWithLog()
        try queue.connection.execute(
            """
            create function app.quit(bigint) returns void language plpgsql as $$
            begin
              raise exception using errcode = 'query_canceled', message = 'mine';
            end $$;
            create function app.quit(bigint, text) returns void language sql as $$ select app.quit($1) $$;
            insert into postrider.callbacks (name, function) values ('quit', 'app.quit(bigint)');
            insert into postrider.hooks (event, function) values
              ('will_start', 'app.quit(bigint, text)'), ('will_start', 'app.hook(bigint, text)'), ('did_stop', 'app.hook(bigint, text)')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, on_success", "'\(target.url)/ok', 'quit'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: id) == ["will_start running", "did_stop succeeded"])
        let errors = "select event, sqlstate, error from postrider.callback_errors order by event"
        #expect(try queue.rows(errors) == [["on_success", "57014", "mine"], ["will_start", "57014", "mine"]])
        // A user who runs the callback gets an ordinary error when the statement is cancelled.
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.rerun_callback(\(id))")
        }
        #expect(error?.sqlState?.rawValue == "57014" && error?.message == "mine")
        #expect(try queue.rows(errors).count == 2)
    }

    @Test func `jobs with notify are announced on postrider_finished`() throws {
        let queue = try TestQueue()
        try queue.insert(100, "url, notify", "'\(target.url)/ok', i <= 50")
        let listener = try PGConnection(queue.database)
        try listener.execute("listen postrider_finished")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        var told: [Int64] = []
        var messages = 0
        try TestClock.wait(20, for: "50 ids") {
            let news = listener.notifications()
            messages += news.count
            told += news.flatMap { $0.payload.split(separator: ",").compactMap { Int64($0) } }
            return told.count >= 50
        }
        #expect(told.sorted() == Array(1...50))
        #expect(messages <= 50)
    }

    @Test func `a callback that ends its session delays no other job and is finally skipped`() throws {
        let queue = try queueWithLog()
        try queue.connection.execute(
            """
            create function app.kill(bigint) returns void language sql as $$ select pg_terminate_backend(pg_backend_pid()) $$;
            insert into postrider.callbacks (name, function) values ('kill', 'app.kill(bigint)')
            """)
        let worker = try RunningWorker(queue.database)
        let deadly = try queue.insert("url, on_success", "'\(target.url)/ok', 'kill'")
        let good = try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        let told = try queue.insert("url, notify", "'\(target.url)/ok', true")
        for id in [good, told] { try queue.wait(for: id, toBe: "succeeded") }
        #expect(try CallbackLog.lines(queue, of: good) == ["callback succeeded"])
        try queue.wait(60, for: deadly, toBe: "succeeded")
        let errors = "select error from postrider.callback_errors where job_id = \(deadly)"
        #expect(try queue.text(errors)?.hasPrefix("not run: ") == true)
        // The worker waited between its tries. Each try costs one connection, and the bound allows one more.
        #expect(worker.count(of: "connection_lost") <= 12)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test
    func
        `a session-ending hook is skipped, and a callback that catches its timeout does not block others`()
        throws
    {
        let queue = try queueWithLog()
        try queue.connection.execute(
            """
            create function app.kill(bigint,
                                     text) returns void language sql as $$ select pg_terminate_backend(pg_backend_pid()) $$;
            create function app.hold(bigint) returns void language plpgsql as
              $$ begin loop begin perform pg_sleep(3600); exception when query_canceled
                then null; end; end loop; end $$;
            insert into postrider.hooks (event, function, queue) values ('will_start', 'app.kill(bigint, text)',
                'hooked');
            insert into postrider.callbacks (name, function) values ('hold', 'app.hold(bigint)')
            """)
        let worker = try RunningWorker(queue.database)
        let hooked = try queue.insert("url, queue", "'\(target.url)/ok', 'hooked'")
        try queue.wait(for: hooked, toBe: "succeeded")
        let held = try queue.insert("url, on_success", "'\(target.url)/ok', 'hold'")
        try queue.wait(
            until:
                "select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep')"
        )
        let other = try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        try queue.wait(30, for: other, toBe: "succeeded")
        #expect(try queue.number("select tries from postrider_internal.outcomes where job_id = \(held)") >= 1)
        try queue.connection.execute(
            "create or replace function app.hold(bigint) returns void language sql as $$ select $$")
        try queue.wait(30, for: held, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider.callback_errors where job_id = \(held)") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }
}
