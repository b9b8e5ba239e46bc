// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The meaning of names in a template: the steps that a job sees, and the parts of their answers.
struct TemplateNameTests {
    /// A template in the body of job 9 of the fixture, and its filled text or the rest of its error sentence.
    private static let values: [(template: String, becomes: String)] = [
        ("register.status", "201"), ("register.result.id", "17"), ("register.body.list[1]", #""two""#),
        ("register.body.list.0", "1"), ("register.body.list[-1]", "false"), ("register.body.deep[0].x[1]", "20"),
        (#"register.body["key with space"]"#, "5"), ("register.body.0", #""zero""#), ("register.body[0]", #""zero""#),
        ("register.headers.Location", #""/users/17""#), ("register.headers.x-tag", #""b""#),
        ("register.headers", #"{"x-tag": "b", "location": "/users/17", "content-type": "application/json"}"#),
        ("fan", #"[{"x": 1}, {"x": 2}, null, null]"#), ("fan.results", #"[{"x": 1}, {"x": 2}, null, null]"#),
        ("fan[1].x", "2"), ("fan.results[0]", #"{"x": 1}"#), ("fan.results.1.x", "2"), ("fan.b.body.x", "2"),
        ("fan.b.x", "a request has body, status, headers and result, not x"), ("fan.b", #"{"x": 2}"#),
        ("fan.c.body.x", "3"), ("fan.c.result", "has no result, because it failed"),
        ("fan.d.body", "fan has no member with the name d"), (#"fan["1"].x"#, "2"),
        ("prev", #"[{"x": 1}, {"x": 2}, null, null]"#), ("prev.results[0].x", "1"), ("prev[0].x", "1"),
        ("prev.a.body.x", "1"), ("prev[7].x", "has no value"),
        ("skip.body", "has no value: job 8 was skipped"), ("later.body", "no earlier step has the name later"),
        ("step.body", "no earlier step has the name step"), ("a.body", "no earlier step has the name a"),
        ("nobody.body", "no earlier step has the name nobody"), ("register.text", "a request has body, status"),
        ("item", "the job was not made by each"), ("register.status.x", "has no value"),
    ]

    @Test func `a template name selects a step's answer, and its path selects a value`() throws {
        let fixture = try TemplateFixture()
        for (template, becomes) in Self.values {
            let escaped = template.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
            let found = try fixture.fill("body_json", #""{{\#(escaped)}}""#)
            #expect(
                found == becomes || found.hasPrefix("template: body_json: {{\(template)}}") && found.contains(becomes),
                "\(template) became \(found)")
        }
        #expect(try fixture.fill("body_json", #"{"x": "{{register}}"}"#).contains(#""id": 17"#))
    }

    @Test func `a quoted number in a template names a member, and a bare number is an index`() throws {
        let fixture = try TemplateFixture()
        try fixture.queue.connection.execute(
            """
            select pg_temp.member(11, 3, 5, '1', null, '{}'), pg_temp.answer(11, 's', 200, 'content-type: application/json', '{"x":9}');
            select pg_temp.member(12, 3, 6, '-7', 's', '{"kind": "batch"}');
            select pg_temp.member(13, 12, 1, '0', null, '{}'), pg_temp.answer(13, 's', 200, 'content-type: application/json', '{"x":8}');
            """)
        for (template, becomes) in [
            (#"fan[\"1\"].result.x"#, "9"), (#"fan[\"1\"].x"#, "has body, status"), (#"fan.\"1\".body.x"#, "9"),
            ("fan[1].x", "2"), ("fan.1.x", "2"), (#"fan[\"0\"].x"#, "1"),
            (#"fan.\"-7\".\"0\".status"#, "200"), (#"fan[\"-7\"][0].x"#, "8"), ("fan[-1][0].x", "8"),
            (#"fan.results.\"1\".x"#, "2"), (#"fan.\"-7\".a"#, "has no member with the name a"),
        ] {
            let found = try fixture.fill("body_json", #""{{\#(template)}}""#)
            #expect(
                found == becomes || found.contains(becomes) && becomes.hasPrefix("has "), "\(template) became \(found)")
        }
    }

    @Test func `names are looked up in the job's own chain first, then in outer chains`() throws {
        let fixture = try TemplateFixture()
        // Job 9 is a chain now: 20 a (answered 1) · 21 batch: 22 and 23, made by each · 24 register · 25 the last
        try fixture.queue.connection.execute(
            """
            insert into postrider_internal.trees (job_id, parent_id, root_id, depth, kind, mode, run_at, state)
            values (9, 1, 1, 2, 'c', 'a', now(), 'o');
            select pg_temp.member(20, 9, 1, 'a', null, '{}'), pg_temp.answer(20, 's', 200, 'content-type: application/json', '{"v":1}');
            select pg_temp.member(21, 9, 2, 'each', 'o', '{"kind": "batch"}');
            select pg_temp.member(22, 21, 1, 'x', null, '{}'), pg_temp.answer(22, 's', 200, 'content-type: application/json', '{"v":2}');
            select pg_temp.member(23, 21, 2, 'y', 'o', '{"kind": "chain"}');
            select pg_temp.member(26, 23, 1, 'first', null, '{}');
            update postrider_internal.members set item = '{"id": "i22"}' where job_id = 22;
            update postrider_internal.members set item = '{"id": ["i23"], "none": null}' where job_id = 23;
            select pg_temp.member(24, 9, 3, 'register', null, '{}'), pg_temp.answer(24, 's', 204, 'x: y', null);
            select pg_temp.member(25, 9, 4, 'last', null, '{}');
            """)
        let cases: [(job: Int, template: String, becomes: String)] = [
            (22, "item.id", #""i22""#), (26, "item.id[0]", #""i23""#), (26, "item", #"{"id": ["i23"], "none": null}"#),
            (26, "item.none", "null"), (26, "item.no", "the element of each has no such member"),
            (26, "prev.body.v", "1"), (22, "prev.body.v", "1"), (20, "prev[0].x", "1"), (25, "prev.status", "204"),
            (26, "x.body", "no earlier step has the name x"), (26, "a.body.v", "1"), (26, "register.status", "201"),
            (25, "register.status", "204"), (25, "fan[0].x", "1"),
            (25, "each.results", "has no value: job 21 has not ended"),
            (25, "prev", "job 24 has no result"), (25, "register.body", "has no value"),
            (2, "prev", "no step precedes this job"),
            (25, "item", "the job was not made by each"),
        ]
        for (job, template, becomes) in cases {
            let found = try fixture.fill("body_json", #""{{\#(template)}}""#, of: job)
            #expect(
                found == becomes || found.contains("{{\(template)}}") && found.contains(becomes),
                "\(job) \(template): \(found)")
        }
        try fixture.queue.connection.execute("update postrider_internal.trees set state = 's' where job_id = 21")
        #expect(try fixture.fill("body_json", #""{{each.results}}""#, of: 25) == #"[{"v": 2}, [null]]"#)
        #expect(try fixture.fill("body_json", #""{{each.y.first.body}}""#, of: 25).contains("job 23 has not ended"))
    }

    /// Bodies are SQL expressions of type bytea.
    private static let bodies: [(type: String, body: String, becomes: String)] = [
        ("application/json", "'{\"a\": 1}'", #"{"a": 1}"#), ("text/plain", "'{\"a\": 1}'", #"{"a": 1}"#),
        ("text/plain", "'[1]'", "[1]"), ("text/plain", "'0017'", #""0017""#), ("text/plain", "'1e5'", #""1e5""#),
        ("application/json", "'17'", "17"), ("application/json", "'null'", "null"), ("text/html", "'null'", #""null""#),
        ("application/json", "'{broken'", #""{broken""#), ("application/json", "''", "template: "),
        ("application/json", "null", "template: "), ("image/png", "'\\xff00'", "template: "),
        ("text/plain", "'\\x00'", "template: "), ("text/plain; charset=iso-8859-1", "'\\xe9'", #""é""#),
        ("application/json", "'\\xefbbbf5b315d'", "[1]"),
        ("application/json; charset=utf-16", "'\\xfeff005b0031005d'", "[1]"),
        ("application/json", #"'{"a": "\\u0000"}'"#, #""{\"a\": \"\\u0000\"}""#),
        ("application/json", "convert_to('[' || repeat('1e10000,', 300) || '0]', 'UTF8')", "\"[1e10000"),
        ("text/plain", "'{{register.body}}'", #""{{register.body}}""#), ("Application/JSON", "'17'", "17"),
        ("text/plain\naccess-control-expose-headers: x-json", "'1e5'", #""1e5""#),
        ("text/plain\nx-format: json", "'123'", #""123""#), (#"text/plain; name="a.json""#, "'17'", #""17""#),
        ("text/plain\nlink: </s.json>", "'true'", #""true""#), ("application/problem+json", "'17'", "17"),
    ]

    @Test func `a template reads a body as JSON if it is JSON, otherwise as text`() throws {
        let fixture = try TemplateFixture()
        for (type, body, becomes) in Self.bodies {
            try fixture.answer(2, type: type, body: body)
            let found = try fixture.fill("body_json", #""{{register.body}}""#)
            #expect(found.hasPrefix(becomes), "\(type) \(body): \(found.prefix(99))")
        }
    }

    @Test func `a template's result equals the result in job_status`() throws {
        let fixture = try TemplateFixture()
        let more = [
            ("Application/JSON", #"'{"a": 1}'"#, ""), ("text/plain\nlink: </s.json>", #"'{"a": 1}'"#, ""),
            ("application/json", #"'{"a": NaN}'"#, ""), ("text/plain\nx-format: json", "'123'", ""),
        ]
        var shows = 0
        for (type, body, _) in Self.bodies + more {
            try fixture.answer(2, type: type, body: body)
            let found = try fixture.fill("body_json", #""{{register.result}}""#)
            let shown = try fixture.queue.text("select result::text from postrider.job_status where id = 2")
            #expect(
                shown.map { $0 == found }
                    ?? (found.contains("has no result") || found.contains("is JSON that cannot be read")),
                "\(type) \(body): \(found.prefix(99))")
            if shown != nil { shows += 1 }
        }
        #expect(shows > 4)
    }

    @Test func `only the last filling of a job is stored, and jobs without templates stay unchanged`() throws {
        let fixture = try TemplateFixture()
        _ = try fixture.fill("body_json", #""{{register.status}}""#)
        _ = try fixture.fill("url", "/u/{{register.status}}")
        #expect(
            try fixture.queue.rows("select url, body_json::text from postrider_internal.filled_templates") == [
                ["/u/201", nil]
            ])
        #expect(try fixture.fill("url", "/plain") == "/u/201")
        #expect(
            try fixture.queue.number(
                """
                select count(*) from (select pg_temp.job('{"id": 99, "url": "http://h/{{x", "headers": {"a": "{{"}}') as j) o
                 where (postrider_internal.fill_templates(j)).code is null
                   and not postrider_internal.job_is_templated(j)
                   and (postrider_internal.filled_job(j)).url = 'http://h/{{x'
                """) == 1)
    }
}
