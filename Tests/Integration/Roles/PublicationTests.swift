// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Logical replication of a database with the schema.
///
/// PostgreSQL refuses each UPDATE and DELETE on a published table without a replica identity.
struct PublicationTests {
    @Test func `with a publication for all tables, jobs run, retry, reschedule and cancel as usual`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("create publication everything for all tables")
        let worker = try RunningWorker(queue.database)
        let retried = try queue.insert("url, backoff", "'\(target.url)/status/503,200', '{0}'")
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [{"url": "\(target.url)/ok/1"},
              {"batch": [{"url": "\(target.url)/ok/2"}, {"url": "\(target.url)/ok/3"}]}]}')
            """)
        for job in [retried, chain] { try queue.wait(for: job, toBe: "succeeded") }
        let far = try queue.insert("url, run_at", "'\(target.url)/ok/4', now() + interval '1 h'")
        try queue.connection.execute("select postrider.reschedule(\(far), run_at => now(), priority => 4)")
        try queue.wait(for: far, toBe: "succeeded")
        let running = try queue.insert("url", "'\(target.url)/hang'")
        try queue.wait(for: running, toBe: "running")
        try queue.connection.execute("select postrider.cancel(\(running))")
        try queue.wait(for: running, toBe: "cancelled")
        #expect(worker.count(of: "statement_failed") == 0)
        #expect(worker.end(15) == 0)
    }

    @Test func `each logged table has a replica identity, also a partition that is added later`() throws {
        let queue = try TestQueue()
        let leader = try queue.number(
            "select worker from postrider_internal.enlist(0, 'a', '0.1.0', null, 8, '{}', '{}')")
        let epoch = try queue.lead(leader)
        // The ids are in the second range, so the leader adds a third one.
        try queue.connection.execute("alter table postrider.jobs alter id restart 1500000")
        _ = try queue.rows("select postrider_internal.extend_partitions(\(leader)::int, \(epoch))")
        let tables = """
            select c.relname::text from pg_class c
             where c.relnamespace = any (postrider_internal.own_schemas())
               and c.relkind in ('r', 'p') and c.relpersistence = 'p'
            """
        #expect(try queue.rows(tables).contains(["jobs_3"]))
        let keyless = try queue.rows(
            """
            \(tables) and c.relreplident <> 'f'
               and not exists (select from pg_index i where i.indrelid = c.oid
                                  and case c.relreplident when 'i' then i.indisreplident when 'd' then i.indisprimary end)
            """)
        #expect(keyless == [])
    }
}
