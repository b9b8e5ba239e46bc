// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Templates in the spec of a schedule.
struct ScheduleTemplateTests {
    @Test(arguments: [
        (#"{"url": "http://h/?t={{tick}}"}"#, "$.url: {{tick}} names no earlier step"),
        (#"{"url": "http://h/{{schedule.tick}}"}"#, "$.url: {{schedule.tick}} names no earlier step"),
        (#"{"url": "http://h/", "query": {"a": ["x", "{{ now }}"]}}"#, "$.query: {{now}} "),
        (#"{"url": "http://h/", "headers": {"X-Tick": "{{tick}}"}}"#, "$.headers: {{tick}} "),
        (
            #"{"url": "http://h/", "method": "POST", "body_json": {"a": {"b": "{{prev.body}}"}}}"#,
            "$.body_json: {{prev.body}} "
        ),
        (#"{"url": "http://h/", "method": "POST", "body_form": {"a": "{{item}}"}}"#, "$.body_form: {{item}} "),
        (#"{"url": "http://h/", "method": "POST", "body": "{{tick}}"}"#, "$.body: {{tick}} "),
        (
            #"{"url": "http://h/", "method": "POST", "body_parts": [{"name": "a", "content": "{{tick}}"}]}"#,
            "$.body_parts: {{tick}} "
        ),
        (#"{"url": "http://h/{{{{a}}/{{b}}"}"#, "$.url: {{b}} "),
        (#"{"url": "http://h/{{{a}}}"}"#, "$.url: {{a}} "),
        (#"{"url": "http://h/{{}}"}"#, "$.url: holds an empty template"),
        (#"{"url": "http://h/{{a b}}"}"#, "$.url: holds a template that cannot be read"),
        (#"{"url": "http://h/{{tick"}"#, "$.url: holds a {{ without }}"),
        (
            #"{"url": "http://h/", "dedupe_key": "k-{{tick}}"}"#,
            "$.dedupe_key: holds a template, and is taken as it is"
        ),
        (#"{"url": "http://h/", "tag": "{{schedule.name}}"}"#, "$.tag: holds a template"),
        (#"{"url": "http://h/", "callback_url": "http://h/{{tick}}"}"#, "$.callback_url: holds a template"),
        (
            #"{"chain": [{"url": "http://h/{{tick}}"}, {"url": "http://h/"}]}"#,
            "$.chain[0].url: no step 'tick' precedes this job"
        ),
        (
            #"{"chain": [{"url": "http://h/"}, {"url": "http://h/{{schedule.tick}}"}]}"#,
            "$.chain[1].url: no step 'schedule' precedes this job"
        ),
        (
            #"{"chain": [{"url": "http://h/", "name": "a"}, {"url": "http://h/", "lane": "{{a.body}}"}]}"#,
            "$.chain[1].lane: holds a template"
        ),
        (
            #"{"chain": [{"url": "http://h/"}, {"url": "http://h/", "method": "POST", "body": "{{tick}}"}]}"#,
            "$.chain[1].body: holds a template"
        ),
        (
            #"{"batch": {"each": "{{tick}}", "do": {"url": "http://h/{{item}}"}}}"#,
            "$.batch.each: no step 'tick' precedes this job"
        ),
        (#"{"batch": [{"url": "http://h/{{item}}"}]}"#, "$.batch[0].url: {{item}} is used outside"),
    ])
    func `a template that cannot be filled is refused with its JSON path and a hint`(spec: String, message: String)
        throws
    {
        let connection = try ScheduleFixture.connect()
        let error = try #require(throws: PGError.self) {
            try connection.execute(
                "insert into postrider.schedules (name, cron, spec) values ('a', '@daily', $spec$\(spec)$spec$)")
        }
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.message.hasPrefix("schedules.spec: \(message)"), "\(error.message)")
        #expect(error.hint?.isEmpty == false)
        #expect(error.column == "spec")
    }

    @Test func `a schedule accepts templates of earlier steps, item and metadata, and refuses others on update`() throws
    {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec) values
              ('steps', '@daily', '{"chain": [{"name": "tick", "url": "http://h/"}, {"url": "http://h/{{tick.body.id}}"}, {"url": "http://h/{{prev.body}}"}]}'),
              ('each', '@daily', '{"batch": {"each": ["a", "b"], "do": {"url": "http://h/{{item}}"}}}'),
              ('own', '@daily', '{"url": "http://h/", "metadata": {"note": "{{mine}}"}}')
            """)
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute(
                "update postrider.schedules set spec = '{\"url\": \"http://h/{{tick}}\"}' where name = 'own'")
        }
        #expect(error.column == "spec")
    }

    @Test func `a schedule turns four braces into two in its jobs, at ticks and by run_schedule`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            #"""
            update postrider_internal.leases set owner = 1, epoch = 1, until = now() + interval '1 day'
              where name = 'leader';
            insert into postrider.schedules (name, cron, next_run_at, spec) values ('a', '* * * * *',
                '2025-11-22 10:00Z',
              '{"url": "http://h/{{{{x}}", "query": {"{{{{k": ["{{{{v}}", 1]}, "headers": {"X-A": "{{{{{{{{"}, "method": "POST",
                "body_json": {"t": [{"u": "a {{{{ b"}], "n": null}, "metadata": {"m": "{{{{"}}')
            """#)
        #expect(
            try queue.number("select made from postrider_internal.run_schedules(1, 1, null, 100, '2025-11-22 10:00Z')")
                == 1)
        #expect(try queue.text("select postrider.run_schedule('a')::text") != nil)
        let rows = try queue.rows(
            "select url, query::text, headers::text, body_json::text, metadata::text from postrider.jobs")
        #expect(rows.count == 2)
        for row in rows {
            #expect(
                row == [
                    "http://h/{{x}}", #"{"{{{{k": ["{{v}}", 1]}"#, #"{"X-A": "{{{{"}"#,
                    #"{"n": null, "t": [{"u": "a {{ b"}]}"#, #"{"m": "{{{{"}"#,
                ])
        }
        try queue.connection.execute(
            #"update postrider.schedules set spec = '{"url": "http://h/", "method": "POST", "body": "a {{{{b}}"}'"#)
        let id = try queue.number("select postrider.run_schedule('a')")
        #expect(try queue.text("select convert_from(body, 'UTF8') from postrider.jobs where id = \(id)") == "a {{b}}")
        // Jobs without a schedule keep {{ and {{{{ unchanged.
        let own = try queue.number(#"select postrider.submit('{"url": "http://h/{{{{x}}{{tick}}"}')"#)
        #expect(try queue.text("select url from postrider.jobs where id = \(own)") == "http://h/{{{{x}}{{tick}}")
    }
}

/// One database for the rows that are refused.
private enum ScheduleFixture {
    private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }

    static func connect() throws -> PGConnection { try PGConnection(made.get()) }
}
