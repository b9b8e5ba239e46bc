// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// The rights of a client, and its attempts to exceed them.
struct ClientRoleTests {
    @Test func `a client can insert by INSERT, COPY and submit, and read and cancel its jobs`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let later = "now() + interval '1 day'"
        let id = try client.query(
            "insert into postrider.jobs (url, run_at) values ('http://h/1', \(later)) returning id"
        ).int64(0, 0)
        let copied = try Psql.run(
            "copy postrider.jobs (url, run_at) from stdin;\nhttp://h/2\t2100-01-01\nhttp://h/3\t2100-01-01\n\\.\n",
            on: TestRole.client.database(queue.database))
        #expect(copied == .init(status: 0, output: ""))
        let chain = try client.query(
            """
            select postrider.submit('{"run_at": "2100-01-01", "chain": [{"name": "a", "url": "http://h/4"},
              {"batch": [{"url": "http://h/{{a.body.id}}"}]}]}')
            """
        ).int64(0, 0)
        #expect(try client.query("select id from postrider.job_status where url = 'http://h/1'").int64(0, 0) == id)
        #expect(try client.query("select count(*) from postrider.job_status").int64(0, 0) == 7)
        #expect(
            try client.query("select postrider.explain(\(id))").text(0, 0).hasPrefix("Job \(id) is scheduled: it runs"))
        #expect(try client.query("select postrider.cancel(\(chain))").bool(0, 0))
        #expect(try client.query("select postrider.cancel(\(id))").bool(0, 0))
        #expect(try queue.rows("select distinct created_by from postrider.jobs") == [["test_client"]])
        // A client gets the same error messages for rows and specs as other users.
        #expect(TestRole.refusal(of: "insert into postrider.jobs (url) values ('ftp://h/')", client) == "PR001")
        #expect(
            TestRole.refusal(of: "select postrider.submit('{\"url\": \"http://h/\", \"priority\": 1000}')", client)
                == "PR001")
    }

    @Test func `a client cannot see, cancel, join or impersonate another client's jobs`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let stranger = try TestRole.stranger.connect(queue)
        try client.execute(
            """
            insert into postrider.jobs (url, run_at) values ('http://h/1', now() + interval '1 day');
            select postrider.submit('{"run_at": "2100-01-01", "chain": [{"name": "a", "url": "http://h/2"}]}')
            """)
        #expect(try stranger.query("select 1 from postrider.job_status").rowCount == 0)
        #expect(try stranger.query("select 1 from postrider_internal.tickets").rowCount == 0)
        #expect(try stranger.query("select postrider.explain(1)").text(0, 0) == "Job 1 does not exist.")
        for (sql, state) in [
            ("select postrider.cancel(1)", "PR003"), ("select postrider_internal.cancel_job(1, null)", "PR003"),
            ("select postrider_internal.cancel_job(1, '\\x00')", "PR003"),
            ("insert into postrider.jobs (url, created_by) values ('http://h/', 'test_client')", "42501"),
            ("insert into postrider.jobs (url, created_at) values ('http://h/', '2000-01-01')", "42501"),
            ("insert into postrider.jobs (parent_id, url) values (2, 'http://h/{{a.body.secret}}')", "PR001"),
            ("select postrider.submit('{\"parent_id\": 2, \"url\": \"http://h/\"}')", "PR001"),
            (
                "select postrider_internal.insert_spec_jobs(postrider_internal.spec_nodes('{\"url\": \"http://h/\"}', '$'), null, null, 1, 'test_client')",
                "42501"
            ),
            ("select url from postrider.jobs", "42501"), ("delete from postrider.jobs", "42501"),
            ("select postrider_internal.end_job(1, 'c', 'cancelled', 'mine', null, false)", "42501"),
            ("update postrider_internal.scheduled set run_at = now()", "42501"),
            ("select secret from postrider_internal.ticket_key", "42501"),
        ] {
            #expect(TestRole.refusal(of: sql, stranger) == state, "\(sql)")
        }
        #expect(try queue.rows("select distinct state from postrider.job_status order by 1") == [["scheduled"]])
        #expect(try client.query("select postrider.cancel(1)").bool(0, 0))
    }

    @Test(arguments: ["", "a"])
    func `a client cannot join another client's chain while its inserting transaction is open`(name: String) throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        try client.execute(
            "begin; insert into postrider.jobs (kind, run_at) values ('chain', now() + interval '1 day')")
        let chain = try client.query("select max(id) from postrider.jobs").int64(0, 0)
        try client.execute("insert into postrider.jobs (parent_id, name, url) values (\(chain), 'a', 'http://h/')")
        let database = TestRole.stranger.database(queue.database)
        let message = Mutex<String?>(nil)
        let thief = BackgroundThread {
            // Takes the position of the client's member, and waits for the member's commit.
            let sql = """
                insert into postrider.jobs (parent_id, name, url)
                values (\(chain), nullif('\(name)', ''), 'http://thief/{{a.body}}')
                """
            do throws(PGError) {
                try PGConnection(database).execute(sql)
            } catch {
                let text = error.message
                message.withLock { $0 = text }
            }
        }
        try queue.waitUntilBlocked("thief")
        try client.execute("commit")
        thief.join()
        #expect(message.withLock { $0 } == "jobs.parent_id: job \(chain) does not exist")
        #expect(try queue.number("select count(*) from postrider_internal.members") == 1)
    }

    @Test func `a client cannot learn the dedupe_key of another client's ended job`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let stranger = try TestRole.stranger.connect(queue)
        try client.execute(
            "insert into postrider.jobs (url, dedupe_key, run_at) values ('http://h/', 'k', now() + interval '1 day')")
        let guess = """
            select postrider_internal.spec_duplicate(
              array[row(1, null, null, '$', 'request', null, false, '{"dedupe_key": "k"}', null)::postrider_internal.spec_node], 'job 1') is null
            """
        // An INSERT of the same key reveals the same.
        #expect(try !stranger.query(guess).bool(0, 0))
        try client.execute("select postrider.cancel(1)")
        #expect(try stranger.query(guess).bool(0, 0))
    }

    @Test func `no view or condition reveals answers of another client's jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let stranger = try TestRole.stranger.connect(queue)
        let values = "'\(target.url)/ok', '{\"order\": 7}', 'n'"
        try client.execute("insert into postrider.jobs (url, metadata, tag) values (\(values))")
        try client.execute("insert into postrider.jobs (url, max_attempts) values ('\(target.url)/status/500', 1)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        for (view, rows) in [("job_status", 2), ("attempts", 2), ("recent_failures", 1)] {
            #expect(try client.query("select 1 from postrider.\(view)").rowCount == rows, "\(view)")
            #expect(try stranger.query("select 1 from postrider.\(view)").rowCount == 0, "\(view)")
        }
        // The message of a failed cast does not reveal the value either.
        for (view, column) in [
            ("job_status", "error_code"), ("job_status", "worker"), ("attempts", "worker || error_code"),
        ] {
            #expect(try stranger.query("select 1 from postrider.\(view) where (\(column))::int = 1").rowCount == 0)
        }
        // The planner may call a function with a low cost before other conditions.
        try stranger.execute(
            """
            create temp table seen (word text);
            create function pg_temp.look(word text) returns boolean language plpgsql cost 0.0000001 as $$
            begin
              insert into seen select word where word is not null;
              return true;
            end $$
            """)
        for (view, columns) in [
            (
                "postrider.job_status",
                [
                    "name", "lane", "service", "method", "url", "response_headers", "body", "result", "error",
                    "metadata",
                    "worker", "status_code", "error_code", "from_cache",
                ]
            ),
            (
                "postrider.attempts",
                [
                    "remote_ip", "server", "error", "worker", "total_ms", "status_code", "error_code", "bytes_received",
                    "bytes_sent", "http_version", "reused", "cache",
                ]
            ),
            ("postrider.recent_failures", ["url", "error", "lane", "tag"]),
            ("postrider.callback_errors", ["error", "tag"]),
            ("postrider.pages", ["url", "next"]), ("postrider_internal.tickets", ["ticket"]),
        ] {
            for column in columns {
                _ = try stranger.query("select 1 from \(view) where pg_temp.look(\(column)::text)")
            }
        }
        #expect(try stranger.query("select word from seen").rowCount == 0)
    }

    @Test func `a client's functions that shadow system functions change nothing`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let stranger = try TestRole.stranger.connect(queue)
        try client.execute("insert into postrider.jobs (url, run_at) values ('http://h/1', now() + interval '1 day')")
        try queue.connection.execute(
            """
            create schema evil authorization test_stranger;
            do $$ begin execute format('grant create, temporary on database %I to test_stranger', current_database()); end $$
            """)
        try stranger.execute(
            """
            create table evil.pg_namespace as select 'postrider'::name as nspname,
              'test_stranger'::regrole::oid as nspowner;
            create function evil.pg_has_role(oid, oid, text) returns boolean language sql as 'select true';
            create function evil.to_regrole(text) returns regrole language sql as $$ select 'test_stranger'::regrole $$;
            create function evil.sha256(bytea) returns bytea language sql as $$ select '\\x00'::bytea $$;
            create function evil.regexp_match(text, text) returns text[] language plpgsql immutable as
              $$ begin raise exception 'seen: %', $1; end $$;
            create function evil.lower(text) returns text language plpgsql immutable as
              $$ begin raise exception 'seen: %', $1; end $$;
            set search_path = evil, pg_catalog
            """)
        #expect(try stranger.query("select 1 from postrider.job_status").rowCount == 0)
        #expect(try stranger.query("select postrider.explain(1)").text(0, 0) == "Job 1 does not exist.")
        #expect(TestRole.refusal(of: "select postrider_internal.cancel_job(1, '\\x00')", stranger) == "PR003")
        #expect(try !stranger.query("select postrider_internal.sees_all()").bool(0, 0))
    }

    @Test func `a SECURITY DEFINER function of a client can cancel the client's jobs for any caller`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create schema api authorization test_client;
            grant usage on schema api to test_nobody;
            set role test_client;
            create function api.book() returns bigint language sql security definer set search_path = pg_catalog as
              $$ insert into postrider.jobs (url, run_at) values ('http://h/', now() + interval '1 day')
                returning id $$;
            create function api.cancel(bigint) returns boolean language sql security definer set search_path = pg_catalog as
              $$ select postrider.cancel($1) $$;
            reset role
            """)
        let nobody = try TestRole.nobody.connect(queue)
        let id = try nobody.query("select api.book()").int64(0, 0)
        #expect(TestRole.refusal(of: "select postrider.cancel(\(id))", nobody) == "42501")
        #expect(try nobody.query("select api.cancel(\(id))").bool(0, 0))
        #expect(try queue.state(id) == "cancelled")
    }
}
