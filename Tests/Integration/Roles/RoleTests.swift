// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rights of each role, in the catalogue and in practice.
struct RoleTests {
    @Test func `PUBLIC has no privileges, and postrider_owner owns every object`() throws {
        let queue = try TestQueue()
        let open = try queue.rows(
            """
            select o.name from (
              select 'schema' as name, nspacl as acl, 'n'::"char" as kind, nspowner as owner from pg_namespace where nspname in ('postrider', 'postrider_internal')
              union all
              select oid::regclass::text, relacl, 'r', relowner from pg_class
               where relnamespace = any (postrider_internal.own_schemas())
                 and relkind in ('r', 'p', 'v', 'S')
              union all
              select oid::regprocedure::text, proacl, 'f', proowner from pg_proc
                where pronamespace = any (postrider_internal.own_schemas())) o
            where o.owner <> 'postrider_owner'::regrole
               or exists (select from aclexplode(coalesce(o.acl, acldefault(o.kind, o.owner))) a where a.grantee = 0)
            """)
        #expect(open == [])
        let nobody = try TestRole.nobody.connect(queue)
        let error = #expect(throws: PGError.self) { _ = try nobody.query("select * from postrider.error_codes") }
        #expect(error?.sqlState == .insufficientPrivilege)
    }

    @Test func `admins may use every public view and function, clients and readers only listed owner functions`() throws
    {
        let queue = try TestQueue()
        let unread = try queue.rows(
            """
            select relname::text from pg_class c
             where relnamespace = 'postrider'::regnamespace and relkind = 'v'
               and not (has_table_privilege('postrider_reader', oid, 'select')
                        and has_table_privilege('postrider_admin', oid, 'select'))
            """)
        #expect(unread == [])
        let unused = try queue.rows(
            """
            select oid::regprocedure::text from pg_proc
             where pronamespace = 'postrider'::regnamespace
               and not has_function_privilege('postrider_admin', oid, 'execute')
            """)
        #expect(unused == [])
        let forClients = try queue.rows(
            """
            select proname::text from pg_proc
             where pronamespace = any (postrider_internal.own_schemas()) and prosecdef
               and has_function_privilege('postrider_client', oid, 'execute')
             order by 1
            """)
        #expect(
            forClients == [
                ["cancel_job"], ["check_wait"], ["expand_operation"], ["explain_job"], ["find_key_owner"],
                ["has_ended"], ["job_insert"], ["job_request"], ["preview_request"], ["spec_duplicate"],
                ["spec_values"],
                ["watch_places"],
            ])
        let forReaders = try queue.rows(
            """
            select proname::text from pg_proc
             where pronamespace = any (postrider_internal.own_schemas()) and prosecdef
               and has_function_privilege('postrider_reader', oid, 'execute')
             order by 1
            """)
        #expect(
            forReaders == [
                ["chart_points"], ["check_wait"], ["delayed_lanes"], ["expand_operation"], ["explain_job"],
                ["failure_groups"], ["find_jobs"], ["find_key_owner"], ["has_ended"], ["job_insert"], ["job_request"],
                ["newest_jobs"], ["preview_request"], ["queue_counts"], ["queue_trend"], ["routes_of"],
                ["suggested_names"], ["track_counts"],
                ["track_lanes"], ["watch_places"],
            ])
        // A function that runs as the owner must not look names up in its caller's search_path.
        let loose = try queue.rows(
            """
            select oid::regprocedure::text from pg_proc
             where pronamespace = any (postrider_internal.own_schemas()) and prosecdef
               and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)
            """)
        #expect(loose == [])
    }

    @Test func `a reader reads every public view and changes nothing`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', 'http://h/');
            insert into postrider.servers (service, position, base_url) values ('api', 1, 'http://a/'),
              ('api', 2, 'http://b/');
            insert into postrider.jobs (service, url, run_at) values ('api', '/1', now() + interval '1 day')
            """)
        let reader = try TestRole.reader.connect(queue)
        for view in try queue.rows(
            """
            select relname::text from pg_class where relnamespace = 'postrider'::regnamespace and relkind = 'v'
            """)
        {
            _ = try reader.query("select * from postrider.\(try #require(view[0]))")
        }
        #expect(try reader.query("select url from postrider.job_status").text(0, 0) == "/1")
        #expect(try reader.query("select postrider.explain(1)").text(0, 0).hasPrefix("Job 1 is scheduled"))
        #expect(try reader.query("select id from postrider.newest_jobs('scheduled')").int64(0, 0) == 1)
        for sql in [
            "select postrider.cancel(1)", "select postrider.retry(1)", "select postrider.pause_queue('default')",
            "insert into postrider.jobs (url) values ('http://h/')", "select * from postrider.jobs",
            "select headers from postrider.services", "select * from postrider_internal.secrets",
            "select * from postrider_internal.results",
        ] {
            #expect(TestRole.refusal(of: sql, reader) == "42501", "\(sql)")
        }
    }

    @Test func `an admin can configure and control jobs, but cannot register code or read secrets`() throws {
        let queue = try TestQueue()
        let admin = try TestRole.admin.connect(queue)
        try queue.insert("url, run_at", "'http://h/1', now() + interval '1 day'")
        try admin.execute(
            """
            insert into postrider.credentials (name, kind, allowed_origins) values ('key', 'bearer', '{http://h}');
            update postrider.credentials set allowed_origins = '{http://h,http://g}';
            insert into postrider.services (name, base_url, credential) values ('api', 'http://h/', 'key');
            update postrider.services set timeout = '5 s';
            insert into postrider.servers (service, position, base_url) values ('api', 1, 'http://a/'),
              ('api', 2, 'http://b/');
            update postrider.servers set base_url = 'http://c/' where position = 2;
            select postrider.switch_server('api', 2);
            delete from postrider.servers;
            insert into postrider.lanes (name, max_in_flight) values ('h:80', 3);
            update postrider.lanes set max_in_flight = 4;
            delete from postrider.lanes;
            insert into postrider.queues (name, paused) values ('mail', true);
            update postrider.queues set paused = false;
            delete from postrider.queues;
            insert into postrider.schedules (name, cron, spec) values ('daily', '@daily', '{"url": "http://h/"}');
            update postrider.schedules set cron = '@hourly';
            select postrider.run_schedule('daily');
            delete from postrider.schedules;
            update postrider.settings set retention = '10 days';
            select postrider.pause_queue('default'), postrider.resume_queue('default');
            select postrider.pause_lane('h:80'), postrider.resume_lane('h:80');
            select postrider.reschedule(1, now() + interval '2 days', 4);
            select postrider.log_in('key', '{"access_token": "t"}'), postrider.log_out('key');
            select postrider.cache_put('{"url": "http://h/", "cache_ttl": "1 h"}', '{}'::jsonb), postrider.cache_invalidate();
            select postrider.cancel(1), postrider.retry(1), postrider.cancel_all(), postrider.retry_failed();
            select postrider.purge(now() - interval '1 day');
            delete from postrider.services;
            delete from postrider.credentials
            """)
        #expect(try queue.rows("select created_by from postrider.jobs where tag = 'daily'") == [["test_admin"]])
        for sql in [
            "insert into postrider.callbacks (name, function) values ('x', 'pg_catalog.abs(bigint)')",
            "insert into postrider.hooks (event, function) values ('did_stop', 'pg_catalog.abs(bigint)')",
            "select * from postrider_internal.secrets", "select * from postrider.cache_entries",
            "select * from postrider_internal.results",
            "insert into postrider.jobs (url) values ('http://h/')", "drop table postrider.jobs",
        ] {
            #expect(TestRole.refusal(of: sql, admin) == "42501", "\(sql)")
        }
    }

    @Test func `commands name the right that a role lacks`() throws {
        let queue = try TestQueue()
        let database = TestRole.client.database(queue.database)
        let run = try WorkerProcess.run(["run", "--database", database])
        let grant = TestRole.client.missingRight
        #expect(run == .init(status: 64, output: "worker: --database: \(grant)\n"))
        let doctor = try WorkerProcess.run(["doctor", "--database", database])
        #expect(doctor.status == 1)
        #expect(doctor.output.hasSuffix("fault   rights      \(grant)\n"), "\(doctor.output)")
        let retry = try WorkerProcess.run(["retry", "1", "--database", database])
        #expect(
            retry
                == .init(
                    status: 64,
                    output:
                        "worker: permission denied for function retry; the role that connects needs more rights, see docs/roles.md\n"
                ))
        // A role that may read by SQL may also read by the program.
        let far = try queue.insert("url, run_at", "'http://h/', '2100-01-01'")
        for role in [TestRole.admin, .reader] {
            let explained = try WorkerProcess.run(["explain", "\(far)", "--database", role.database(queue.database)])
            #expect(
                explained.status == 0 && explained.output.hasPrefix("Job \(far) is scheduled: it runs"), "\(explained)")
        }
        let stranger = TestRole.stranger.database(queue.database)
        #expect(
            try WorkerProcess.run(["explain", "\(far)", "--database", stranger])
                == .init(status: 64, output: "worker: ID: Job \(far) does not exist.\n"))
        // A client may watch its own trees.
        let id = try PGConnection(database).query(
            "select postrider.submit('{\"run_at\": \"2100-01-01\", \"chain\": [{\"url\": \"http://h/\"}]}')"
        ).int64(0, 0)
        #expect(try PGConnection(database).query("select * from postrider_internal.watch(\(id), 10)").rowCount == 2)
        #expect(try PGConnection(stranger).query("select * from postrider_internal.watch(\(id), 10)").rowCount == 0)
        // It may not even learn that the tree exists, however the session has taken its role.
        for places in ["watch_places(\(id), 10)", "watch_places(null, 10)"] {
            let sql = "select * from postrider_internal.\(places)"
            #expect(try PGConnection(stranger).query(sql).rowCount == 0)
            #expect(try PGConnection(database).query(sql).rowCount == 2)
            for (role, rows) in [("test_stranger", 0), ("test_client", 2), ("test_reader", 2)] {
                try queue.connection.execute("set role \(role)")
                #expect(try queue.connection.query(sql).rowCount == rows, "\(role)")
                try queue.connection.execute("reset role")
            }
        }
    }

    @Test func `a worker's rights suffice to lead, create partitions and drop old partitions`() throws {
        let queue = try TestQueue()
        let worker = try TestRole.worker.connect(queue)
        let id = try worker.query("select worker from postrider_internal.enlist(0, 'a', '0.1.0', null, 8, '{}', '{}')")
            .int64(
                0, 0)
        let epoch = try queue.lead(id)
        try queue.connection.execute("alter table postrider.jobs alter id restart 1500000")
        _ = try worker.query("select postrider_internal.extend_partitions(\(id)::int, \(epoch))")
        #expect(
            try queue.rows(
                """
                select relname::text, relowner::regrole::text from pg_class
                 where relname in ('jobs_3', 'results_3')
                   and relnamespace = any (postrider_internal.own_schemas()) order by 1
                """) == [["jobs_3", "postrider_owner"], ["results_3", "postrider_owner"]])
        let pruned = try worker.query("select dropped from postrider_internal.prune(\(id)::int, \(epoch))").text(0, 0)
        #expect(pruned == "jobs_1 from 1 to 1000000")
        for sql in [
            "insert into postrider.callbacks (name, function) values ('x', 'pg_catalog.abs(bigint)')",
            "drop table postrider_internal.jobs_2", "select secret from postrider_internal.ticket_key for update",
        ] {
            #expect(TestRole.refusal(of: sql, worker) == "42501", "\(sql)")
        }
    }
}
