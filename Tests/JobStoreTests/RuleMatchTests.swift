// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The decision between answer rules, and the waits that answers ask for.
struct RuleMatchTests {
    /// An answer, three lists, and the rule that decides, as `list[index]`.
    struct Case: Sendable {
        var lists: [String]
        var status = 200
        var method = "GET"
        var body = "null"
        var text = "null"
        var rule: String?
    }

    private static let notFound = #"[{"status": 404, "do": "succeed"}]"#
    private static let broken = #"[{"status": 500, "do": "fail"}, {"status": "{[400,500)}", "do": "retry"}]"#

    static let cases: [Case] = [
        Case(lists: ["null", "null", "null"]),
        Case(lists: [notFound, broken, broken], rule: nil),
        Case(lists: [notFound, broken, broken], status: 404, rule: "job[0]"),
        Case(lists: [notFound, broken, broken], status: 403, rule: "operation[1]"),
        Case(lists: ["null", "null", broken], status: 500, rule: "service[0]"),
        Case(lists: ["[]", notFound, broken], status: 404, rule: "operation[0]"),
        Case(lists: [#"[{"methods": ["POST"], "do": "fail"}]"#, "null", "null"]),
        Case(lists: [#"[{"methods": ["POST"], "do": "fail"}]"#, "null", "null"], method: "POST", rule: "job[0]"),
        Case(lists: [#"[{"methods": ["POST"], "do": "fail"}]"#, "null", "null"], method: "post", rule: "job[0]"),
        Case(lists: [#"[{"status": 200, "if": "$.body.a == 1", "do": "fail"}]"#, "null", "null"], body: #"{"a": 2}"#),
        Case(
            lists: [#"[{"status": 200, "if": "$.body.a == 1", "do": "fail"}]"#, "null", "null"], body: #"{"a": 1}"#,
            rule: "job[0]"),
        Case(lists: [#"[{"if": "exists($.body)", "do": "fail"}]"#, "null", "null"]),
        Case(lists: [#"[{"if": "!exists($.body)", "do": "fail"}]"#, "null", "null"], rule: "job[0]"),
        Case(
            lists: [#"[{"if": "$.headers.\"x-state\" == \"stale\"", "do": "fail"}]"#, "null", "null"], rule: "job[0]"),
        Case(lists: [#"[{"if": "$.status >= 200", "do": "fail"}]"#, "null", "null"], rule: "job[0]"),
        Case(
            lists: [#"[{"if": "$.text like_regex \"busy\"", "do": "fail"}]"#, "null", "null"], text: "'I am busy'",
            rule: "job[0]"),
        // A condition that cannot be applied does not match, and later rules are asked.
        Case(
            lists: [
                #"[{"if": "strict $.body.a.b == 1", "do": "fail"}, {"if": "$.body.a / 0 == 1", "do": "fail"}]"#,
                #"[{"if": "$.body.a == 7", "do": "succeed"}]"#, "null",
            ], body: #"{"a": 7}"#, rule: "operation[0]"),
        Case(
            lists: [#"[{"if": "$.body.a.datetime() < $.body.b", "do": "fail"}]"#, "null", "null"], body: #"{"a": 7}"#),
    ]

    private static let shared = Result { try TestQueue.makeDatabase() }

    private func row(_ sql: String) throws -> String? {
        let result = try PGConnection(Self.shared.get()).query(sql)
        return result.optionalText(0, 0)
    }

    @Test(arguments: cases)
    func `the first rule decides: the job's, then the operation's, then the service's`(item: Case) throws {
        let lists = item.lists.map { $0 == "null" ? "null" : "'\($0)'" }.joined(separator: ", ")
        let body = item.body == "null" ? "null" : "'\(item.body)'"
        let found = try row(
            """
            select m.list || '[' || m.index || ']' from postrider_internal.rule_match(
              array[\(lists)]::jsonb[], \(item.status), '\(item.method)', '{"x-state": ["stale"]}', \(body),
              \(item.text)) m
            """)
        #expect(found == item.rule, "\(item)")
    }

    @Test(arguments: [
        ("5", "5000"), ("0.5", "500"), ("0", "0"), ("1800000030", "30000"), ("1800000030500", "30500"),
        ("7200", "3600000"), ("1799999990", "0"), ("3s", "3000"), ("1m0s", "60000"), ("500ms", "500"),
        ("1h30m", "3600000"), ("1.5s", "1500"), ("2027-01-15T08:00:10Z", "10000"),
        ("2027-01-15T09:00:10+01:00", "10000"), ("2027-01-15T08:00:10.5+00:00", "10500"),
        ("Fri, 15 Jan 2027 08:00:10 GMT", "10000"), ("Fri, 15 Jan 2027 08:00:10 UTC", "10000"),
        ("Fri, 15 Jan 2027 09:00:10 +0100", "10000"), ("soon", nil), ("", nil), ("-5", nil), ("1e3", nil),
        ("5 apples", nil), ("2027-99-15T08:00:10Z", nil), ("..s", nil),
    ])
    func `a wait is read in all forms that servers use`(text: String, milliseconds: String?) throws {
        #expect(try row("select postrider_internal.waiting_ms('\(text)', 1800000000)::text") == milliseconds)
    }

    @Test func `random bytes and any rule raise no error`() throws {
        let count = try row(
            #"""
            select count(*)::text from generate_series(1, 2000) i,
              lateral (select string_agg(decode(lpad(to_hex((random() * 255)::int), 2, '0'), 'hex'), '') as b
                         from generate_series(1, 1 + i % 60)) r,
              lateral (select (array['', '{"a": 1}', '[[1e400000]]', '{"a": "\u0000"}', '1', '"x'])[1 + i % 6] as t) t,
              lateral postrider_internal.answer_rule(
                jsonb_populate_record(null::postrider.jobs, '{"method": "GET", "rules": [
                  {"if": "$.body.a.double() / $.body.b > 1 || $.text like_regex \"^.[[:alpha:]]\"", "do": "fail",
                   "error": "$.body.**.keyvalue()"},
                  {"if": "strict $.headers.x[9] == 1 || $.body.a.datetime() < $.text.datetime()", "do": "fail"},
                  {"status": 200, "do": "throttle", "wait": "($.body.a - 1) / $.text.size()", "error": "$.headers"}]}'),
                null, 200, case when i % 2 = 0 then convert_to(E'content-type: a/json\nx: 1\n', 'UTF8') else r.b end,
                case when i % 3 = 0 then convert_to(t.t, 'UTF8') else r.b end) a
             where a.list = 'job'
            """#)
        #expect(count == "2000")
    }

    @Test func `rules with filters, wildcards or long texts are not cheap`() throws {
        for (rules, isCheap) in [
            (#"[{"status": 404, "do": "retry"}, {"if": "$.body.errors[0].code == 7", "do": "fail"}]"#, "true"),
            (#"[{"if": "exists($.body ? (@.a == 1))", "do": "fail"}]"#, "false"),
            (#"[{"if": "exists($.body.**.a)", "do": "fail"}]"#, "false"),
            (#"[{"status": 404, "do": "throttle", "wait": "($.body.a - $.body.b) / $.body.c"}]"#, "false"),
            (#"[{"status": 404, "do": "fail", "error": "what? a * sentence"}]"#, "true"),
        ] {
            #expect(try row("select postrider_internal.rules_are_cheap('\(rules)')::text") == isCheap, "\(rules)")
        }
    }

    @Test(arguments: [
        ("https://a.example/v1", "users/7", "/users/7"), ("https://a.example/v1", "/v1/users/7", "/users/7"),
        ("https://a.example", "users/7?a=b", "/users/7"),
        ("https://a.example/v1/", "https://a.example/v1/x%20y", "/x y"),
        ("https://a.example/v1", "/other", "/other"), ("https://a.example", "https://b.example/users", nil),
        ("https://a.example", "", "/"),
    ])
    func `the path of a stubbed call is relative to the base`(base: String, url: String, path: String?) throws {
        let found = try row(
            """
            select c.path from postrider_internal.stub_call('\(url)', null, false,
              jsonb_populate_record(null::postrider.services, '{"name": "s", "base_url": "\(base)"}')) c
            """)
        #expect(found == path)
    }

    @Test(arguments: [
        (#"{"path": "/users/*"}"#, true), (#"{"path": "/users/**"}"#, true), (#"{"path": "/users"}"#, false),
        (#"{"path": "/*"}"#, false), (#"{"path": "/**"}"#, true), (#"{"path": "/u.ers/*"}"#, false),
        (#"{"method": "POST"}"#, false), (#"{"method": "GET"}"#, true), (#"{"query": {"page": 2}}"#, true),
        (#"{"query": {"page": "3"}}"#, false), (#"{"query": {"size": 2}}"#, false), ("{}", true),
        (#"{"method": "GET", "path": "/users/7", "query": {"page": "2"}}"#, true),
    ])
    func `a stub fits by method, path and arguments`(match: String, fits: Bool) throws {
        let sql =
            "select postrider_internal.stub_fits('\(match)', 'GET', '/users/7', array['a', '1', 'page', '2'])::text"
        #expect(try row(sql) == (fits ? "true" : "false"))
    }
}
