// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// run_if, the list of each, and the specs that an INSERT refuses.
struct TemplateGuardTests {
    private static let conditions: [(path: String, outcome: String)] = [
        ("$.register.body.id == 17", "true"), ("$.register.body.id > 17", "false"), ("$.register.body.true", "true"),
        ("$.register.body.nothing", "false"), ("$.register.body.null", "false"),
        ("$.register.body.nothing == 1", "false"),
        ("$.register.status == 201 && $.register.headers.location starts with \"/users\"", "true"),
        ("$.register.result.id == 17", "true"), ("exists($.register.body.list[*] ? (@ == \"two\"))", "true"),
        ("$.register.body.name like_regex \"^A\" flag \"i\"", "true"), ("$.skip.status == 200", "false"),
        ("!exists($.skip)", "true"), ("$.fan.b.body.x == 2", "true"), ("$.fan.results[0].x == 1", "true"),
        ("$.fan.*.body.x == 2", "true"), ("$.fan.c.status == 500 && !exists($.fan.c.result)", "true"),
        ("$.prev.results[1].x == 2", "true"),
        ("$.item.a == 1", "false"), ("\"$.nobody\" == \"x\"", "false"),
        ("strict $.register.body.nothing == 1", "false"),
        ("$.later.status == 200", "run_if: no earlier step has the name later"),
        ("$.nobody.status == 200", "run_if: no earlier step has the name nobody"),
        ("$.register.body.id", "run_if: the path returns a value instead"),
        ("$.register.body.list[*]", "run_if: the path returns"),
        ("strict $.register.body.nothing", "run_if: the path cannot be applied"),
        ("\"2020-01-01\".datetime() < \"2020-01-01T00:00:00+00:00\".datetime()", "run_if: the path cannot be applied"),
        ("$ == 1", "run_if: a $ is not followed"),
        ("$.* == 1", "run_if: a $ is not followed"), ("$.register.body.id == $x", "run_if: a $ is not followed"),
        ("$.register.body.id.size() == 1", "true"), ("$.register.body.name.double() == 1", "false"),
    ]

    @Test func `run_if evaluates to true, false or an error`() throws {
        let fixture = try TemplateFixture()
        for (path, outcome) in Self.conditions { try check(fixture, path, outcome) }
    }

    private func check(_ fixture: borrowing TemplateFixture, _ path: String, _ outcome: String) throws {
        let found = try fixture.queue.text(
            """
            select coalesce(o.defect, o.holds::text)
              from (select pg_temp.job(jsonb_build_object('id', 9, 'parent_id', 1, 'run_if',
                                                          $path$\(path)$path$)) as j) r,
                   postrider_internal.run_if_holds(r.j) o
            """)
        #expect(found?.hasPrefix(outcome) ?? false, "\(path): \(found ?? "null")")
    }

    /// Conditions over `fan` with two more members.
    ///
    /// One is a batch whose name looks like a path. It contains a chain with the results 5 and 6.
    private static let listed: [(path: String, outcome: String)] = [
        ("$.prev[0].x == 1", "true"), ("$.prev[1].x == 1", "false"), ("$.fan[last][0][1] == 6", "true"),
        ("$.prev.size() == 5", "true"), ("$.prev.size() == 1", "false"), (#"$.prev.type() == "array""#, "true"),
        ("strict $.prev.size() == 5 && $.fan[1].x == 2", "true"), ("($.fan)[1].x == 2", "true"),
        ("exists($.prev[*] ? (@.x == 2))", "true"), ("exists($.prev[*] ? (@.x == 3))", "false"),
        ("exists($.fan.results[*] ? (@.x == $.prev[1].x))", "true"), ("$.prev[$.prev[0].x].x == 2", "true"),
        ("exists($.register.body.list[*] ? (@ == $.fan[0].x))", "true"),
        // Paths to other values than a batch or chain, or with other accessors, keep their meaning.
        ("$.register.body.list[1] == \"two\"", "true"), ("$.register.body.list.size() == 3", "true"),
        ("$.register.size() == 1 && $.register[0].status == 201", "true"), ("$.item[0].a == 1", "false"),
        ("$.skip[0].x == 1", "false"), ("$.fan.results[0].x == 1 && $.fan.results.size() == 5", "true"),
        ("$.fan.b.body.x == 2 && $.fan[1].x == 2", "true"), (#"$.fan.type() == "object""#, "false"),
        ("$.fan.* ? (@.status == 200).body.x == 2", "true"), ("exists($.fan ? (@.b.status == 200))", "true"),
        ("$.fan.c[0].status == 500", "true"), ("$.fan.nobody[0].x == 1", "false"),
        (#"$.fan."in\"n\\er[0]"[0][1] == 6"#, "true"), (#"$.fan."in\"n\\er[0]".size() == 1"#, "true"),
        (#"$.fan."in\"n\\er[0]".steps[0] == 5 && $.fan."in\"n\\er[0]".steps.size() == 2"#, "true"),
        (#"$.fan."in\"n\\er[0]".steps.six.body == 6"#, "true"),
        (#"$.prev[0].x == 1 && "$.\"prev\"[9]" != "$.prev.size()""#, "true"),
        (#"$.register.body.name like_regex "^A?.*[$.]?\"?$" flag "i" && $.prev[0].x == 1"#, "true"),
        ("$.later[0].x == 1", "run_if: no earlier step has the name later"),
    ]

    @Test func `run_if treats a batch or chain used as a list as its list of results`() throws {
        let fixture = try TemplateFixture()
        try fixture.queue.connection.execute(
            #"""
            select pg_temp.member(11, 3, 5, $x$in"n\er[0]$x$, 's', '{"kind": "batch"}');
            select pg_temp.member(12, 11, 1, 'steps', 's', '{"kind": "chain"}');
            select pg_temp.member(13, 12, 1, null, null, '{}'),
                   pg_temp.answer(13, 's', 200, 'content-type: application/json', '5');
            select pg_temp.member(14, 12, 2, 'six', null, '{}'),
                   pg_temp.answer(14, 's', 200, 'content-type: application/json', '6');
            """#)
        for (path, outcome) in Self.listed { try check(fixture, path, outcome) }
    }

    private static let lists: [(each: String, outcome: String)] = [
        (#"{"list": "{{register.body.list}}"}"#, #"[1, "two", false]"#),
        (#"{"list": "{{fan}}"}"#, #"[{"x": 1}, {"x": 2}, null, null]"#),
        (#"{"list": [1, "{{register.body.id}}", {"a": "n{{register.body.id}}"}]}"#, #"[1, 17, {"a": "n17"}]"#),
        (#"{"list": []}"#, "[]"),
        (#"{"list": "{{register.body.object}}"}"#, "each: {{register.body.object}} is not a list but an object"),
        (#"{"list": "{{register.body.null}}"}"#, "each: {{register.body.null}} is not a list but null"),
        (#"{"list": "x{{register.body.list}}"}"#, "each: the list is neither an array nor one template"),
        (#"{"list": 5}"#, "each: the list is neither"), (#"{}"#, "each: the list is neither"),
        (#"{"list": "{{nobody.body}}"}"#, "each: {{nobody.body}}: no earlier step has the name nobody"),
        (#"{"list": "{{register.body.template}}"}"#, "each: {{register.body.template}} is not a list but a string"),
    ]

    private static func list(_ fixture: borrowing TemplateFixture, _ each: String) throws -> String? {
        try fixture.queue.text(
            """
            select coalesce(o.defect, o.items::text)
              from (select pg_temp.job(jsonb_build_object('id', 9, 'parent_id', 1, 'each', \(each))) as j) r,
                   postrider_internal.each_list(r.j) o
            """)
    }

    @Test func `each fills its list from templates and accepts at most 10000 elements`() throws {
        let fixture = try TemplateFixture()
        for (each, outcome) in Self.lists {
            let found = try Self.list(fixture, "$x$\(each)$x$::jsonb")
            #expect(found?.hasPrefix(outcome) ?? false, "\(each): \(found ?? "null")")
        }
        for (count, words) in [
            (10_000, "[1, 2, 3"), (10_001, "each: the list has 10001 elements, and 10000 are allowed"),
        ] {
            try fixture.answer(
                2, type: "application/json",
                body: "(select convert_to(jsonb_agg(i)::text, 'UTF8') from generate_series(1, \(count)) i)")
            let found = try Self.list(fixture, #"'{"list": "{{register.body}}"}'::jsonb"#)
            #expect(found?.hasPrefix(words) ?? false, "\(found?.prefix(80) ?? "")")
        }
    }

    private static let rows: [(row: String, refusal: String?)] = [
        (#"{"service": "api", "url": "/u/{{a.body.id}}"}"#, nil),
        (#"{"service": "api", "url": "{{a.headers.location}}"}"#, nil),
        (#"{"url": "https://h.example/{{a.body.id}}?x={{b.status}}#{{c.result}}"}"#, nil),
        (#"{"url": "https://h.example?x={{b.status}}"}"#, nil), (#"{"url": "http://h.example:80/{{{{"}"#, nil),
        (#"{"url": "http://{{x}}/"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "http://h.{{x}}/"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "http://h:{{x}}/"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "http://u:{{x}}@h/"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "http://h{{x}}"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "http://h\\{{x}}"}"#, "url: takes its scheme, host or port"),
        (#"{"service": "api", "url": "{{x}}://h/"}"#, "url: takes its scheme, host or port"),
        (#"{"service": "api", "url": "http{{x}}://h/"}"#, "url: takes its scheme, host or port"),
        (#"{"service": "api", "url": "//{{x}}/"}"#, "url: takes its scheme, host or port"),
        (#"{"service": "api", "url": "https:{{x}}"}"#, "url: takes its scheme, host or port"),
        (#"{"url": "{{x.body}}"}"#, "url: begins with a template or a path, and"),
        (#"{"url": "/{{x.body}}"}"#, "url: begins with a template"),
        (#"{"service": "api", "url": "/u/{{a.body"}"#, "url: holds a {{ without }}"),
        (#"{"service": "api", "url": "/u/{{}}"}"#, "url: holds an empty template"),
        (
            #"{"service": "api", "url": "/u", "query": {"a": ["{{a b}}"]}}"#,
            "query: a.0: holds a template that cannot be read"
        ),
        (#"{"service": "api", "url": "/u", "headers": {"X": "{{"}}"#, "headers: X: holds a {{"),
        (
            #"{"service": "api", "url": "/u", "body_json": {"a": {"b": "{{a.}}"}}}"#,
            "body_json: a.b: holds a template that cannot"
        ),
        (
            #"{"service": "api", "url": "/u", "body_parts": [{"name": "a", "file": "{{a.body}}"}]}"#,
            "body_parts: $[0].file holds a template"
        ),
        (
            #"{"service": "api", "url": "/u", "download_to": "d/{{a.body}}"}"#,
            "download_to: holds a template, but this column cannot have templates"
        ),
        (
            #"{"service": "api", "url": "/u", "callback_url": "{{a.body}}"}"#,
            "callback_url: holds a template, but this column cannot have templates"
        ),
        (#"{"service": "api", "url": "/u", "name": "prev"}"#, "name: prev is reserved in templates"),
        (#"{"service": "api", "url": "/u", "run_if": "$ == 1"}"#, "run_if: has a $ without the name of a step"),
        (#"{"kind": "batch", "each": {"list": "{{a..b}}"}}"#, "each: list: holds a template that cannot be read"),
        (#"{"service": "api", "url": "/u", "run_if": "$.a.status == 200"}"#, nil),
    ]

    @Test func `a member's row is refused for template errors that no answer can fix`() throws {
        let fixture = try TemplateFixture()
        for (row, refusal) in Self.rows {
            let found = try fixture.queue.text(
                """
                select o.column_name || ': ' || o.reason
                  from (select pg_temp.job('{"id": 9, "parent_id": 1}'::jsonb || $x$\(row)$x$::jsonb) as j) r,
                       postrider_internal.job_template_defect(r.j) o
                """)
            #expect(refusal.map { found?.hasPrefix($0) ?? false } ?? (found == nil), "\(row): \(found ?? "null")")
        }
    }
}
