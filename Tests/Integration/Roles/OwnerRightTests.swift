// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A function with the rights of the schema's owner must not run its caller's code with these rights.
struct OwnerRightTests {
    /// A job that has ended, with a callback that can run again.
    private func endedJob(in queue: borrowing TestQueue, callback: String) throws -> Int64 {
        let id = try queue.insert("url, run_at, on_failure", "'http://h/', now() + interval '1 day', '\(callback)'")
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'a', '0.1.0', null, 8, '{}', '{}')")
        #expect(try queue.connection.query("select postrider.cancel(\(id))").bool(0, 0))
        _ = try queue.connection.query("select * from postrider_internal.conclude(\(worker)::int)")
        return id
    }

    @Test func `rerun_callback does not run a deferred trigger of its caller as the schema owner`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let id = try endedJob(in: queue, callback: "note")
        let admin = try TestRole.admin.connect(queue)
        try admin.execute(
            """
            create temp table trap (n int);
            create function pg_temp.spring() returns trigger language plpgsql as $$
            begin
              perform set_config('my.ran_as', current_user, false);
              return null;
            end $$;
            create constraint trigger spring after insert on trap deferrable initially deferred
              for each row execute function pg_temp.spring()
            """)
        for call in ["postrider.rerun_callback", "postrider_internal.call_callback"] {
            try admin.execute(
                "begin; set my.ran_as = 'nobody'; insert into trap values (1); select \(call)(\(id))")
            #expect(try admin.query("select current_setting('my.ran_as')").text(0, 0) != "postrider_owner", "\(call)")
            try admin.execute("commit")
            #expect(try admin.query("select current_setting('my.ran_as')").text(0, 0) == "test_admin", "\(call)")
        }
        #expect(try CallbackLog.lines(queue, of: id) == Array(repeating: "callback cancelled", count: 3))
    }

    @Test func `rerun_callback checks constraints that the callback defers, then defers them again`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create table app.orders (id bigint primary key);
            create table app.payments (order_id bigint references app.orders deferrable initially deferred);
            grant insert on app.orders, app.payments to postrider_worker, postrider_owner, test_admin;
            grant usage on schema app to test_admin;
            create function app.pay(bigint) returns void language sql as $$ insert into app.payments values ($1) $$;
            insert into postrider.callbacks (name, function) values ('pay', 'app.pay(bigint)')
            """)
        let id = try endedJob(in: queue, callback: "pay")
        let admin = try TestRole.admin.connect(queue)
        let rerun = "select postrider.rerun_callback(\(id))"
        #expect(try !admin.query(rerun).bool(0, 0))
        #expect(try queue.rows("select sqlstate, callback from postrider.callback_errors") == [["23503", "pay"]])
        try queue.connection.execute("insert into app.orders values (\(id))")
        try admin.execute("begin")
        #expect(try admin.query(rerun).bool(0, 0))
        try admin.execute(
            "insert into app.payments values (\(id + 1)); insert into app.orders values (\(id + 1)); commit")
        #expect(try queue.number("select count(*) from app.payments") == 2)
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
    }
}
