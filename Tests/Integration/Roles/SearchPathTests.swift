// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Databases in which every role may create objects in `public`, as before PostgreSQL 15.
///
/// Objects there with the names of system objects must not run in the program's sessions.
struct SearchPathTests {
    /// Each of these functions matches the program's call better than the system's function.
    private static let traps = """
        create table public.caught (who text);
        grant insert on public.caught to public;
        create function public.spring(name text) returns void language sql as
          $$ insert into public.caught values (current_user || ' ' || name) $$;
        create function public.currval(text) returns bigint language plpgsql as
          $$ begin perform public.spring('currval'); return pg_catalog.currval($1::regclass); end $$;
        create function public.nextval(text) returns bigint language plpgsql as
          $$ begin perform public.spring('nextval'); return pg_catalog.nextval($1::regclass); end $$;
        create function public.concat_ws(text, text, text) returns text language sql as $$ select 'trapped' $$;
        create function public.format(text, name) returns text language plpgsql as
          $$ begin perform public.spring('format'); return pg_catalog.format($1, $2); end $$;
        create function public.quote_ident(name) returns text language plpgsql as
          $$ begin perform public.spring('quote_ident'); return pg_catalog.quote_ident($1); end $$
        """

    private func setTraps(in queue: borrowing TestQueue) throws {
        try queue.connection.execute("grant create, usage on schema public to public")
        try TestRole.stranger.connect(queue).execute(Self.traps)
    }

    @Test func `functions that others put into public never run in a worker's sessions`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try setTraps(in: queue)
        let watched = try WatchedWorker(queue.database)
        var id: Int64 = 0
        for number in 1...3 {
            try queue.wait(until: "select count(*) = 1 from postrider_internal.idle_workers")
            id = try queue.insert("url", "'\(target.url)/ok/\(number)'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        for path in ["/", "/jobs", "/jobs/\(id)", "/metrics"] {
            let page = try watched.pages.read(path)
            #expect(page.status == 200 && !page.lines.contains { $0.contains("trapped") }, "\(path)")
        }
        #expect(try queue.rows("select distinct who from public.caught") == [])
    }

    @Test func `functions that others put into public never run in worker sessions behind PgBouncer`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        try setTraps(in: queue)
        let bouncer = try Bouncer(before: cluster)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        for number in 1...3 {
            try queue.wait(for: queue.insert("url", "'\(target.url)/ok/\(number)'"), toBe: "succeeded")
        }
        #expect(worker.end(15) == 0)
        #expect(try queue.rows("select distinct who from public.caught") == [])
        // The setting does not leak into sessions that other clients use in the next transaction.
        let shown = try PGConnection(bouncer.connectionString).query("show search_path").text(0, 0)
        #expect(shown == #""$user", public"#)
    }

    @Test func `functions that others put into public never run in command sessions`() throws {
        let queue = try TestQueue()
        try setTraps(in: queue)
        let id = try queue.insert("url, run_at", "'http://h/', now() + interval '1 day'")
        let admin = TestRole.admin.database(queue.database)
        for words in [
            ["show", "\(id)"], ["jobs"], ["explain", "\(id)"], ["doctor"], ["queue", "pause", "a"],
            ["lane", "pause", "b"],
        ] {
            let run = try WorkerProcess.run(words + ["--database", admin])
            #expect(!run.output.contains("trapped"), "\(run)")
        }
        #expect(try queue.rows("select distinct who from public.caught") == [])
    }
}
