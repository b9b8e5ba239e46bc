// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Calls that stubs answer without a network.
struct StubTests {
    /// A service whose base no server has.
    private func queue(_ stub: String, _ more: String = "") throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, stub) values ('api', 'http://api.invalid/v1', $x$\(stub)$x$);
            \(more)
            """)
        return queue
    }

    @Test func `the first stub that fits answers without a network`() throws {
        let queue = try queue(
            """
            [{"match": {"method": "POST", "path": "/users"}, "status": 201, "headers": {"Location": "/users/8"}, "body": {"id": 8}},
             {"match": {"path": "/users/*"}, "body": {"id": 7}, "delay": "50 ms"},
             {"match": {"path": "/text"}, "body": "hello"}, {"match": {"path": "/**"}, "status": 404}]
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for (columns, values) in [
            ("service, url, method", "'api', 'users', 'POST'"), ("service, url", "'api', '/v1/users/7'"),
            ("service, url", "'api', 'text'"), ("service, url", "'api', 'http://api.invalid/v1/other'"),
        ] { try queue.insert(columns, values) }
        try queue.waitUntilDone()
        let rows = try queue.rows(
            """
            select s.state, s.status_code::text, convert_from(s.body, 'UTF8'),
                   s.response_headers -> 'content-type' ->> 0, a.from_stub::text, a.remote_ip, (a.total_ms >= 50)::text
              from postrider.job_status s join postrider.attempts a on a.job_id = s.id order by s.id
            """)
        #expect(
            rows == [
                ["succeeded", "201", #"{"id": 8}"#, "application/json", "true", nil, "false"],
                ["succeeded", "200", #"{"id": 7}"#, "application/json", "true", nil, "true"],
                ["succeeded", "200", "hello", "text/plain; charset=utf-8", "true", nil, "false"],
                ["failed", "404", "", nil, "true", nil, "false"],
            ], "\(rows)")
        #expect(try queue.text("select has_stub::text from postrider.service_status") == "true")
    }

    @Test func `a job without a fitting stub fails with config and is not called`() throws {
        let queue = try queue(#"[{"match": {"path": "/users/*"}}]"#)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("service, url", "'api', 'orders/7?x=1'")
        let file = try queue.insert("service, url, download_to", "'api', 'users/7', 'a.txt'")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select state, error_code, error from postrider.job_status where id = \(id)") == [
                [
                    "failed", "config",
                    "no stub of service api fits GET /orders/7; add one to services.stub and retry the job",
                ]
            ])
        #expect(
            try queue.text("select error from postrider.job_status where id = \(file)")?.contains("download_to") == true
        )
    }

    @Test func `stubbed answers are judged, retried and paginated like answers of a server`() throws {
        let queue = try queue(
            """
            [{"match": {"path": "/list", "query": {"page": 1}}, "body": [1, 2]},
             {"match": {"path": "/list", "query": {"page": 2}}, "body": [3]},
             {"match": {"path": "/list"}, "body": []},
             {"match": {"path": "/slow"}, "delay": "1 min"},
             {"match": {"path": "/bad"}, "body": {"errors": [{"message": "no"}]}},
             {"match": {"path": "/busy"}, "status": 503}, {"match": {"path": "/limit"}, "status": 429}]
            """,
            """
            update postrider.services set rules = '[{"if": "exists($.body.errors)", "do": "fail", "error": "$.body.errors[0].message"}]',
              max_wait = '1 s'
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert("service, url, paginate", #"'api', 'list', '{"style": "page", "param": "page"}'"#)
        try queue.insert("service, url, timeout, max_attempts", "'api', 'slow', '100 ms', 1")
        try queue.insert("service, url", "'api', 'bad'")
        try queue.insert("service, url, max_attempts, backoff", "'api', 'busy', 3, '{1 ms}'")
        try queue.insert("service, url", "'api', 'limit'")
        try queue.waitUntilDone()
        let rows = try queue.rows(
            """
            select s.state, s.error_code, coalesce(s.result::text, '-'),
                   (select count(*) from postrider.attempts a where a.job_id = s.id and a.from_stub)::text
              from postrider.job_status s where s.url <> 'limit' order by s.id
            """)
        #expect(
            rows == [
                ["succeeded", nil, "[1, 2, 3]", "3"], ["failed", "timeout", "-", "1"],
                ["failed", "rule", #"{"errors": [{"message": "no"}]}"#, "1"],
                ["failed", "http_status", "-", "3"],
            ], "\(rows)")
        // A 429 lets only its job wait.
        #expect(try queue.text("select error_code from postrider.job_status where url = 'limit'") == "http_429")
        #expect(try queue.number("select count(*) from postrider_internal.throttled_lanes") == 0)
        #expect(try queue.number("select count(*) from postrider.lane_status where paused_until is not null") == 0)
    }

    @Test func `a stubbed call needs no login, cache, server or cookies`() throws {
        let queue = try queue(
            #"[{"headers": {"Set-Cookie": "a=1"}, "body": {"n": 1}}]"#,
            """
            insert into postrider.credentials (name, kind) values ('c', 'bearer');
            update postrider.services set credential = 'c', cookies = true;
            insert into postrider.servers (service, position, base_url) values ('api', 1, 'http://one.invalid/');
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert(2, "service, url, cache_ttl, login_required", "'api', 'x', '1 h', true")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 2")
        #expect(
            try queue.rows("select distinct cache, server, credential_version::text from postrider.attempts")
                == [[nil, nil, nil]])
        for table in ["postrider.cache_entries", "postrider_internal.cookies", "postrider_internal.cache_flights"] {
            #expect(try queue.number("select count(*) from \(table)") == 0, "\(table)")
        }
        #expect(try queue.number("select sum(calls)::bigint from postrider.servers") == 0)
    }

    @Test func `a worker with stubs-only makes no real call`() throws {
        let target = try TargetServer()
        let queue = try queue(
            #"[{"body": 1}]"#,
            """
            insert into postrider.services (name, base_url) values ('real', '\(target.url)');
            insert into postrider.credentials (name, kind, token_url, client_id) values ('c', 'oauth2_client_credentials',
              '\(target.url)/token', 'app');
            select postrider.log_in('c', '{"client_secret": "x"}');
            """)
        let worker = try RunningWorker(queue.database, ["--stubs-only"])
        defer { worker.kill() }
        let stubbed = try queue.insert(
            "service, url, callback_url", "'api', 'x', '\(target.url)/hook'")
        for (columns, values) in [
            ("url", "'\(target.url)/ok'"), ("service, url", "'real', 'ok'"),
            ("service, url, credential", "'real', 'ok', 'c'"), ("url, tag", "'\(target.url)/ok', 'x'"),
        ] { try queue.insert(columns, values) }
        try queue.wait(until: "select count(*) = 6 from postrider_internal.results")
        #expect(try queue.state(stubbed) == "succeeded")
        #expect(
            try queue.rows(
                "select distinct state, error_code from postrider.job_status where id <> \(stubbed)")
                == [["failed", "config"]])
        #expect(target.requests.isEmpty)
    }

    @Test func `stubbed calls obey the limit of their lane, hooks and chains`() throws {
        let queue = try queue(
            #"[{"match": {"path": "/made"}, "body": {"id": 7}}, {"match": {"path": "/7"}, "body": {"n": 1}, "delay": "20 ms"}]"#,
            "insert into postrider.lanes (name, max_in_flight) values ('api', 1)")
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            "insert into postrider.hooks (event, function, service) values ('will_start', 'app.hook(bigint, text)', 'api')"
        )
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "service": "api", "url": "made"},
              {"service": "api", "url": "{{a.body.id}}", "extract": "$.n", "on_success": "note"}]}')
            """)
        try queue.insert(5, "service, url", "'api', '7'")
        try queue.wait(for: root, toBe: "succeeded")
        try queue.wait(until: "select count(*) = 8 from postrider_internal.results where state = 's'")
        #expect(try queue.number("select count(*) from postrider.attempts where not from_stub") == 0)
    }

    @Test func `doctor warns of services with stubs`() throws {
        let queue = try queue("[]")
        let outcome = try WorkerProcess.run(["doctor", "--database", TestRole.worker.database(queue.database)])
        #expect(outcome.output.contains("no real call for: 'api'"), "\(outcome.output)")
    }

    @Test func `a cancelled job's stub is dropped, and its slot takes the next job`() throws {
        let queue = try queue(#"[{"match": {"path": "/slow"}, "delay": "1 min"}, {"body": 1}]"#)
        let worker = try RunningWorker(queue.database, concurrency: 1)
        defer { worker.kill() }
        let slow = try queue.insert("service, url", "'api', 'slow'")
        try queue.wait(for: slow, toBe: "running")
        try queue.connection.execute("select postrider.cancel(\(slow))")
        let next = try queue.insert("service, url", "'api', 'next'")
        try queue.wait(for: next, toBe: "succeeded")
    }
}
