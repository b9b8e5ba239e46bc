// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The end of a job and the writes of its functions are one transaction, even if a process dies.
struct ConcludeTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    @Test func `after a worker is killed, a job's end and its callback are both stored or neither`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create schema app;
            create table app.effects (job bigint);
            grant usage on schema app to postrider_worker;
            grant insert on app.effects to postrider_worker;
            create function app.effect(bigint) returns void language plpgsql as $$
            begin
              insert into app.effects values ($1);
              perform pg_sleep(0.002);
            end $$;
            insert into postrider.callbacks (name, function) values ('effect', 'app.effect(bigint)')
            """)
        let rounds = Soak.count(40, reduced: 4)
        let jobs = 100
        let watcher = try PGConnection(queue.database)
        // One snapshot must show no effects without an end, no end without effects, and no job with two effects.
        let torn = """
            select (select count(*) from postrider_internal.results r
                    where not exists (select from app.effects e where e.job = r.job_id))
                 + (select count(*) from app.effects e
                    where not exists (select from postrider_internal.results r where r.job_id = e.job))
                 + (select count(*) - count(distinct job) from app.effects)
            """
        for round in 1...rounds {
            try queue.insert(jobs, "url, on_success", "'\(target.url)/ok/' || i, 'effect'")
            let first = try RunningWorker(queue.database)
            let second = try RunningWorker(queue.database)
            let goal = (round - 1) * jobs + Int.random(in: 1...60)
            try TestClock.wait(60, for: "some ends") {
                #expect(try watcher.query(torn).int64(0, 0) == 0)
                return try queue.number("select count(*) from postrider_internal.results") >= goal
            }
            _ = first.end(SIGKILL)
            #expect(try watcher.query(torn).int64(0, 0) == 0)
            try queue.waitUntilDone(60)
            #expect(try watcher.query(torn).int64(0, 0) == 0)
            _ = second.end(SIGKILL)
        }
        try queue.report(.callbacks, attack: "SIGKILL during callbacks", rounds: rounds, calls: target.requests.count)
        #expect(try queue.number("select count(*) from app.effects") == rounds * jobs)
    }

    @Test func `a callback whose session is terminated is rolled back and runs again in a new session`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.wait(bigint) returns void language plpgsql as $$
            begin
              insert into app.log (job, event) values ($1, 'waited');
              perform pg_advisory_xact_lock(78);
            end $$;
            insert into postrider.callbacks (name, function) values ('wait', 'app.wait(bigint)')
            """)
        let keeper = try PGConnection(queue.database)
        try keeper.execute("select pg_advisory_lock(78)")
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("url, on_success", "'\(target.url)/ok', 'wait'")
        let blocked = """
            select pid from pg_locks where locktype = 'advisory' and objid = 78 and not granted
               and database = (select oid from pg_database where datname = current_database())
            """
        try queue.wait(until: "select exists (\(blocked))")
        try queue.connection.execute("select pg_terminate_backend(pid) from (\(blocked)) b")
        try keeper.execute("select pg_advisory_unlock(78)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: id) == ["waited"])
        #expect(target.requests.count == 1)
        #expect(worker.count(of: "connection_lost") == 1)
    }

    @Test func `a job's end that cannot be stored is retried and delays no other job`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.stuck() returns trigger language plpgsql as $$
            begin
              if new.job_id = 1 then raise exception 'stuck'; end if;
              return new;
            end $$;
            create trigger stuck before insert on postrider_internal.results for each row execute function app.stuck()
            """)
        let worker = try RunningWorker(queue.database)
        try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        try queue.insert(50, "url, on_success, notify", "'\(target.url)/ok', case when i < 5 then 'note' end, true")
        try queue.wait(until: "select count(*) = 50 from postrider_internal.results")
        try queue.wait(until: "select tries >= 2 from postrider_internal.outcomes")
        #expect(try queue.text("select failure from postrider_internal.outcomes") == "stuck")
        #expect(try queue.state(1) == "running")
        #expect(try queue.text("select postrider.explain(1)")?.contains("has failed") == true)
        #expect(worker.output.contains("stuck"))
        try queue.connection.execute("drop trigger stuck on postrider_internal.results")
        try queue.wait(for: 1, toBe: "succeeded")
        #expect(try CallbackLog.lines(queue, of: 1) == ["callback succeeded"])
        #expect(target.requests.count == 51)
    }

    @Test func `if one job makes conclude fail, the other jobs still end`() throws {
        let queue = try TestQueue()
        // The error strikes like a limit of time or memory: while the ends are read, before one is stored.
        try queue.connection.execute(
            """
            create schema app;
            create function app.hook(bigint, text) returns void language sql as '';
            insert into postrider.hooks (event, function, queue) values ('did_stop', 'app.hook(bigint, text)',
                'elsewhere');
            alter function postrider_internal.is_hooked rename to is_hooked_indeed;
            create function postrider_internal.is_hooked(p_job bigint) returns boolean language plpgsql as $$
            begin
              if p_job = 2 and current_query() like '%postrider_internal.conclude(%' then
                raise exception 'no memory left' using errcode = '53200';
              end if;
              return postrider_internal.is_hooked_indeed(p_job);
            end $$;
            grant execute on function postrider_internal.is_hooked to public
            """)
        try queue.insert(20, "url, notify", "'\(target.url)/ok/' || i, true")
        let worker = try RunningWorker(queue.database)
        try queue.wait(until: "select count(*) = 19 from postrider_internal.results")
        #expect(try queue.state(2) == "running")
        #expect(worker.output.contains("no memory left"))
        try queue.connection.execute(
            """
            drop function postrider_internal.is_hooked;
            alter function postrider_internal.is_hooked_indeed rename to is_hooked
            """)
        try queue.wait(for: 2, toBe: "succeeded")
        #expect(target.requests.count == 20)
    }

    @Test func `a webhook that takes too long to insert is skipped, and all jobs still end`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(Self.slowWebhooks("pg_sleep(60)"))
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            select postrider.submit('{"chain": [
              {"url": "\(target.url)/ok/1", "callback_url": "\(target.url)/ok/told", "tag": "vast"},
              {"url": "\(target.url)/ok/2", "callback_url": "\(target.url)/ok/told"}]}')
            """)
        let chain = try queue.number("select id from postrider.jobs where kind = 'chain'")
        let others = "callback_url, url"
        try queue.insert(10, others, "'\(target.url)/ok/told', '\(target.url)/ok/' || i")
        try queue.wait(40, for: chain, toBe: "succeeded")
        try queue.wait(40, until: "select count(*) = 11 from postrider.job_status where tag = 'webhook'")
        try queue.waitUntilDone()
        let row = try queue.rows("select event, sqlstate, tag, error from postrider.callback_errors")
        #expect(row.count == 1 && row[0][..<3] == ["callback_url", "57014", "vast"])
        #expect(row[0][3]?.hasPrefix("not sent: the job's functions and webhook together took longer than 5 s") == true)
        #expect(try queue.number("select count(*) from postrider_internal.outcomes") == 0)
    }

    @Test func `a webhook whose INSERT ends its session is finally skipped`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(Self.slowWebhooks("pg_terminate_backend(pg_backend_pid())"))
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, callback_url, tag", "'\(target.url)/ok', '\(target.url)/ok/told', 'vast'")
        try queue.wait(60, for: id, toBe: "succeeded")
        let row = try queue.rows("select event, error from postrider.callback_errors")
        #expect(
            row.count == 1 && row[0][0] == "callback_url"
                && row[0][1]?.hasPrefix("not sent: the job's end") == true)
    }

    /// Runs this code where the webhook of a job with the tag `vast` is written.
    private static func slowWebhooks(_ call: String) -> String {
        """
        create function public.slow() returns trigger language plpgsql as $$
        begin
          if exists (select from postrider.jobs j where j.id = (new.metadata ->> 'job_id')::bigint
                     and j.tag = 'vast') then
            perform \(call);
          end if;
          return new;
        end $$;
        create trigger slow before insert on postrider.jobs for each row when (new.tag = 'webhook')
          execute function public.slow()
        """
    }

    @Test func `a worker that is stopped finishes its call and the callback before it exits`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("url, on_success", "'\(target.url)/wait/2000', 'note'")
        try TestClock.wait(20, for: "the call") { target.requests.count == 1 }
        #expect(worker.end(SIGTERM) == 0)
        #expect(try queue.state(id) == "succeeded")
        #expect(try CallbackLog.lines(queue, of: id) == ["callback succeeded"])
    }

    @Test func `a callback can add a step to its chain, which has its own callback and webhook`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.grow(bigint) returns void language plpgsql as $$
            declare
              v_parent bigint;
              v_url text;
            begin
              select j.parent_id, j.url into v_parent, v_url from postrider.job_status j where j.id = $1;
              insert into postrider.jobs (parent_id, url, on_success, name) values (v_parent, v_url || '/next', 'note',
                  'grown');
              insert into app.log (job, event) values ($1, 'grew');
            end $$;
            insert into postrider.callbacks (name, function) values ('grow', 'app.grow(bigint)');
            insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            begin;
            insert into postrider.jobs (kind, on_success, callback_url, notify) values ('chain', 'note',
                '\(target.url)/status/200', true);
            insert into postrider.jobs (parent_id, url, on_success)
            select id, '\(target.url)/ok', 'grow' from postrider.jobs where kind = 'chain';
            commit
            """)
        let chain = try queue.number("select id from postrider.jobs where kind = 'chain'")
        try queue.wait(for: chain, toBe: "succeeded")
        let first = try queue.number("select min(id) from postrider.jobs where parent_id = \(chain)")
        let grown = try queue.number("select id from postrider.jobs where name = 'grown'")
        #expect(try CallbackLog.lines(queue, of: first) == ["grew", "did_stop succeeded"])
        #expect(try CallbackLog.lines(queue, of: grown) == ["callback succeeded", "did_stop succeeded"])
        #expect(try CallbackLog.lines(queue, of: chain) == ["callback succeeded", "did_stop succeeded"])
        #expect(
            try queue.rows("select job::text from app.log where event in ('grew', 'callback') order by n") == [
                ["\(first)"], ["\(grown)"], ["\(chain)"],
            ])
        #expect(try queue.number("select children from postrider.job_status where id = \(chain)") == 2)
        #expect(
            try queue.text("select body_json #>> '{data,id}' from postrider.jobs where tag = 'webhook'") == "\(chain)")
    }

    @Test func `hooks and callbacks run for all members of a failed batch and for the batch`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            "insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')")
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            begin;
            insert into postrider.jobs (kind, on_failure) values ('batch', 'note');
            insert into postrider.jobs (parent_id, url, on_failure)
            select b.id, '\(target.url)' || p.path, 'note'
              from postrider.jobs b, unnest(array['/hang/1', '/hang/2', '/status/404']) p (path) where b.kind = 'batch';
            commit
            """)
        let batch = try queue.number("select id from postrider.jobs where kind = 'batch'")
        try queue.wait(for: batch, toBe: "failed")
        try queue.wait(until: "select count(*) = 8 from app.log")
        let lines = try queue.rows("select distinct state || ' ' || count(*) from app.log group by state order by 1")
        #expect(lines == [["cancelled 4"], ["failed 4"]])
    }
}
