// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Input that makes no sense is refused at once, with a helpful message.
struct BadInputTests {
    private static let good = "'http://h/'"

    @Test(arguments: [
        ("url", "method", "'GET'"), ("url", "url", "null"), ("url", "url", "''"), ("url", "url", "'ftp://h/'"),
        ("url", "url", "'http:///x'"), ("url", "url", "'h/x'"), ("url", "url", "E'http://h/\\r\\nX: 1'"),
        ("url", "url", "'http://h/a b'"), ("url", "url", "'http://h:70000/'"), ("url", "url", "'file:///etc/passwd'"),
        ("url", "url", "'http://h/a' || chr(92) || 'b'"), ("url", "url", "'http://a@b@h/'"),
        ("url", "url", "'http://@h/'"), ("url", "url", "'http://:@h/'"), ("url", "url", "'localhost:8080/x'"),
        ("url", "url", "'http://h' || chr(92)"), ("url", "url", "'http://' || repeat('a', 300) || '/'"),
        ("url", "url", "'http://' || repeat('a', 255) || ':8080/'"),
        ("body_json", "url, body_json", "\(good), ('[' || repeat('1e131000,', 600) || '0]')::jsonb"),
        ("metadata", "url, metadata", "\(good), ('[' || repeat('1e131000,', 600) || '0]')::jsonb"),
        ("query", "url, query", "\(good), jsonb_build_object('a', repeat('b', 66000))"),
        (
            "body_form", "url, body_form",
            "\(good), (repeat('{\"' || repeat('a', 900) || '\":', 34) || '1' || repeat('}', 34))::jsonb"
        ),
        (
            "body_form", "url, body_form",
            "\(good), jsonb_build_object(repeat('k', 40000), (select jsonb_agg(i) from generate_series(1, 2000) i))"
        ),
        ("body", "url, body, method", "\(good), 'a', 'HEAD'"),
        ("body_form", "url, body_form, method", "\(good), '{}', 'HEAD'"),
        ("tag", "url, tag", "\(good), repeat('a', 401)"), ("each", "url, each", "\(good), '[]'"),
        ("url", "url", "'httpx://h/'"), ("url", "url", "'http://h/' || repeat('a', 8000)"),
        ("headers", "url, headers", "\(good), '{\"X\": \"a\\r\\nY: b\"}'"),
        ("headers", "url, headers", "\(good), '{\"X\\nY\": \"a\"}'"),
        ("headers", "url, headers", "\(good), '{\"Host\": \"a\"}'"),
        ("headers", "url, headers", "\(good), '{\"Transfer-Encoding\": \"chunked\"}'"),
        ("headers", "url, headers", "\(good), '[]'"),
        (
            "headers", "url, headers",
            "\(good), (select jsonb_object_agg('X-' || i, repeat('a', 7000)) from generate_series(1, 80) as i)"
        ),
        ("method", "url, method", "\(good), 'BREW'"), ("method", "url, method", "\(good), 'GET '"),
        ("body", "url, body, body_json", "\(good), 'a', '{}'"),
        ("body_json", "url, body_json, body_form", "\(good), '{}', '{}'"),
        ("body_form", "url, body_form", "\(good), '[1]'"),
        ("priority", "url, priority", "\(good), 1000"), ("priority", "url, priority", "\(good), -101"),
        ("max_attempts", "url, max_attempts", "\(good), 0"),
        ("timeout", "url, timeout", "\(good), '100 years -36000 days 1 second'"),
        ("timeout", "url, timeout", "\(good), '-1 year 360 days 1 second'"),
        ("timeout", "url, timeout", "\(good), '-1 s'"), ("timeout", "url, timeout", "\(good), '0'"),
        ("parent_id", "url, parent_id", "\(good), 4711"),
        ("position", "url, position", "\(good), 1"),
        ("expires_at", "url, run_at, expires_at", "\(good), now() + interval '1 h', now() + interval '1 h'"),
        ("run_at", "url, run_at", "\(good), 'infinity'"), ("created_at", "url, created_at", "\(good), '-infinity'"),
        ("backoff", "url, backoff", "\(good), '{}'"), ("backoff", "url, backoff", "\(good), '{-1 s}'"),
        ("delivery", "url, delivery", "\(good), 'exactly_once'"),
        ("queue", "url, queue", "\(good), ''"), ("queue", "url, queue", "\(good), repeat('a', 201)"),
        ("lane", "url, lane", "\(good), ''"),
        ("query", "url, query", "\(good), '[]'"), ("query", "url, query", "\(good), '{\"a\": {\"b\": 1}}'"),
        ("ok_statuses", "url, ok_statuses", "\(good), '{[1,2)}'"),
        ("max_response", "url, max_response", "\(good), -1"),
        ("kind", "url, kind", "\(good), 'cron'"),
        ("lane", "kind, lane", "'batch', 'a'"), ("delivery", "kind, delivery", "'chain', 'at_most_once'"),
        ("max_attempts", "kind, max_attempts", "'batch', 1"), ("cache_version", "kind, cache_version", "'chain', 2"),
        ("kind", "kind", "'batch'"), ("service", "url, service", "\(good), 'billing'"),
        ("dedupe_key", "url, dedupe_key", "\(good), ''"), ("body_parts", "url, body_parts", "\(good), '[]'"),
        ("response_format", "url, response_format", "\(good), 'yaml'"),
        ("response_format", "url, response_format, method", "\(good), 'json', 'HEAD'"),
        ("download_to", "url, download_to", "\(good), 'a.part'"),
        ("download_to", "url, download_to, method", "\(good), 'a', 'HEAD'"),
        ("headers", "url, download_to, headers", "\(good), 'a', '{\"range\": \"bytes=0-9\"}'"),
        ("headers", "url, download_to, headers", "\(good), 'a', '{\"If-Range\": [\"x\"]}'"),
        (
            "headers", "url, method, headers, body_parts",
            "\(good), 'POST', '{\"content-TYPE\": \"multipart/form-data; boundary=x\"}', '[{\"name\": \"a\", \"content\": \"b\"}]'"
        ),
        (
            "body_parts", "url, method, body_parts",
            "\(good), 'POST', '[{\"name\": \"a\", \"content\": \"hé\", \"max_bytes\": 2}]'"
        ),
        (
            "body_parts", "url, method, body_parts",
            "\(good), 'POST', '[{\"name\": \"a\", \"base64\": \"aGVsbG8=\", \"max_bytes\": 4}]'"
        ),
        ("response_format", "url, response_format, download_to", "\(good), 'json', 'a'"),
        ("result_type", "url, result_type", "\(good), 'map'"),
        ("extract", "url, extract", "\(good), '$.a ? (@ > $x)'"),
        ("extract", "url, extract, response_format", "\(good), '$.a', 'xml'"),
        ("validator", "url, validator", "\(good), '{\"a\": \"strng\"}'"),
        ("validator", "url, validator", "\(good), '{\"a\": []}'"),
        ("validator", "url, validator, response_format", "\(good), '{}', 'xml'"),
        ("cache_ttl", "url, cache_ttl", "\(good), '0 s'"), ("cache_ttl", "url, cache_ttl", "'http://a:b@h/', '1 h'"),
        ("ignore_cache", "url, ignore_cache", "\(good), true"), ("paginate", "url, paginate", "\(good), '{}'"),
        ("on_success", "url, on_success", "\(good), 'x'"),
        ("callback_url", "url, callback_url", "\(good), 'ftp://h/'"),
        ("credential", "url, credential", "\(good), 'x'"),
    ])
    func `a bad row inserts nothing and is refused with its column, a reason and a hint`(
        column: String, columns: String, values: String
    ) throws {
        let queue = try EmptyQueue.connect()
        let error = try #require(throws: PGError.self) {
            try queue.execute("insert into postrider.jobs (\(columns)) values (\(values))")
        }
        #expect(error.sqlState?.category == "PR", "\(error)")
        #expect(error.message.hasPrefix("jobs.\(column): "))
        #expect(error.column == column)
        #expect(error.hint?.isEmpty == false)
        #expect(try queue.query("select count(*) from postrider.jobs").int64(0, 0) == 0)
        #expect(try queue.query("select count(*) from postrider_internal.ready").int64(0, 0) == 0)
    }

    @Test(arguments: ["priority", "max_attempts", "timeout", "run_at", "query", "ok_statuses"])
    func `PostgreSQL refuses a value of the wrong type`(column: String) throws {
        let queue = try EmptyQueue.connect()
        let error = try #require(throws: PGError.self) {
            try queue.execute("insert into postrider.jobs (url, \(column)) values ('http://h/', 'x')")
        }
        #expect(error.sqlState?.category == "22")
    }

    @Test func `one bad row refuses the whole INSERT, and the error contains no password`() throws {
        let queue = try TestQueue()
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.jobs (url) select 'http://h/' || i from generate_series(1, 100) i
                union all select 'http://me:geheim@h/a b'
                """)
        }
        #expect(error.message.hasPrefix("jobs.url: "))
        #expect(!"\(error.message) \(error.detail ?? "") \(error.hint ?? "")".contains("geheim"))
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    @Test(arguments: [
        ("url", "url", "'http://h/{{a.body'"), ("name", "url, name", "'http://h/', 'prev'"),
        ("body_json", "url, body_json", "'http://h/', '{\"a\": \"{{a..b}}\"}'"),
    ])
    func `an INSERT of a member refuses bad templates and reserved names`(
        column: String, columns: String, values: String
    ) throws {
        let queue = try TestQueue()
        try queue.connection.execute("begin")
        let batch = try queue.insert("kind", "'batch'")
        let error = try #require(throws: PGError.self) {
            try queue.insert("parent_id, \(columns)", "\(batch), \(values)")
        }
        #expect(error.sqlState == SQLState(rawValue: "PR001") && error.column == column, "\(error)")
    }

    @Test func `UPDATE, DELETE and TRUNCATE of jobs are refused, but cancel and reschedule work`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        for statement in [
            "update postrider.jobs set url = 'http://g/'", "delete from postrider.jobs", "truncate postrider.jobs",
        ] {
            let error = try #require(throws: PGError.self) { try queue.connection.execute(statement) }
            #expect(error.sqlState == SQLState(rawValue: "PR007"))
        }
        #expect(try queue.text("select postrider.cancel(id => \(id))::text") == "true")
        #expect(try queue.text("select postrider.explain(\(id))")?.contains("cancelled before it was called") == true)
        let other = try queue.insert("url", "'http://h/'")
        try queue.connection.execute("select postrider.reschedule(\(other), now() + interval '1 h', 4)")
        #expect(try queue.state(other) == "scheduled")
    }

    @Test(arguments: [
        ("--concurrency", ["--concurrency", "0"]), ("--concurrency", ["--concurrency", "x"]),
        ("--concurrency", ["--concurrency", "-1"]), ("--concurrency", ["--concurrency", "10001"]),
        ("--drain", ["--drain", "soon"]), ("--queue", ["--queue", ""]), ("--prepare", ["--prepare", "maybe"]),
        ("--memory", ["--memory", "16MiB"]), ("--memory", ["--memory", "1 GiB"]), ("--memory", ["--memory", "256MB"]),
        ("--log-format", ["--log-format", "xml"]), ("--colour", ["--colour"]), ("--database", ["--database", "a b c"]),
    ])
    func `a bad flag ends the worker with exit code 64 and one line naming it`(flag: String, words: [String]) throws {
        let outcome = try WorkerProcess.run(["run"] + words)
        #expect(outcome.status == 64)
        #expect(outcome.output.split(separator: "\n").count == 1)
        #expect(outcome.output.contains(flag))
    }

    @Test func `the worker exits with 69 without a database and with 78 without the schema`() throws {
        let outcome = try WorkerProcess.run(["--database", "host=127.0.0.1 port=\(TargetServer.freePort())"])
        #expect(outcome.status == 69)
        #expect(outcome.output.split(separator: "\n").count == 1)
        #expect(outcome.output.contains("--database"))
        let empty = try WorkerProcess.run(["--database", TestCluster.makeDatabaseText()])
        #expect(empty.status == 78)
        #expect(empty.output.contains("worker migrate"))
    }

    /// One database for all refused rows, which leave it unchanged.
    private enum EmptyQueue {
        private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }

        static func connect() throws -> PGConnection { try PGConnection(made.get()) }
    }
}
