// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The checks of answer rules and stubs when a row is written.
struct RuleDefectTests {
    /// A value that is refused, and words of the message: the place and the reason.
    struct Case: Sendable {
        var value: String
        var words: String
    }

    static let rules: [Case] = [
        Case(value: #"{"status": 404, "do": "retry"}"#, words: "$ must be an array of rules"),
        Case(value: #"[7]"#, words: "$[0] must be an object"),
        Case(value: #"[{"status": 404}]"#, words: "$[0].do is missing"),
        Case(value: #"[{"status": 404, "do": "ignore"}]"#, words: "$[0].do is not an action"),
        Case(value: #"[{"status": 404, "do": null}]"#, words: "$[0].do is not an action"),
        Case(value: #"[{"status": 404, "do": "retry", "after": "1 s"}]"#, words: "$[0].after is not a key of a rule"),
        Case(value: #"[{"status": 404, "do": "fail", "wait": "1 s"}]"#, words: "$[0].wait means nothing for fail"),
        Case(
            value: #"[{"status": 404, "do": "throttle", "within": "1 s"}]"#,
            words: "$[0].within means nothing for throttle"),
        Case(
            value: #"[{"status": 404, "do": "succeed", "error": "x"}]"#, words: "$[0].error means nothing for succeed"),
        Case(
            value: #"[{"status": 404, "do": "fail", "repeatable": true}]"#,
            words: "$[0].repeatable means nothing for fail"),
        Case(
            value: #"[{"status": 404, "do": "refresh", "error": "x"}]"#, words: "$[0].error means nothing for refresh"),
        Case(value: #"[{"do": "fail"}]"#, words: "$[0] has no condition"),
        Case(value: #"[{"status": 404, "do": "retry"}, {"do": "fail", "name": "x"}]"#, words: "$[1] has no condition"),
        Case(value: #"[{"status": 99, "do": "fail"}]"#, words: "$[0].status is not a set of statuses"),
        Case(value: #"[{"status": 404.5, "do": "fail"}]"#, words: "$[0].status is not a set of statuses"),
        Case(value: #"[{"status": "404", "do": "fail"}]"#, words: "$[0].status is not a set of statuses"),
        Case(value: #"[{"status": "{}", "do": "fail"}]"#, words: "$[0].status is not a set of statuses"),
        Case(value: #"[{"status": [404], "do": "fail"}]"#, words: "$[0].status is not a set of statuses"),
        Case(value: #"[{"status": 99999999999999999999, "do": "fail"}]"#, words: "$[0].status is not a set"),
        Case(value: #"[{"methods": [], "do": "fail"}]"#, words: "$[0].methods must be an array of methods"),
        Case(value: #"[{"methods": ["get"], "do": "fail"}]"#, words: "$[0].methods must be an array of methods"),
        Case(value: #"[{"methods": "GET", "do": "fail"}]"#, words: "$[0].methods must be an array of methods"),
        Case(value: #"[{"if": true, "do": "fail"}]"#, words: "$[0].if must be a text"),
        Case(value: #"[{"if": "$.body ==", "do": "fail"}]"#, words: "$[0].if is not a jsonpath"),
        Case(value: #"[{"if": "$.body.errors", "do": "fail"}]"#, words: "$[0].if is not a condition"),
        Case(value: #"[{"if": "$.body ? (@.a == 1)", "do": "fail"}]"#, words: "$[0].if is not a condition"),
        Case(value: #"[{"if": "$.body.a.type()", "do": "fail"}]"#, words: "$[0].if is not a condition"),
        Case(
            value: #"[{"if": "exists($.errors)", "do": "fail"}]"#, words: "$[0].if reads $.errors, which is not a part"),
        Case(value: #"[{"if": "exists($)", "do": "fail"}]"#, words: "$[0].if has a $ that names no part"),
        Case(value: #"[{"if": "$.body == $x", "do": "fail"}]"#, words: "$[0].if uses a variable"),
        Case(value: #"[{"status": 404, "do": "retry", "within": "soon"}]"#, words: "$[0].within must be an interval"),
        Case(value: #"[{"status": 404, "do": "retry", "within": "-1 s"}]"#, words: "$[0].within must be an interval"),
        Case(
            value: #"[{"status": 404, "do": "retry", "within": "31 days"}]"#, words: "$[0].within must be an interval"),
        Case(value: #"[{"status": 404, "do": "retry", "within": 5}]"#, words: "$[0].within must be an interval"),
        Case(
            value: #"[{"status": 404, "do": "retry", "wait": "0 s"}]"#, words: "$[0].wait must be an interval above 0"),
        Case(value: #"[{"status": 404, "do": "retry", "wait": "$.retry"}]"#, words: "$[0].wait reads $.retry"),
        Case(value: #"[{"status": 404, "do": "fail", "name": "not found"}]"#, words: "$[0].name is not a name"),
        Case(value: #"[{"status": 404, "do": "fail", "name": "a:b"}]"#, words: "$[0].name is not a name"),
        Case(value: #"[{"status": 404, "do": "fail", "error": ""}]"#, words: "$[0].error must be a text of 1 to 500"),
        Case(value: #"[{"status": 404, "do": "fail", "error": "$.message"}]"#, words: "$[0].error reads $.message"),
        Case(
            value: #"[{"status": 404, "do": "retry", "repeatable": "yes"}]"#,
            words: "$[0].repeatable must be true or false"),
        Case(
            value: "[" + Array(repeating: #"{"status": 404, "do": "fail"}"#, count: 51).joined(separator: ",") + "]",
            words: "$ has 51 rules, and at most 50 are allowed"),
    ]

    static let stubs: [Case] = [
        Case(value: #"{"status": 200}"#, words: "$ must be an array"),
        Case(value: #""ok""#, words: "$ must be an array"),
        Case(value: #"["ok"]"#, words: "$[0] must be an object"),
        Case(value: #"[{"state": 200}]"#, words: "$[0].state is not a key of a stub"),
        Case(value: #"[{"match": "/users"}]"#, words: "$[0].match must be an object"),
        Case(value: #"[{"match": {"url": "/users"}}]"#, words: "$[0].match.url is not a key of match"),
        Case(value: #"[{"match": {"method": "get"}}]"#, words: "$[0].match.method is not a method"),
        Case(value: #"[{"match": {"method": ["GET"]}}]"#, words: "$[0].match.method is not a method"),
        Case(value: #"[{"match": {"path": "users"}}]"#, words: "$[0].match.path is not a path"),
        Case(value: #"[{"match": {"path": 7}}]"#, words: "$[0].match.path is not a path"),
        Case(value: #"[{"match": {"path": "/users?page=2"}}]"#, words: "$[0].match.path holds a query"),
        Case(value: #"[{"match": {"path": "/users#x"}}]"#, words: "$[0].match.path holds a query"),
        Case(value: #"[{"match": {"query": "page=2"}}]"#, words: "$[0].match.query must be an object"),
        Case(value: #"[{"match": {"query": {"page": [2]}}}]"#, words: "$[0].match.query must be an object"),
        Case(value: #"[{"status": 199}]"#, words: "$[0].status is not a status"),
        Case(value: #"[{"status": 600}]"#, words: "$[0].status is not a status"),
        Case(value: #"[{"status": "200"}]"#, words: "$[0].status is not a status"),
        Case(value: #"[{"status": 200.5}]"#, words: "$[0].status is not a status"),
        Case(value: #"[{"headers": ["a"]}]"#, words: "$[0].headers must be an object"),
        Case(value: #"[{"headers": {"a b": "c"}}]"#, words: "$[0].headers has a wrong entry: a b"),
        Case(value: #"[{"headers": {"a": 1}}]"#, words: "$[0].headers has a wrong entry: a"),
        Case(value: #"[{"headers": {"a": "b\r\nc: d"}}]"#, words: "$[0].headers has a wrong entry: a"),
        Case(value: #"[{"delay": "soon"}]"#, words: "$[0].delay must be an interval"),
        Case(value: #"[{"delay": 50}]"#, words: "$[0].delay must be an interval"),
        Case(value: #"[{"delay": "-1 s"}]"#, words: "$[0].delay must be an interval"),
        Case(value: #"[{}, {"delay": "61 min"}]"#, words: "$[1].delay must be an interval"),
    ]

    private static let shared = Result { try TestQueue.makeDatabase() }

    private func refusal(_ sql: String) throws -> String {
        let connection = try PGConnection(Self.shared.get())
        do throws(PGError) {
            try connection.execute(sql)
            return "accepted"
        } catch {
            return "\(error.sqlState?.rawValue ?? "") \(error) hint: \(error.hint ?? "none")"
        }
    }

    @Test(arguments: rules)
    func `a wrong answer rule is refused with its place, its reason and a hint`(item: Case) throws {
        let job = try refusal("insert into postrider.jobs (url, rules) values ('http://a.example/', '\(item.value)')")
        #expect(job.contains("PR001") && job.contains("jobs.rules: \(item.words)"), "\(job)")
        #expect(!job.contains("hint: none"), "\(job)")
        let service = try refusal("insert into postrider.services (name, rules) values ('s', '\(item.value)')")
        #expect(service.contains("services.rules: \(item.words)"), "\(service)")
    }

    @Test(arguments: stubs)
    func `a wrong stub is refused with its place and its reason`(item: Case) throws {
        let service = try refusal("insert into postrider.services (name, stub) values ('s', '\(item.value)')")
        #expect(service.contains("PR001") && service.contains("services.stub: \(item.words)"), "\(service)")
        #expect(!service.contains("hint: none"), "\(service)")
    }

    @Test func `each documented form of a rule and a stub is accepted`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            #"""
            insert into postrider.services (name, base_url, rules, stub) values ('s', 'https://a.example/', '[
              {"status": "{[404,405)}", "do": "retry", "within": "2 min"},
              {"if": "$.body.errors[*].extensions.code == \"THROTTLED\"", "do": "throttle", "wait": "$.body.retry_in"},
              {"if": "exists($.body.errors)", "do": "fail", "name": "graphql", "error": "$.body.errors[0].message"},
              {"status": "{[409,410)}", "do": "succeed"}, {"status": 410, "methods": ["GET"], "do": "succeed"},
              {"if": "$.body.a == 1", "do": "throttle", "wait": "($.body.a - $.body.b) / $.body.c", "error": "slow down"},
              {"if": "$.text like_regex \"busy\"", "do": "retry", "wait": "2 hours", "repeatable": true},
              {"if": "strict $.status == 404", "do": "fail", "error": "it is gone"},
              {"if": "$.headers.\"x-token-state\" == \"stale\"", "do": "refresh"}]', '[
              {"match": {"method": "GET", "path": "/users/*"}, "status": 200, "headers": {"X": "a", "Y": ["b", "c"]},
               "body": {"id": 7}, "delay": "50 ms"}, {"match": {"path": "/a/**", "query": {"page": 2}}, "body": "text"},
              {"status": 503}, {}]');
            insert into postrider.jobs (service, url, rules) select 's', 'x', s.rules from postrider.services s;
            insert into postrider.jobs (url, rules) values ('http://a.example/', '[]');
            """#)
        #expect(try queue.number("select count(*) from postrider.jobs") == 2)
    }

    @Test func `rules are refused for a batch`() throws {
        let text = try refusal("insert into postrider.jobs (kind, rules) values ('batch', '[]')")
        #expect(text.contains("jobs.rules: is for requests"), "\(text)")
    }
}
