// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The refusals of `client_limits`, with their messages.
struct ClientLimitTests {
    private let client = TestRole.client.name

    @Test func `each client limit refuses an INSERT with the column, the limit and a hint`() throws {
        let fixture = try LimitFixture(
            "max_unfinished, max_lanes, min_priority, max_priority, max_timeout, max_request_body, may_download",
            "10, 3, -4, 4, '2 min', 20, false")
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, timeout) values ('slow', 'http://h/', '10 min')")
        let body = "a smaller body, or a file of body_parts, or ask for a higher client_limits.max_request_body."
        for (columns, values, column, message, hint) in [
            (
                "url, priority", "'http://h/', 5", "priority", "5 is above 4, the highest of client \(client)",
                "Give 4 or less, or ask for a higher client_limits.max_priority."
            ),
            (
                "url, priority", "'http://h/', -5", "priority", "-5 is below -4, the lowest of client \(client)",
                "Give -4 or more, or ask for a lower client_limits.min_priority."
            ),
            (
                "url, timeout", "'http://h/', '3 min'", "timeout",
                "00:03:00 is above 00:02:00, the longest of client \(client)",
                "Give at most 00:02:00. Without a timeout the job has its service's, or 60 s."
            ),
            (
                "url, service", "'/', 'slow'", "timeout", "00:10:00 is above 00:02:00, the longest of client \(client)",
                "Give at most 00:02:00. Without a timeout the job has its service's, or 60 s."
            ),
            (
                "url, download_to, service", "'http://h/', 'a', 'slow'", "timeout",
                "a download or upload needs a timeout, because the limit of client \(client) is 00:02:00",
                "Give at most 00:02:00."
            ),
            (
                "url, download_to, timeout", "'http://h/', 'a', '1 s'", "download_to",
                "client \(client) may not download to files",
                "Leave download_to out, or ask for client_limits.may_download."
            ),
            (
                "url, method, body", "'http://h/', 'POST', repeat('x', 21)::bytea", "body",
                "more than 20 bytes as sent, the limit of client \(client)", "Send \(body)"
            ),
            (
                "url, method, body_json", "'http://h/', 'POST', to_jsonb(repeat('x', 19))", "body",
                "more than 20 bytes as sent, the limit of client \(client)", "Send \(body)"
            ),
            (
                "url, method, body_form", "'http://h/', 'POST', '{\"a\": \"üüü\", \"b\": 1}'", "body",
                "more than 20 bytes as sent, the limit of client \(client)", "Send \(body)"
            ),
        ] {
            let words = "PR015\n\(column)\njobs.\(column): \(message)\n\(hint)"
            let row = "insert into postrider.jobs (\(columns)) values"
            #expect(TestRole.words(of: "\(row) (\(values))", fixture.client) == words)
            // The limit also holds for one of several rows. The other rows are not inserted either.
            #expect(
                TestRole.words(of: "\(row) (\(values)), (\(values))", fixture.client) == words, "two rows")
        }
        let lanes = "insert into postrider.jobs (url) select 'http://h' || i || '/' from generate_series(1, 4) i"
        #expect(
            TestRole.words(of: lanes, fixture.client)
                == """
                PR015
                lane
                jobs.lane: client \(client) would have unfinished jobs in 4 lanes, and its limit is 3
                Use a lane that has unfinished jobs, wait for jobs to end, or ask for a higher client_limits.max_lanes.
                """)
        let jobs = "insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 11) i"
        #expect(
            TestRole.words(of: jobs, fixture.client)
                == """
                PR015
                created_by
                jobs.created_by: client \(client) would have 11 unfinished jobs, and its limit is 10
                Wait for jobs to end, cancel some, or ask for a higher client_limits.max_unfinished.
                """)
        #expect(try fixture.queue.number("select count(*) from postrider.jobs") == 0)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0)
        // A job exactly at the limits is accepted.
        try fixture.client.execute(
            """
            insert into postrider.jobs (url, priority, timeout, method, body) values
              ('http://h1/', 4, '2 min', 'POST', repeat('x', 20)::bytea), ('http://h2/', -4, null, 'GET', null);
            insert into postrider.jobs (url) select 'http://h3/' from generate_series(1, 8)
            """)
    }

    @Test func `client limits also hold for a single row on an existing track`() throws {
        let fixture = try LimitFixture(
            "max_unfinished, max_priority, max_timeout, max_request_body", "2, 4, '1 min', 20")
        for priority in [0, 5] {
            try fixture.queue.connection.execute(
                "insert into postrider_internal.tracks (queue, lane, priority, made_at) values ('default', 'h:80', \(priority), '-infinity')"
            )
        }
        #expect(
            TestRole.words(of: "insert into postrider.jobs (url, priority) values ('http://h/', 5)", fixture.client)?
                .contains("jobs.priority: 5 is above 4") == true)
        #expect(
            TestRole.words(
                of:
                    "insert into postrider.jobs (url, method, body_json) values ('http://h/', 'POST', '\"\(String(repeating: "x", count: 19))\"')",
                fixture.client)?.contains("jobs.body: more than 20 bytes") == true)
        let row = "insert into postrider.jobs (url) values ('http://h/')"
        for _ in 1...2 { try fixture.client.execute(row) }
        #expect(try fixture.queue.number("select count(*) from postrider_internal.ready where track > 0") == 2)
        // Until the leader has counted, each transaction knows only its own rows.
        try fixture.count()
        #expect(
            TestRole.words(of: row, fixture.client)?.contains("would have 3 unfinished jobs, and its limit is 2")
                == true)
        #expect(try fixture.usage() == "2 -")
    }

    @Test func `a transaction's earlier rows count towards its limits, except rolled back rows`() throws {
        let fixture = try LimitFixture("max_unfinished, max_lanes", "10, 3")
        func rows(_ count: Int, _ lane: String) -> String {
            "insert into postrider.jobs (url) select 'http://\(lane)/' from generate_series(1, \(count))"
        }
        try fixture.client.execute("begin; \(rows(4, "a")); \(rows(4, "b")); savepoint s")
        #expect(TestRole.refusal(of: rows(3, "a"), fixture.client) == "PR015")
        try fixture.client.execute("rollback to s; \(rows(1, "c")); savepoint s")
        #expect(TestRole.words(of: rows(1, "d"), fixture.client)?.contains("jobs.lane: ") == true)
        try fixture.client.execute("rollback to s; \(rows(1, "c")); savepoint s")
        #expect(TestRole.words(of: rows(1, "c"), fixture.client)?.contains("11 unfinished jobs") == true)
        try fixture.client.execute("rollback to s; commit")
        try fixture.count()
        #expect(try fixture.usage() == "10 3")
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_deltas") == 0)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.client_new_lanes") == 0)
    }

    @Test func `a session's limit check includes rows of other sessions once committed and counted`() throws {
        let fixture = try LimitFixture("max_unfinished", "10")
        let other = try TestRole.client.connect(fixture.queue)
        let six = "insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 6)"
        try other.execute("begin; \(six)")
        try fixture.count()
        try fixture.client.execute("begin; \(six)")
        try other.execute("commit")
        try fixture.count()
        #expect(try fixture.usage() == "6 -")
        // This transaction has inserted six jobs.
        #expect(
            TestRole.words(of: "insert into postrider.jobs (url) values ('http://h/')", fixture.client)?
                .contains("13 unfinished jobs") == true)
        try fixture.client.execute("rollback")
        #expect(
            TestRole.words(of: six, fixture.client)?.contains("12 unfinished jobs") == true)
        try fixture.client.execute("insert into postrider.jobs (url) select 'http://h/' from generate_series(1, 4)")
    }

    @Test func `the limit row with an asterisk applies to each client without its own row separately`() throws {
        let fixture = try LimitFixture(role: "*", "max_unfinished", "2")
        let stranger = try TestRole.stranger.connect(fixture.queue)
        let two = "insert into postrider.jobs (url) values ('http://h/'), ('http://h/')"
        try fixture.client.execute(two)
        try fixture.count()
        #expect(TestRole.refusal(of: two, fixture.client) == "PR015")
        try stranger.execute(two)
        try fixture.limit(TestRole.stranger.name, "max_unfinished", "4")
        try fixture.count()
        #expect(TestRole.refusal(of: two, fixture.client) == "PR015")
        try stranger.execute(two)
        try fixture.count()
        #expect(TestRole.refusal(of: two, stranger) == "PR015")
        let shown =
            "select role, unfinished::text, max_unfinished::text, is_default::text from postrider.client_status order by 1"
        #expect(
            try fixture.queue.rows(shown) == [
                ["test_client", "2", "2", "true"], ["test_stranger", "4", "4", "false"],
            ])
        // A client sees only its own row.
        #expect(
            try stranger.query("select string_agg(role, ' ') from postrider.client_status").text(0, 0)
                == "test_stranger")
        #expect(TestRole.refusal(of: "select from postrider.client_limits", stranger) == "42501")
        #expect(TestRole.refusal(of: "delete from postrider_internal.client_deltas", stranger) == "42501")
        let admin = try TestRole.admin.connect(fixture.queue)
        try admin.execute("update postrider.client_limits set max_unfinished = null where role = '*'")
        try fixture.client.execute(two)
    }

    @Test func `limits exempt the owner and workers, but not after SET ROLE to a client`() throws {
        let fixture = try LimitFixture(role: "*", "max_unfinished, max_priority", "0, 0")
        let row = "insert into postrider.jobs (url, priority) values ('http://h/', 1)"
        try fixture.limit(TestRole.worker.name, "max_unfinished", "0")
        try fixture.queue.connection.execute(row)
        try TestRole.worker.connect(fixture.queue).execute(row)
        try fixture.queue.connection.execute("set role \(client)")
        #expect(TestRole.refusal(of: row, fixture.queue.connection) == "PR015")
        try fixture.queue.connection.execute("reset role")
        try fixture.count()
        #expect(try fixture.queue.rows("select role from postrider.client_status") == [])
        // Rows inserted by a client's security definer function count for the client.
        let schema = """
            create schema app; grant usage, create on schema app to \(client); set role \(client);
            create function app.add() returns void language sql security definer
              as $$ insert into postrider.jobs (url) values ('http://h/') $$;
            reset role; grant usage on schema app to \(TestRole.nobody.name)
            """
        try fixture.queue.connection.execute(schema)
        #expect(TestRole.refusal(of: "select app.add()", try TestRole.nobody.connect(fixture.queue)) == "PR015")
    }

    @Test func `client limits hold for rows inserted by submit and by COPY`() throws {
        let fixture = try LimitFixture("max_unfinished, max_priority", "3, 0")
        let spec = """
            select postrider.submit('{"batch": [{"url": "http://h/1"}, {"url": "http://h/2"},
              {"chain": [{"url": "http://h/3"}, {"url": "http://h/4"}]}]}')
            """
        #expect(
            TestRole.words(of: spec, fixture.client)?.contains("would have 4 unfinished jobs, and its limit is 3")
                == true)
        #expect(
            TestRole.refusal(of: "select postrider.submit('{\"url\": \"http://h/\", \"priority\": 1}')", fixture.client)
                == "PR015")
        let database = TestRole.client.database(fixture.queue.database)
        func copy(_ count: Int) throws -> WorkerProcess.Outcome {
            let rows = String(repeating: "http://h/\n", count: count)
            return try Psql.run("copy postrider.jobs (url) from stdin;\n\(rows)\\.\n", on: database)
        }
        #expect(try copy(4).output.contains("would have 4 unfinished jobs, and its limit is 3"))
        #expect(try copy(3) == .init(status: 0, output: ""))
        try fixture.count()
        #expect(try fixture.usage() == "3 -")
        // Batches and chains count by their members.
        try fixture.queue.connection.execute("update postrider.client_limits set max_unfinished = 7")
        try fixture.client.execute(spec)
        try fixture.count()
        #expect(try fixture.usage() == "7 -")
        #expect(try fixture.truth()?.hasPrefix("7 ") == true)
    }

    @Test func `webhooks, schedule ticks and members of an each count towards limits but are not refused`() throws {
        let target = try TargetServer { request in
            request.path == "/list" ? TargetStep.answer(200, #"{"ids": [1, 2, 3]}"#) : TargetStep.byPath(request)
        }
        let queue = try TestQueue()
        let session = try TestRole.client.connect(queue)
        try queue.connection.execute(
            """
            insert into postrider.client_limits (role, max_unfinished) values ('\(client)', 2);
            insert into postrider.queues (name, paused) values ('later', true);
            grant insert on postrider.schedules to \(client)
            """)
        try session.execute(
            """
            insert into postrider.schedules (name, cron, spec)
            values ('s', '* * * * * *', '{"url": "\(target.url)/ok", "queue": "later"}')
            """)
        try session.execute(
            """
            select postrider.submit('{"chain": [{"name": "list", "url": "\(target.url)/list"},
              {"batch": {"each": "{{list.body.ids}}", "do": {"url": "\(target.url)/ok/{{item}}", "queue": "later"}}}]}')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        // Three members wait in a paused queue, and a tick comes every second. That is far above the limit of two.
        try queue.wait(until: "select count(*) >= 2 from postrider.jobs where tag = 's'")
        try queue.wait(
            until: "select count(*) = 4 from postrider.jobs where parent_id is not null and kind = 'request'")
        try queue.connection.execute("update postrider.client_limits set max_unfinished = null")
        let id = try session.query(
            "insert into postrider.jobs (url, callback_url) values ('\(target.url)/held', '\(target.url)/held') returning id"
        ).int64(0, 0)
        try TestClock.wait(20, for: "the call") { target.requests("/held").count == 1 }
        try queue.connection.execute("update postrider.client_limits set max_unfinished = 2")
        target.release()
        try queue.wait(for: id, toBe: "succeeded")
        try queue.wait(until: "select count(*) = 1 from postrider.jobs where tag = 'webhook'")
        try queue.wait(
            until:
                "select coalesce((select unfinished >= 5 from postrider.client_status where role = '\(client)'), false)"
        )
        #expect(TestRole.refusal(of: "insert into postrider.jobs (url) values ('http://h/')", session) == "PR015")
    }
}
