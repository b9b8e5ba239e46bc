// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// A drained worker deregisters, even if its session is lost at that moment.
struct GoodbyeTests {
    @Test func `a worker that loses its session during leave repeats leave and is not declared lost`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create sequence public.goodbyes;
            grant usage on sequence public.goodbyes to public;
            create function public.cut() returns trigger language plpgsql as $$
            begin
              if current_query() like '%postrider_internal.leave(%' and nextval('public.goodbyes') = 1 then
                perform pg_terminate_backend(pg_backend_pid());
              end if;
              return null;
            end $$;
            create trigger cut before update
              on postrider_internal.workers for each statement execute function public.cut()
            """)
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: id, toBe: "succeeded")
        try queue.wait(until: "select owner > 0 from postrider_internal.leases where name = 'leader'")
        #expect(worker.end(SIGTERM) == 0)
        #expect(worker.count(of: "connection_lost") == 1)
        #expect(try queue.number("select last_value from public.goodbyes") > 1)
        // Other workers have nothing to reap and nothing to wait for.
        #expect(try queue.number("select count(*) from postrider_internal.workers where ended_at is null or lost") == 0)
        #expect(
            try queue.text("select until::text from postrider_internal.leases where name = 'leader'") == "-infinity")
    }

    /// Both sessions of a worker may use the database at the same moment.
    @Test func `a lease renewal during leave does not take the leader lease again`() throws {
        let queue = try TestQueue()
        let worker = try queue.number("select worker from postrider_internal.enlist(0, 'a', '0', null, 8, '{}', '{}')")
        _ = try queue.lead(worker)
        try queue.connection.execute("begin; select postrider_internal.leave(\(worker))")
        let duties = try PGConnection(queue.database)
        try duties.execute("set lock_timeout = '2s'")
        #expect(try duties.query("select postrider_internal.lead(\(worker)) is null").bool(0, 0))
        try queue.connection.execute("commit")
        #expect(
            try queue.text("select until::text from postrider_internal.leases where name = 'leader'") == "-infinity")
    }

    /// The session is lost after the commit of `leave`, so the worker calls it again.
    @Test func `a worker can repeat a stored leave under a new worker number`() throws {
        let queue = try TestQueue()
        let enlist = "select worker from postrider_internal.enlist"
        let first = try queue.number("\(enlist)(0, 'a', '0', null, 8, '{}', '{}')")
        _ = try queue.lead(first)
        try queue.connection.execute("select postrider_internal.leave(\(first))")
        let second = try queue.number("\(enlist)(\(first), 'a', '0', null, 8, '{}', '{}')")
        try queue.connection.execute("select postrider_internal.leave(\(second))")
        #expect(try queue.number("select count(*) from postrider_internal.workers where ended_at is null or lost") == 0)
        #expect(
            try queue.text("select until::text from postrider_internal.leases where name = 'leader'") == "-infinity")
    }
}
