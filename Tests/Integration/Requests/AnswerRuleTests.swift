// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Answer rules, from the row to the result, with answers of a real server.
struct AnswerRuleTests {
    /// One answer, the rules of job, operation and service, and the end of the job.
    struct Case: Sendable {
        var status = 200
        var body = "{}"
        var headers: [String] = []
        var rules = "null"
        var service = "null"
        var columns = ""
        var values = ""
        var state: String
        var code: String?
        var words = ""
        var name: String?
        var rule: String?
        var attempts = "1"
        var result: String?
    }

    private static let retry = #"[{"status": 404, "do": "retry"}]"#
    private static let graphQL = """
        [{"if": "exists($.body.errors) && !exists($.body.data)", "do": "fail", "name": "graphql", "error": "$.body.errors[0].message"}]
        """

    static let cases: [Case] = [
        // Without a match the answer is judged as without rules.
        Case(status: 404, rules: #"[{"status": 405, "do": "succeed"}]"#, state: "failed", code: "http_status"),
        Case(body: #"{"data": 1}"#, service: graphQL, state: "succeeded"),
        Case(status: 409, rules: #"[{"status": 409, "do": "succeed"}]"#, state: "succeeded", rule: "job[0]"),
        Case(
            status: 409, body: #"{"id": 7}"#, rules: #"[{"status": "{[409,411)}", "do": "succeed", "name": "exists"}]"#,
            columns: ", extract", values: ", '$.id'", state: "succeeded", rule: "job[0] exists", result: "7"),
        Case(
            status: 409, body: #"{"id": 7}"#, rules: #"[{"status": 409, "do": "succeed"}]"#,
            columns: ", validator", values: #", '{"id": "string"}'"#, state: "failed", code: "validator",
            words: "$.id should be a string", rule: "job[0]"),
        Case(
            status: 409, body: "[1]", rules: #"[{"status": 409, "do": "succeed"}]"#,
            columns: ", result_type", values: ", 'object'", state: "failed", code: "no_data", rule: "job[0]"),
        Case(
            body: #"{"errors": [{"message": "no  such\nfield"}]}"#, service: graphQL, state: "failed", code: "rule",
            words: "graphql: no such field", name: "graphql", rule: "service[0] graphql"),
        Case(
            body: #"{"errors": []}"#,
            rules: #"[{"if": "exists($.body.errors)", "do": "fail", "error": "it is broken"}]"#,
            service: graphQL, state: "failed", code: "rule", words: "it is broken", rule: "job[0]"),
        Case(
            body: #"{"errors": []}"#, rules: #"[{"status": 500, "do": "fail"}]"#, service: graphQL, state: "failed",
            code: "rule", words: "graphql: the answer is a failure by rule service[0] graphql", name: "graphql",
            rule: "service[0] graphql"),
        Case(
            status: 503, rules: #"[{"status": 503, "do": "fail"}]"#, state: "failed", code: "rule", rule: "job[0]"),
        Case(
            status: 404, rules: #"[{"status": 404, "methods": ["POST"], "do": "succeed"}]"#, state: "failed",
            code: "http_status"),
        Case(
            headers: ["X-State: stale"], rules: #"[{"if": "$.headers.\"x-state\" == \"stale\"", "do": "fail"}]"#,
            state: "failed", code: "rule", rule: "job[0]"),
        Case(
            body: "busy now", headers: [], rules: #"[{"if": "$.text starts with \"busy\"", "do": "fail"}]"#,
            state: "failed", code: "rule", rule: "job[0]"),
        // A failure of its own ends the retries; without one the rule does.
        Case(
            status: 404, rules: retry, columns: ", max_attempts, backoff", values: ", 3, '{1 ms}'", state: "failed",
            code: "http_status", words: "the server answered 404", rule: "job[0]", attempts: "3"),
        Case(
            body: #"{"state": "pending"}"#,
            rules: #"[{"if": "$.body.state == \"pending\"", "do": "retry", "name": "pending"}]"#,
            columns: ", max_attempts, backoff", values: ", 2, '{1 ms}'", state: "failed", code: "rule",
            words: "pending: the answer is a failure by rule job[0] pending", name: "pending",
            rule: "job[0] pending", attempts: "2"),
        Case(
            body: #"{"id": 7}"#, rules: #"[{"status": 200, "do": "retry"}]"#,
            columns: ", max_attempts, backoff, validator", values: #", 2, '{1 ms}', '{"id": "string"}'"#,
            state: "failed", code: "validator", words: "$.id should be a string", rule: "job[0]", attempts: "2"),
        Case(
            status: 404, rules: #"[{"status": 404, "do": "retry", "within": "1 ms"}]"#, columns: ", backoff",
            values: ", '{1 s}'", state: "failed", code: "http_status", words: "the server answered 404", rule: "job[0]"),
        Case(
            status: 200, rules: #"[{"status": 200, "do": "retry", "within": "2 s", "wait": "1 min"}]"#,
            state: "failed", code: "rule", words: "the answer is a failure by rule job[0]", rule: "job[0]"),
        // An at_most_once job is sent again only if the rule is repeatable.
        Case(
            status: 404, rules: retry, columns: ", delivery", values: ", 'at_most_once'", state: "failed",
            code: "http_status", rule: "job[0]"),
        Case(
            status: 404, rules: #"[{"status": 404, "do": "retry", "repeatable": true}]"#,
            columns: ", delivery, max_attempts, backoff", values: ", 'at_most_once', 2, '{1 ms}'", state: "failed",
            code: "http_status", rule: "job[0]", attempts: "2"),
        Case(
            rules: #"[{"status": 200, "do": "throttle"}]"#, columns: ", delivery", values: ", 'at_most_once'",
            state: "failed", code: "rule", rule: "job[0]"),
        // Without a credential there is no token to refresh.
        Case(
            rules: #"[{"status": 200, "do": "refresh"}]"#, state: "failed", code: "token_expired", rule: "job[0]"),
        // An expensive rule is judged on the judging session.
        Case(
            body: #"{"errors": [{"code": 7}]}"#,
            rules: #"[{"if": "exists($.body.errors[*] ? (@.code == 7))", "do": "fail"}]"#, state: "failed",
            code: "rule", rule: "job[0]"),
        Case(
            status: 404, body: #"{"errors": [{"code": 7}]}"#,
            rules: #"[{"if": "exists($.body.errors[*] ? (@.code == 7))", "do": "succeed"}]"#, state: "succeeded",
            rule: "job[0]"),
        // An envelope is read after the rules, and its code does not count after succeed.
        Case(
            body: #"{"code": 5, "data": {"result": 8}}"#, rules: #"[{"if": "$.body.code == 5", "do": "succeed"}]"#,
            columns: ", tag", values: ", 'envelope'", state: "succeeded", rule: "job[0]", result: "8"),
        Case(
            status: 404, body: "<p>gone</p>", rules: #"[{"status": 404, "do": "succeed"}]"#,
            columns: ", tag", values: ", 'envelope'", state: "succeeded", rule: "job[0]"),
    ]

    private static let envelope = #"{"code": "$.code", "success": [200], "result": "$.data.result"}"#

    @Test(arguments: cases)
    func `a rule decides what an answer means for its job`(item: Case) throws {
        let queue = try TestQueue()
        let target = try TargetServer { _ in TargetStep.answer(item.status, item.body, headers: item.headers) }
        let service = item.service == "null" ? "null" : "$x$\(item.service)$x$"
        let rules = item.rules == "null" ? "null" : "$x$\(item.rules)$x$"
        let envelope = item.values.contains("envelope") ? "'\(Self.envelope)'" : "null"
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, rules, envelope)
            values ('api', '\(target.url)', \(service), \(envelope))
            """)
        let id = try queue.insert("service, url, rules\(item.columns)", "'api', 'x', \(rules)\(item.values)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let row = try queue.rows(
            """
            select s.state, s.error_code, s.error, s.error_name, a.rule, s.result::text, s.attempts::text
              from (select *, (select count(*) from postrider.attempts t where t.job_id = s.id) as attempts
                      from postrider.job_status s) s
              left join lateral (select a.rule from postrider.attempts a where a.job_id = s.id
                                 order by a.fence desc limit 1) a on true
             where s.id = \(id)
            """)[0]
        #expect(row[0] == item.state && row[1] == item.code, "\(row)")
        #expect((row[2] ?? "").hasPrefix(item.words), "\(row)")
        #expect(row[3] == item.name && row[4] == item.rule, "\(row)")
        if let result = item.result { #expect(row[5] == result, "\(row)") }
        #expect(row[6] == item.attempts, "\(row)")
        if let rule = item.rule {
            let sentence = try queue.text("select postrider.explain(\(id))") ?? ""
            #expect(sentence.contains("by rule \(rule)"), "\(sentence)")
        }
    }

    @Test func `a throttle rule pauses the lane as long as the answer asks, and uses no attempt`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { request in
            request.turn == 1
                ? TargetStep.answer(200, #"{"errors": [{"code": "THROTTLED"}], "retry_in": 2}"#)
                : TargetStep.answer(200)
        }
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, rules) values ('api', '\(target.url)',
              '[{"if": "$.body.errors[*].code == \\"THROTTLED\\"", "do": "throttle", "wait": "$.body.retry_in"}]')
            """)
        let id = try queue.insert("service, url, max_attempts", "'api', 'x', 1")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select count(*) = 1 from postrider.attempts where rule = 'service[0]'")
        #expect(
            try queue.text("select pause_reason from postrider.lane_status where lane = 'api'")?.contains("a wait of 2")
                == true)
        try queue.wait(for: id, toBe: "succeeded")
        let requests = target.requests
        #expect(requests.count == 2)
        #expect(requests[1].arrivedAt - requests[0].arrivedAt > 1_500_000_000)
        #expect(
            try queue.rows("select attempt::text, error_code, rule from postrider.attempts order by fence")
                == [["1", "rule", "service[0]"], ["1", nil, nil]])
    }

    @Test func `a wait that cannot be read is quoted, and the waits count towards max_wait`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"wait": "after lunch"}"#) }
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, max_wait, rules) values ('api', '\(target.url)', '2 s',
              '[{"status": 200, "do": "throttle", "wait": "$.body.wait"}]')
            """)
        let id = try queue.insert("service, url", "'api', 'x'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let row = try queue.rows(
            "select state, error_code, error from postrider.job_status where id = \(id)")[0]
        #expect(row[0] == "failed" && row[1] == "rule", "\(row)")
        #expect(row[2]?.contains("the wait of the rule cannot be read: after lunch") == true, "\(row)")
        #expect(row[2]?.contains("longer than max_wait") == true, "\(row)")
    }

    @Test func `rules see each page by itself`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { request in
            if request.path.hasSuffix("page=2"), request.turn == 1 { return TargetStep.answer(404) }
            return TargetStep.answer(200, request.path.hasSuffix("page=3") ? "[]" : "[\(request.path.suffix(1))]")
        }
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, rules) values ('api', '\(target.url)', '\(Self.retry)')")
        let id = try queue.insert(
            "service, url, paginate, backoff", "'api', 'x', '{\"style\": \"page\", \"param\": \"page\"}', '{1 ms}'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let rows = try queue.rows(
            "select state, error_code, error, result::text from postrider.job_status where id = \(id)")
        #expect(rows == [["succeeded", nil, nil, "[1, 2]"]], "\(rows) \(target.requests.map(\.path))")
        #expect(try queue.number("select count(*) from postrider.attempts where rule = 'service[0]'") == 1)
    }

    @Test func `an answer that a job's own rule takes for a success is not cached`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { _ in TargetStep.answer(404) }
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('api', '\(target.url)')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for round in 1...2 {
            let id = try queue.insert(
                "service, url, cache_ttl, rules", "'api', 'x', '1 h', '[{\"status\": 404, \"do\": \"succeed\"}]'")
            try queue.wait(for: id, toBe: "succeeded")
            #expect(target.requests.count == round)
        }
        let plain = try queue.insert("service, url, cache_ttl", "'api', 'x', '1 h'")
        try queue.wait(for: plain, toBe: "failed")
        #expect(try queue.number("select count(*) from postrider.cache_entries") == 0)
    }

    @Test func `rules see no failure of the network and no webhook`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { _ in [.reset] }
        let id = try queue.insert(
            "url, rules, max_attempts",
            "'\(target.url)/x', '[{\"if\": \"!exists($.body)\", \"do\": \"succeed\"}]', 1")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.number("select count(*) from postrider_internal.attempt_notes") == 0)
    }
}
