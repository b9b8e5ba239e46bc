// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The leases of an ended worker, while another transaction locks some of them.
struct ReapTests {
    @Test func `reap reads only the row of a locked lease and notifies workers after the lock ends`() throws {
        let queue = try TestQueue()
        let enlist = "select worker from postrider_internal.enlist(0, 'a', '0', null, 8, '{}', '{}')"
        let ended = try queue.number(enlist)
        let leader = try queue.number(enlist)
        let epoch = try queue.lead(leader)
        // The state after a worker has deregistered while two of its leases were locked.
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('q', 'l', 0);
            insert into postrider_internal.ready (seq, job_id, track, max_attempts)
            select i, i, (select max(id) from postrider_internal.tracks), 5 from generate_series(1, 20000) i;
            select setval('postrider.jobs_id_seq', 20000);
            analyze postrider_internal.ready;
            update postrider_internal.ready set worker = \(ended), fence = 77, attempt = 1, since = now()
              where seq in (10, 20);
            update postrider_internal.workers set ended_at = now(), in_flight = 2 where id = \(ended);
            create sequence public.woken minvalue 0;
            create or replace function postrider_internal.notify_idle_workers(p_payload text default '') returns void
            language plpgsql as
            $$ begin perform nextval('public.woken'); end $$;
            select nextval('public.woken')
            """)
        let reap = "select count(*) from postrider_internal.reap(\(leader), \(epoch))"
        let leases = """
            select (select count(*) from postrider_internal.ready where worker = \(ended)) || ' '
                || (select in_flight from postrider_internal.workers where id = \(ended)) || ' '
                  || (select last_value from public.woken)
            """
        let other = try PGConnection(queue.database)
        try other.execute("begin; select from postrider_internal.ready where seq = 10 for update")
        #expect(try queue.number(reap) == 0)
        #expect(try queue.text(leases) == "1 1 1")
        let read = """
            select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
              where relid = 'postrider_internal.ready'::regclass
            """
        try queue.connection.execute("begin")
        let before = try queue.number(read)
        #expect(try queue.number(reap) == 0)
        let rows = try queue.number(read) - before
        try queue.connection.execute("commit")
        #expect(rows < 10, "\(rows)")
        #expect(try queue.text(leases) == "1 1 1")
        try other.execute("rollback")
        #expect(try queue.number(reap) == 0)
        #expect(try queue.text(leases) == "0 0 2")
        #expect(try queue.number("select count(*) from postrider_internal.ready where worker = 0 and attempt = 1") == 2)
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 20_000)
    }
}
