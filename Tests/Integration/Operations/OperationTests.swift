// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Jobs that name an operation instead of describing a request.
struct OperationTests {
    /// A queue with the service `accounts` at `url` and the operations `user`, `mail` and `welcome`.
    static func queue(_ url: String = "http://127.0.0.1:9/") throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, allow_private_network) values ('accounts', '\(url)/', true);
            insert into postrider.operations (name, service, arguments, spec, overridable) values
              ('user', 'accounts', '{"id": "number", "full?": "boolean"}',
               '{"url": "users/{{arg.id}}", "query": {"full": "{{arg.full}}", "v": 2}, "headers": {"X-Kind": "user"},
                 "response_format": "json", "validator": {"id": "number"}, "cache_ttl": "5 min", "priority": 2}', '{}'),
              ('mail', 'accounts', '{"to": "string", "text?": "string", "kind?": {"enum": ["html", "plain"]}}',
               '{"method": "post", "url": "mail/{{arg.to}}", "headers": {"X-Text": "{{arg.text}}"},
                 "body_json": {"to": "{{arg.to}}", "text": "{{arg.text}}", "kind": "{{arg.kind}}"}}', '{query}'),
              ('welcome', 'accounts', '{"id": "number", "text": "string"}',
               '{"chain": [{"name": "user", "operation": "user", "arguments": {"id": "{{arg.id}}"}},
                           {"operation": "mail", "arguments": {"to": "{{user.body.mail}}", "text": "{{arg.text}}"}}]}',
               '{}')
            """)
        return queue
    }

    @Test func `a row gets the columns of its operation, and its own columns win`() throws {
        let queue = try Self.queue()
        try queue.connection.execute(
            """
            insert into postrider.jobs (operation, arguments) select 'user', jsonb_build_object('id', i)
              from generate_series(1, 2) i;
            insert into postrider.jobs (operation, arguments, headers, priority, cache_ttl, tag, query) values
              ('mail', '{"to": "a/b c", "text": "x"}', '{"x-text": null, "X-Own": "1"}', 7, '1 h', 'own', '{"q": 1}')
            """)
        let rows = try queue.rows(
            """
            select concat_ws(' ', j.method, j.service, j.url), concat_ws(' ', j.query, j.headers),
                   coalesce(j.body_json, j.validator)::text, concat_ws(' ', j.priority, j.cache_ttl, j.tag),
                   concat_ws(' ', s.operation, s.operation_revision)
              from postrider.jobs j join postrider.job_status s on s.id = j.id order by j.id
            """)
        #expect(
            rows == [
                [
                    "GET accounts users/1", #"{"v": 2} {"X-Kind": "user"}"#, #"{"id": "number"}"#, "2 00:05:00 user",
                    "user 1",
                ],
                [
                    "GET accounts users/2", #"{"v": 2} {"X-Kind": "user"}"#, #"{"id": "number"}"#, "2 00:05:00 user",
                    "user 1",
                ],
                [
                    "POST accounts mail/a%2Fb%20c", #"{"q": 1} {"X-Own": "1"}"#, #"{"to": "a/b c", "text": "x"}"#,
                    "7 01:00:00 own", "mail 1",
                ],
            ])
    }

    @Test func `a later change holds for later jobs`() throws {
        let queue = try Self.queue()
        _ = try queue.number(#"select postrider.call('user', '{"id": 1}', queue => 'q', dedupe_key => 'k')"#)
        try queue.connection.execute(
            """
            update postrider.operations set spec = spec || '{"url": "people/{{arg.id}}"}' where name = 'user';
            update postrider.operations set description = 'text' where name = 'user'
            """)
        _ = try queue.number(#"select postrider.call('user', '{"id": 2}')"#)
        #expect(
            try queue.rows("select url, operation_revision::text, queue from postrider.jobs order by id") == [
                ["users/1", "1", "q"], ["people/2", "2", "default"],
            ])
        #expect(try queue.number("select postrider.find_job('k', 'q')") == 1)
    }

    @Test(arguments: [
        ("operation, arguments", #"'users', '{}'"#, "operation"), ("operation", "'welcome'", "operation"),
        ("operation", "'user'", "arguments"), ("operation, arguments", #"'user', '[]'"#, "arguments"),
        ("operation, arguments", #"'user', '{"id": "1"}'"#, "arguments"),
        ("operation, arguments", #"'user', '{"id": null}'"#, "arguments"),
        ("operation, arguments", #"'user', '{"id": [1]}'"#, "arguments"),
        ("operation, arguments", #"'user', '{"id": 1, "ful": true}'"#, "arguments"),
        ("operation, arguments", #"'user', '{"id": 1, "full": "true"}'"#, "arguments"),
        ("operation, arguments", #"'mail', '{"to": ""}'"#, "arguments"),
        ("operation, arguments", #"'mail', '{"to": ".."}'"#, "arguments"),
        ("operation, arguments", #"'mail', '{"to": "a", "kind": "text"}'"#, "arguments"),
        ("operation, arguments", #"'mail', '{"to": "a", "text": "x\ny"}'"#, "arguments"),
        ("operation, arguments", #"'mail', jsonb_build_object('to', repeat('é', 4000))"#, "arguments"),
        ("operation, arguments, service", #"'user', '{"id": 1}', 'accounts'"#, "service"),
        ("operation, arguments, method", #"'user', '{"id": 1}', 'PUT'"#, "method"),
        ("operation, arguments, url", #"'user', '{"id": 1}', 'https://evil.example/'"#, "url"),
        ("operation, arguments, query", #"'user', '{"id": 1}', '{"a": 1}'"#, "query"),
        ("operation, arguments, body_json", #"'user', '{"id": 1}', '{}'"#, "body_json"),
        ("operation, arguments, credential", #"'user', '{"id": 1}', 'none'"#, "credential"),
        ("operation, arguments, use_envelope", #"'user', '{"id": 1}', false"#, "use_envelope"),
        ("operation, arguments, download_to", #"'user', '{"id": 1}', 'f'"#, "download_to"),
        ("operation, arguments, headers", #"'user', '{"id": 1}', '{"Host": "x"}'"#, "headers"),
        ("operation, arguments, priority", #"'user', '{"id": 1}', 200"#, "priority"),
        ("operation, arguments, method", #"'user', '{"id": 1}', null"#, "method"),
        ("url, arguments", "'http://h/', '{}'", "arguments"),
        ("url, operation_revision", "'http://h/', 1", "operation_revision"),
        ("url, operation_rules", "'http://h/', '[]'", "operation_revision"),
        ("url, argument_types", "'http://h/', '{}'", "arguments"),
        ("kind, operation", "'chain', 'welcome'", "operation"),
    ])
    func `a row that does not fit its operation is refused by column`(
        columns: String, values: String, column: String
    ) throws {
        let queue = try Self.queue()
        let error = #expect(throws: PGError.self) { try queue.insert(columns, values) }
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(error?.message.hasPrefix("jobs.\(column): ") == true, "\(error?.message ?? "")")
        #expect(error?.hint?.isEmpty == false)
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    @Test(arguments: ["dedupe_key", "tag", "lane", "cache_sensitive", "metadata"])
    func `a template cannot fill a column whose value is needed at the INSERT`(column: String) throws {
        let queue = try Self.queue()
        for text in ["{{arg.x}}", "a {{arg.x}}"] {
            let value = column == "metadata" ? #"{"a": "\#(text)"}"# : #""\#(text)""#
            let cached = column == "cache_sensitive" ? #", "cache_ttl": "1 h""# : ""
            try queue.connection.execute(
                """
                delete from postrider.operations where name = 'key';
                insert into postrider.operations (name, service, arguments, spec)
                values ('key', 'accounts', '{"x": "any"}', '{"url": "a", "\(column)": \(value)\(cached)}')
                """)
            for spec in [
                #"{"batch": {"each": ["a", "b"], "do": {"operation": "key", "arguments": {"x": "{{item}}"}}}}"#,
                #"{"chain": [{"name": "a", "url": "http://h/"}, {"operation": "key", "arguments": {"x": "{{a.status}}"}}]}"#,
            ] {
                let error = #expect(throws: PGError.self) {
                    try queue.connection.execute("select postrider.submit('\(spec)')")
                }
                #expect(error?.message.contains("x is a template, but its value is needed now") == true)
            }
            _ = try queue.number(#"select postrider.call('key', '{"x": "\#(text.count)"}')"#)
        }
    }

    @Test func `an error about one of several rows names the row`() throws {
        let queue = try Self.queue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.jobs (operation, arguments) select 'user',
                  jsonb_build_object('id', case when i = 777 then '"x"' else to_jsonb(i) end)
                  from generate_series(1, 1000) i
                """)
        }
        #expect(error?.detail == "row 777")
    }

    @Test func `a chain passes answers to arguments, and data is never a template`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"id": 7, "mail": "x/{{y}}@example.com"}"#) }
        let queue = try Self.queue(target.url)
        let worker = try RunningWorker(queue.database)
        let id = try queue.number(
            #"select postrider.call('welcome', '{"id": 7, "text": "hi {{user.body.id}}"}', tag => 't', priority => 3)"#)
        try queue.wait(20, for: id, toBe: "succeeded")
        let requests = target.requests
        #expect(requests.map(\.path).sorted() == ["/mail/x%2F%7B%7By%7D%7D%40example.com", "/users/7?v=2"])
        #expect(
            try queue.text("select body_json::text from postrider_internal.filled_templates")
                == #"{"to": "x/{{y}}@example.com", "text": "hi {{user.body.id}}"}"#)
        #expect(
            try queue.rows(
                "select operation, tag, priority::text, state from postrider.job_status order by id") == [
                    ["welcome", "t", "3", "succeeded"], ["user", "user", "2", "succeeded"],
                    ["mail", "mail", "3", "succeeded"],
                ])
        _ = worker
    }

    @Test func `an answer that does not fit the argument of a step ends the step`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"id": 7, "mail": 5}"#) }
        let queue = try Self.queue(target.url)
        let worker = try RunningWorker(queue.database)
        let id = try queue.number(#"select postrider.call('welcome', '{"id": 7, "text": "hi"}')"#)
        try queue.wait(20, for: id, toBe: "failed")
        #expect(
            try queue.rows("select error_code, error from postrider.job_status where operation = 'mail'") == [
                ["template", "arguments: to should be a string and is a number"]
            ])
        _ = worker
    }

    @Test func `an answer that is put into the cache for an operation serves its jobs`() throws {
        let queue = try Self.queue()
        _ = try queue.rows(
            #"select postrider.cache_put('{"operation": "user", "arguments": {"id": 7}}', '{"id": 7}'::jsonb)"#)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.number(#"select postrider.call('user', '{"id": 7}')"#)
        try queue.wait(20, for: id, toBe: "succeeded")
        #expect(try queue.text("select from_cache::text from postrider.job_status where id = \(id)") == "true")
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(#"select postrider.cache_put('{"operation": "user"}', '{}'::jsonb)"#)
        }
        #expect(error?.message == "$.arguments: id is missing")
    }

    @Test func `a batch over a list calls an operation for each element`() throws {
        let queue = try Self.queue()
        try queue.connection.execute(
            """
            insert into postrider.operations (name, service, arguments, spec) values ('users', 'accounts',
              '{"ids": ["number"]}', '{"batch": {"each": "{{arg.ids}}",
                                                 "do": {"operation": "user", "arguments": {"id": "{{item}}"}}}}')
            """)
        _ = try queue.number(#"select postrider.call('users', '{"ids": [1, 2, 3]}')"#)
        #expect(
            try queue.rows("select url, operation from postrider.jobs where kind = 'request' order by id").map { $0[1] }
                == ["user", "user", "user"])
    }

    @Test func `an operation that is named cannot be deleted, renamed or lead back to itself`() throws {
        let queue = try Self.queue()
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec) values
              ('nightly', '0 3 * * *', '{"operation": "welcome", "arguments": {"id": 1, "text": "x"}}')
            """)
        for (statement, users) in [
            ("delete from postrider.operations where name = 'welcome'", "schedule 'nightly'"),
            ("delete from postrider.operations where name = 'user'", "operation 'welcome'"),
            ("update postrider.operations set name = 'person' where name = 'user'", "operation 'welcome'"),
        ] {
            let error = #expect(throws: PGError.self) { try queue.connection.execute(statement) }
            #expect(error?.message.contains(users) == true)
        }
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                update postrider.operations set spec = '{"chain": [{"operation": "welcome",
                  "arguments": {"id": 1, "text": ""}}]}' where name = 'user'
                """)
        }
        #expect(error?.message.contains("leads back to itself") == true)
        let id = try queue.number("select postrider.run_schedule('nightly')")
        #expect(try queue.text("select tag from postrider.jobs where id = \(id)") == "nightly")
    }

    @Test func `one INSERT takes 20,000 rows of an operation, and each finds its plan by the key`() throws {
        let queue = try Self.queue()
        try queue.connection.execute(
            """
            insert into postrider.operations (name, service, spec)
            select 'op' || i, 'accounts', '{"url": "a"}' from generate_series(1, 300) i
            """)
        let plan = try queue.rows(
            "explain select * from postrider_internal.operation_plans p where p.operation = 'op7'")
        #expect(plan[0][0]?.contains("operation_plans_pkey") == true, "\(plan)")
        try queue.connection.execute(
            """
            insert into postrider.jobs (operation, arguments)
            select 'user', jsonb_build_object('id', i) from generate_series(1, 20000) i
            """)
        #expect(
            try queue.number(
                "select count(*) from postrider.jobs where url = 'users/' || (arguments ->> 'id') and priority = 2")
                == 20_000)
    }

    @Test func `clients use operations and cannot write them`() throws {
        let queue = try Self.queue()
        let connection = try TestRole.client.connect(queue)
        #expect(try connection.query("select count(*) from postrider.operations").int64(0, 0) == 3)
        let id = try connection.query(#"select postrider.call('welcome', '{"id": 1, "text": "x"}')"#).int64(0, 0)
        #expect(
            try connection.query("select count(*) from postrider.job_status where parent_id = \(id)").int64(0, 0) == 2)
        for statement in [
            "insert into postrider.operations (name, spec) values ('mine', '{\"url\": \"http://h/\"}')",
            "update postrider.operations set spec = '{}'", "delete from postrider.operations",
            "select * from postrider_internal.operation_plans",
        ] {
            let error = #expect(throws: PGError.self) { try connection.execute(statement) }
            #expect(error?.sqlState?.rawValue == "42501", "\(statement)")
        }
    }
}
