// SPDX-License-Identifier: Apache-2.0

import JobModel
import PGClient
import TestSupport
import Testing

/// Rules for the schema as a whole.
struct SchemaTests {
    @Test func `every object has a comment`() throws {
        let queue = try TestQueue()
        // Partitions belong to their table, as do indexes and constraints. Identity sequences belong to their column.
        let silent = try queue.rows(
            """
            select kind || ' ' || name from (
              select 'relation' as kind, c.relname::text as name, obj_description(c.oid, 'pg_class') as words
                from pg_class c
               where c.relnamespace = any (postrider_internal.own_schemas())
                 and c.relkind in ('r', 'p', 'v', 'm', 'S')
                 and not c.relispartition
                 and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')
              union all
              select 'function', p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc')
                from pg_proc p where p.pronamespace = any (postrider_internal.own_schemas())
              union all
              select 'type', t.typname::text, obj_description(t.oid, 'pg_type')
                from pg_type t
               where t.typnamespace = any (postrider_internal.own_schemas())
                 and t.typtype in ('e', 'd', 'r')) o
            where words is null or words !~ '.'
            order by 1
            """)
        #expect(silent == [])
    }

    @Test func `every column of a public view has a comment`() throws {
        let queue = try TestQueue()
        let silent = try queue.rows(
            """
            select a.attrelid::regclass || '.' || a.attname
              from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
             where c.relnamespace = 'postrider'::regnamespace and c.relkind = 'v'
               and col_description(c.oid, a.attnum) is null
             order by 1
            """)
        #expect(silent == [])
    }

    @Test func `every function that scans the queue turns JIT compilation off`() throws {
        let queue = try TestQueue()
        // Their cost estimates grow with the queue. Above a limit, PostgreSQL compiles each plan for seconds.
        let compiled = try queue.rows(
            """
            select proname::text from pg_proc
            where pronamespace = any (postrider_internal.own_schemas()) and prokind = 'f'
              and (proconfig::text like '%enable_%'
                   or prosrc ~ '(update|delete from) postrider_internal.(ready|scheduled|job_deltas|intake)')
              and proname not in ('retry', 'reschedule')
              and not coalesce('jit=off' = any (proconfig), false)
            order by 1
            """)
        #expect(compiled == [])
    }

    @Test func `no parallel-safe function catches errors or calls a function that is not parallel-safe`() throws {
        let queue = try TestQueue()
        // Such a block is a subtransaction, which PostgreSQL refuses in a parallel plan.
        let loose = try queue.rows(
            """
            select f.proname::text from pg_proc f
            where f.pronamespace = any (postrider_internal.own_schemas())
              and f.proparallel = 's'
              and (f.prosrc ~* 'exception\\s+when'
                   or exists (select from pg_proc g
                               join pg_namespace n on n.oid = g.pronamespace
                                 and n.nspname in ('postrider', 'postrider_internal')
                               where g.proparallel <> 's' and g.oid <> f.oid
                                 and f.prosrc ~ (n.nspname || '\\.' || g.proname || '\\s*\\(')))
            order by 1
            """)
        #expect(loose == [])
    }

    @Test func `no view contains a function that resolves names by the caller's search_path`() throws {
        let queue = try TestQueue()
        // A client's function with the name of a system function would see rows that the view is about to hide.
        let read = try queue.rows(
            """
            select distinct p.proname::text
            from pg_rewrite r
            join pg_class c on c.oid = r.ev_class
              and c.relnamespace = any (postrider_internal.own_schemas())
            join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
              and d.refclassid = 'pg_proc'::regclass
            join pg_proc p on p.oid = d.refobjid
              and p.pronamespace = any (postrider_internal.own_schemas())
            where p.prosqlbody is null and coalesce(array_to_string(p.proconfig, ' '), '') not like '%search_path=%'
            """)
        #expect(read == [])
    }

    @Test func `every view can be read under forced parallel plans`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('s', 'http://h/');
            insert into postrider.jobs (service, url, tag) select 's', 'x', 't' from generate_series(1, 300);
            insert into postrider_internal.results (job_id, attempt, state, fence, headers, body)
            select job_id, 1, case when job_id % 3 = 0 then 'f' else 's' end, job_id, 'content-type: application/json',
                   case when job_id % 2 = 0 then '{"a": 1}' else '{"a": ' end::bytea
              from postrider_internal.ready where job_id <= 200;
            delete from postrider_internal.ready r using postrider_internal.results f where f.job_id = r.job_id;
            analyze postrider.jobs, postrider_internal.results;
            set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;
            set min_parallel_index_scan_size = 0;
            select set_config(name, 'on', false) from pg_settings
              where name in ('force_parallel_mode', 'debug_parallel_query')
            """)
        let views = try queue.rows(
            """
            select oid::regclass::text from pg_class
             where relnamespace = any (postrider_internal.own_schemas()) and relkind = 'v'
               order by 1
            """)
        #expect(views.count > 10)
        for view in views.compactMap(\.[0]) {
            #expect(throws: Never.self, "\(view)") {
                _ = try queue.rows("select v::text from \(view) v")
            }
        }
        let states =
            "select state, count(*)::text, count(result)::text from postrider.job_status where tag = 't' group by 1 order by 1"
        #expect(
            try queue.rows(states) == [["failed", "66", "33"], ["ready", "100", "0"], ["succeeded", "134", "67"]])
    }

    @Test func `the error codes and their retryable flags are the same in program and database`() throws {
        let queue = try TestQueue()
        let stored = try queue.rows(
            "select code || ' ' || retryable from postrider.error_codes order by code collate \"C\"")
        let known = ErrorCode.allCases.map { "\($0.rawValue) \($0.isRetryable)" }.sorted()
        #expect(stored.map { $0[0] ?? "" } == known)
    }

    @Test func `a worker refuses a schema that is older or newer than it knows`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create table kept as select * from postrider.migrations;
            delete from postrider.migrations where name = 'functions/queue/claim.sql'
            """)
        let older = try WorkerProcess.run(["run", "--database", queue.database])
        #expect(older.status == 78)
        #expect(older.output.contains("worker migrate"))
        try queue.connection.execute(
            """
            insert into postrider.migrations select * from kept where name = 'functions/queue/claim.sql';
            insert into postrider.migrations (name, checksum, worker_version, breaking)
            values ('9999_future.sql', 'x', '99.0.0', true)
            """)
        let newer = try WorkerProcess.run(["run", "--database", queue.database])
        #expect(newer.status == 78)
        #expect(newer.output.split(separator: "\n").count == 1)
        #expect(newer.output.contains("newer"))
    }

    @Test func `reap locks only lost workers, so claims of healthy workers do not fail`() throws {
        let queue = try TestQueue()
        let enlist = "select worker from postrider_internal.enlist(0, 'a', '0.1.0', null, 8, '{}', '{}')"
        let leader = try queue.number(enlist)
        let well = try queue.number(enlist)
        let silent = try queue.number(enlist)
        let epoch = try queue.lead(leader)
        try queue.connection.execute(
            "update postrider_internal.workers set heartbeat_at = now() - interval '11 s' where id = \(silent); begin")
        #expect(
            try queue.rows("select lost_worker::text from postrider_internal.reap(\(leader), \(epoch))") == [
                ["\(silent)"]
            ])
        let locked = "select objid::text from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"
        #expect(try queue.rows(locked) == [["\(silent)"]])
        let other = try PGConnection(queue.database)
        for id in [leader, well] {
            _ = try other.query(
                "select job_id from postrider_internal.claim(\(id)::int, 0::bigint, 1, '{}', '{}', '{}', true, '{}')")
        }
        try queue.connection.execute("rollback")
    }
}
