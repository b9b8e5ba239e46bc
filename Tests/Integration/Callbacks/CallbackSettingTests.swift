// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// A setting made by a function ends with that function. All functions of a worker share one session.
struct CallbackSettingTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    /// Makes two functions.
    ///
    /// `app.meddle` changes all settings that it can. In an odd job it changes them for the session, in an even job for
    /// the transaction. `app.look` records all settings, including the settings of its calling functions.
    private func makeMeddlers(in queue: borrowing TestQueue) throws {
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create table app.seen (n bigint generated always as identity, job bigint, event text, settings jsonb);
            grant insert on app.seen to postrider_worker;
            create function app.look(job bigint, event text) returns void language sql as $$
              insert into app.seen (job, event, settings)
              select job, event, jsonb_object_agg(s.name, s.setting)
                from (select name, setting from pg_settings
                       union all select 'my.tenant', coalesce(current_setting('my.tenant', true), '')) s $$;
            create function app.meddle(job bigint) returns void language plpgsql as $$
            begin
              insert into app.log (job, event) values (job, 'meddle');
              perform pg_catalog.set_config(s.name, s.value, job % 2 = 0) from (values
                ('default_transaction_read_only', 'on'), ('default_transaction_isolation', 'serializable'), ('datestyle', 'SQL, DMY'),
                ('timezone', 'Pacific/Apia'), ('intervalstyle', 'sql_standard'), ('lock_timeout', '1ms'), ('work_mem', '64kB'),
                ('synchronous_commit', 'off'), ('quote_all_identifiers', 'on'), ('client_encoding', 'LATIN1'),
                ('application_name', 'mine'), ('standard_conforming_strings', 'off'), ('statement_timeout', '0'),
                ('idle_in_transaction_session_timeout', '1h'), ('idle_session_timeout', '1'), ('jit', 'on'), ('enable_seqscan', 'on'),
                ('enable_bitmapscan', 'on'), ('enable_hashjoin', 'on'), ('enable_mergejoin', 'on'), ('plan_cache_mode', 'auto'),
                ('search_path', 'public'), ('my.tenant', '7'), ('row_security', 'off'), ('transaction_read_only', 'on')) s (name, value);
            end $$;
            insert into postrider.callbacks (name, function) values ('meddle', 'app.meddle(bigint)');
            insert into postrider.hooks (event, function) values
              ('will_stop', 'app.look(bigint, text)'), ('did_stop', 'app.look(bigint, text)')
            """)
    }

    @Test func `settings that a callback changes are restored in its transaction and in the session`() throws {
        let queue = try TestQueue()
        try makeMeddlers(in: queue)
        let worker = try RunningWorker(queue.database)
        var last: Int64 = 0
        for _ in 1...4 {
            last = try queue.insert("url, on_success", "'\(target.url)/ok', 'meddle'")
            try queue.wait(for: last, toBe: "succeeded")
        }
        #expect(try queue.rows("select event from app.log order by n") == Array(repeating: ["meddle"], count: 4))
        let changed = try queue.rows(
            """
            select distinct s.key, f.settings ->> s.key, s.value from app.seen f
             cross join app.seen o cross join lateral jsonb_each_text(o.settings) s
             where f.n = 1 and f.settings ->> s.key is distinct from s.value order by 1
            """)
        #expect(changed == [])
        #expect(try queue.number("select count(*) from app.seen") == 8)
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `behind PgBouncer, settings of a callback do not reach other clients`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        try makeMeddlers(in: queue)
        let bouncer = try Bouncer(before: cluster, connections: 1)
        let client = try PGConnection(bouncer.connectionString)
        let look =
            "select name, setting from pg_settings where name <> 'application_name' and name not like 'plpgsql.%'"
        func settings() throws -> [String] {
            let result = try client.query(look)
            return (0..<result.rowCount).map { "\(result.text($0, 0)) \(result.text($0, 1))" }
        }
        let before = Set(try settings())
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        for _ in 1...2 {
            let id = try queue.insert("url, on_success", "'\(target.url)/ok', 'meddle'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        let changed = Set(try settings()).symmetricDifference(before).sorted()
        #expect(changed == [])
        #expect(try queue.number("select count(*) from app.log") == 2)
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
    }

    @Test func `a callback's change of session user and of read-only mode is undone`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let role = "tenant_\(getpid())_\(UInt32.random(in: 0...UInt32.max))"
        try queue.connection.execute(
            """
            create role \(role);
            create function app.become(bigint) returns void language plpgsql as $$
            begin
              set transaction read only;
              set session authorization \(role);
            end $$
            """)
        let user = "select session_user || ' ' || current_user"
        for role in ["none", "postrider_owner"] {
            try queue.connection.execute("set role \(role)")
            let old = try queue.text(user)
            try queue.connection.execute("begin")
            #expect(
                try queue.rows(
                    "select * from postrider_internal.run_callable(1, 'on_success', 'a', 'app.become(bigint)')")
                    == [[nil, nil]])
            #expect(try queue.text(user) == old)
            try queue.connection.execute("insert into app.log (job) values (1)")
            try queue.connection.execute("commit")
            #expect(try queue.text(user) == old)
        }
        try queue.connection.execute("reset role; drop role \(role)")
    }

    @Test func `a worker replaces a callback session in which every statement fails`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let worker = try RunningWorker(queue.database)
        let call = "function postrider_internal.conclude(int)"
        try queue.connection.execute("revoke execute on \(call) from postrider_worker")
        let good = try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        try worker.wait(for: "connection_lost")
        #expect(worker.count(of: "statement_failed") == 4)
        try queue.connection.execute("grant execute on \(call) to postrider_worker")
        try queue.wait(for: good, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: good) == ["callback succeeded"])
        #expect(worker.count(of: "connection_lost") == 1)
        #expect(worker.end(SIGTERM) == 0)
    }
}
