// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Sessions with unusual settings.
///
/// PostgreSQL parses the text of a function, and writes values, under the settings of the calling session.
struct SessionSettingTests {
    private static let settings = ["standard_conforming_strings = off", "quote_all_identifiers = on"]

    private static let statements = [
        "insert into postrider.jobs (url) values ('http://h/a')",
        "insert into postrider.jobs (url) values ('http://Ada:pw@H.example:8080/a?b=c'), ('http://[::1]/')",
        "insert into postrider.jobs (url) values (E'http://h/\\t')",
        "insert into postrider.jobs (url) values ('http://h/é')",
        "insert into postrider.jobs (url) values (E'http://h/\\\\')",
        "insert into postrider.jobs (url) values ('http://h:99999/')",
        "insert into postrider.jobs (url, headers) values ('http://h/', '{\"X-A\": \"b\", \"X-B\": [\"c\", \"d\"]}')",
        "insert into postrider.jobs (url, headers) values ('http://h/', '{\"Host\": \"b\"}')",
        "insert into postrider.jobs (url, headers) values ('http://h/', '{\"a b\": \"b\"}')",
        "insert into postrider.jobs (url, headers) values ('http://h/', E'{\"a\": \"b\\\\nc\"}')",
        "insert into postrider.jobs (url, query) values ('http://h/', '{\"a\": [1, 2]}')",
        "insert into postrider.jobs (url, download_to) values ('http://h/', 'a/../b')",
        "insert into postrider.jobs (url, download_to) values ('http://h/', 'a.part')",
        "insert into postrider.jobs (url, download_to) values ('http://h/', 'reports/a.csv')",
        "insert into postrider.jobs (url, cache_ttl) values ('http://a:b@h/', '1 s')",
        "insert into postrider.jobs (url, extract) values ('http://h/', '$.a.b')",
        "insert into postrider.jobs (url, paginate) values ('http://h/', '{\"style\": \"link\"}')",
        "insert into postrider.jobs (url, validator) values ('http://h/', '{\"a\": [\"string\"]}')",
        "insert into postrider.jobs (url, validator) values ('http://h/', '{\"a\": \"text\"}')",
        "insert into postrider.jobs (url, method, body_parts) values ('http://h/', 'POST', '[{\"name\": \"a\", \"content\": \"b\"}]')",
        "insert into postrider.jobs (url, method, body_parts) values ('http://h/', 'POST', '[{\"name\": \"a\", \"file\": \"../b\"}]')",
        "insert into postrider.services (name, base_url, proxy) values ('s', 'http://h/v1', 'http://u:p@proxy:3128')",
        "insert into postrider.services (name, base_url) values ('t', 'http://u:p@h/')",
        "select base_url from postrider.service_status order by service",
        "insert into postrider.services (name, base_url, proxy) values ('u', 'http://h/', 'http://a b/')",
        "insert into postrider.jobs (service, url) values ('s', '../x?y=1')",
        "insert into postrider.servers (service, position, base_url) values ('s', 1, 'http://h2/v1')",
        "insert into postrider.lanes (name, rate_limit) values ('h:80', 5)",
        "insert into postrider.callbacks (name, function) values ('c', 'no.such(bigint)')",
        "insert into postrider.schedules (name, cron, spec) values ('a', '*/5 9-17 * * mon-fri', '{\"url\": \"http://h/\"}')",
        "insert into postrider.schedules (name, cron, spec) values ('b', '61 * * * *', '{\"url\": \"http://h/\"}')",
        "insert into postrider.schedules (name, cron, spec) values ('c', '@daily', '{\"uri\": \"http://h/\"}')",
        "select postrider.cron_next('0 0 L * 5#2', 'Europe/Berlin', '2026-01-01')::text",
        "select postrider.submit('{\"chain\": [{\"name\": \"a\", \"url\": \"http://h/\"}, {\"url\": \"http://h/{{a.body.x[0]}}\"}]}')::text",
        "select postrider.submit('{\"chain\": [{\"name\": \"a\", \"url\": \"http://h/\"}, {\"url\": \"http://h/{{b.body}}\"}]}')::text",
        "select postrider.submit('{\"batch\": {\"each\": [1, 2], \"do\": {\"url\": \"http://h/{{item}}\"}}}')::text",
        "select postrider.submit('{\"chain\": [{\"name\": \"a\", \"url\": \"http://h/\"}, {\"url\": \"http://h/\", \"run_if\": \"$.a.status == 200\"}]}')::text",
        "select postrider.submit('{\"url\": \"http://h/\", \"maxAttempts\": 1}')::text",
        "select postrider.submit('{\"chain\": [{\"url\": \"http://h/\", \"timeout\": \"x\"}]}')::text",
        "select postrider.submit('{\"chain\": [{\"url\": 5}]}')::text",
        "select postrider.submit('{\"chain\": [{\"url\": \"http://h/\", \"name\": 5}]}')::text",
        "insert into postrider.callbacks (name, function) values ('d', 'app.paid(bigint)') returning function",
        "insert into postrider.hooks (event, function) values ('did_stop', 'app.audit(bigint,text)') returning function",
        "insert into postrider.hooks (event, function) values ('did_stop', 'app.paid(bigint)')",
        "select replace(regexp_replace(postrider.explain(id), '[0-9]+', 'n', 'g'), '\"', '') from postrider.jobs order by id",
        "select state || ' ' || lane || ' ' || url from postrider.job_status where kind = 'request' order by id",
        "select lane || ' ' || ready from postrider.lane_status order by lane",
        "select queue || ' ' || ready || ' ' || waiting from postrider.queue_status",
        "select postrider.cache_put('{\"url\": \"http://h/c\", \"cache_ttl\": \"1 h\"}', '{\"a\": 1}')::text",
        "select postrider.cache_invalidate('', 'http://h/%')::text",
    ]

    @Test(arguments: settings) func `SQL statements give the same results with unusual session settings`(
        setting: String
    ) throws {
        let usual = try TestQueue()
        let other = try TestQueue()
        try makeFunctions(in: usual)
        try makeFunctions(in: other)
        try set(setting, in: other)
        for statement in Self.statements {
            #expect(try outcome(of: statement, other) == outcome(of: statement, usual), "\(statement)")
        }
    }

    @Test(arguments: settings + ["datestyle = German", "intervalstyle = sql_standard", "bytea_output = escape"])
    func `a worker runs all kinds of jobs in a database with unusual settings`(setting: String) throws {
        let api = try SmallAPIServer()
        let queue = try TestQueue()
        try makeFunctions(in: queue)
        try set(setting, in: queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let session = try PGConnection(queue.database)
        try session.execute(
            """
            insert into postrider.hooks (event, function) values
              ('will_start', 'app.audit(bigint, text)'), ('did_stop', 'app.audit(bigint, text)');
            insert into postrider.services (name, base_url) values ('api', '\(api.url)');
            select postrider.submit('{"chain": [
              {"name": "register", "service": "api", "method": "POST", "url": "/register", "body_json": {"username": "ada"},
               "ok_statuses": "{[200,202)}"},
              {"name": "user", "service": "api", "url": "/users/{{register.body.data.id}}", "response_format": "json", "cache_ttl": "1 h",
               "validator": {"data": {"username": "string"}}, "extract": "$.data", "run_if": "$.register.status == 201"},
              {"service": "api", "url": "/avatars/{{user.result.id}}", "response_format": "xml"},
              {"batch": {"each": "{{user.body.data.username}}", "do": {"url": "http://h/{{item}}"}}, "run_if": "$.user.status == 404"}]}');
            insert into postrider.jobs (url, paginate) values ('\(api.url)/link?total=25&size=10', '{"style": "link"}');
            insert into postrider.jobs (url, query, headers, body_form, method)
            values ('\(api.url)/register', '{"a": "b c"}', '{"X-A": "b"}', '{"x": ["y", "z"]}', 'POST')
            """)
        try queue.wait(until: "select count(*) = 7 from postrider_internal.results")
        #expect(try queue.number("select count(*) from app.log where event = 'did_stop'") == 7)
        #expect(try queue.rows("select error from postrider.callback_errors") == [])
        let ends = try queue.rows(
            "select kind, state, error_code, right(url, 9) from postrider.job_status order by id")
        #expect(
            ends == [
                ["chain", "succeeded", nil, nil], ["request", "succeeded", nil, "/register"],
                ["request", "succeeded", nil, "/users/1"], ["request", "succeeded", nil, "avatars/1"],
                ["batch", "skipped", nil, nil], ["request", "succeeded", nil, "5&size=10"],
                ["request", "failed", "http_status", "/register"],
            ])
    }

    private func makeFunctions(in queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            create schema app;
            create table app.log (job bigint, event text);
            grant usage on schema app to postrider_worker;
            grant insert on app.log to postrider_worker;
            create function app.paid(bigint) returns void language sql as 'select';
            create function app.audit(bigint, text) returns void language sql as 'insert into app.log values ($1, $2)'
            """)
    }

    /// Changes a setting for all later sessions in the database.
    private func set(_ setting: String, in queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            "do $$ begin execute format('alter database %I set \(setting)', current_database()); end $$")
    }

    /// Runs a statement in a new session, which has parsed no function yet. Returns its rows or its error.
    private func outcome(of sql: String, _ queue: borrowing TestQueue) throws -> [String] {
        let connection = try PGConnection(queue.database)
        do {
            let result = try connection.query(sql)
            return (0..<result.rowCount).map { result.columnCount == 0 ? "" : result.optionalText($0, 0) ?? "null" }
        } catch {
            return ["\(error.message) \(error.hint ?? "")"]
        }
    }
}
