// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The answers that rules do not see, and the order of rules among the other checks.
struct AnswerRuleLimitTests {
    private func end(
        _ columns: String, _ values: String, words: [String] = [], setUp: String = "",
        answer: @escaping @Sendable (TargetRequest) -> [TargetStep]
    ) throws -> [String?] {
        let queue = try TestQueue()
        try queue.connection.execute(setUp)
        let target = try TargetServer(answer: answer)
        let id = try queue.insert("url, \(columns)", "'\(target.url)/x', \(values)")
        let worker = try RunningWorker(queue.database, words)
        defer { worker.kill() }
        try queue.waitUntilDone()
        return try queue.rows(
            """
            select s.state, s.error_code, a.rule, s.error from postrider.job_status s
              join postrider.attempts a on a.job_id = s.id where s.id = \(id) order by a.fence desc limit 1
            """)[0]
    }

    @Test func `a broken encoding is judged before the rules`() throws {
        let row = try end("rules, max_attempts", #"'[{"status": 200, "do": "succeed"}]', 1"#) { _ in
            TargetStep.answer(200, "no gzip", headers: ["Content-Encoding: gzip"])
        }
        #expect(row[..<3] == ["failed", "decode", nil], "\(row)")
    }

    @Test func `rules are asked before the XML is checked, and succeed keeps that check`() throws {
        let fails = try end("rules, response_format", #"'[{"status": 200, "do": "fail"}]', 'xml'"#) { _ in
            TargetStep.answer(200, "<a>")
        }
        #expect(fails[..<3] == ["failed", "rule", "job[0]"], "\(fails)")
        let succeeds = try end("rules, response_format", #"'[{"status": 200, "do": "succeed"}]', 'xml'"#) { _ in
            TargetStep.answer(200, "<a>")
        }
        #expect(succeeds[..<3] == ["failed", "xml_invalid", "job[0]"], "\(succeeds)")
    }

    @Test func `the rules of the operation come after the rules of the job`() throws {
        let operation = #"""
            insert into postrider.operations (name, overridable, spec) values
              ('op', '{url}', '{"url": "http://h/", "rules": [{"status": 200, "do": "fail", "name": "op"}]}')
            """#
        let row = try end("rules, operation", #"'[{"status": 201, "do": "fail"}]', 'op'"#, setUp: operation) { _ in
            TargetStep.answer(200)
        }
        #expect(row[..<3] == ["failed", "rule", "operation[0] op"], "\(row)")
    }

    @Test func `a download has neither body nor text for rules`() throws {
        let folder = try FilesFolder()
        let rule = #"[{"if": "!exists($.body) && !exists($.text) && $.status == 200", "do": "fail", "name": "unread"}]"#
        let row = try end("rules, download_to", "'\(rule)', 'a.json'", words: ["--files", folder.path]) { _ in
            TargetStep.answer(200, #"{"a": 1}"#)
        }
        #expect(row[..<3] == ["failed", "rule", "job[0] unread"], "\(row)")
    }

    @Test func `a rule that takes too long ends its job with too_expensive and names the rules`() throws {
        let elements = (0..<8000).map { #"{"a": \#($0), "b": -1}"# }.joined(separator: ",")
        let rule = #"[{"if": "exists($.body[*] ? (@.a == $.body[*].b))", "do": "fail"}]"#
        let row = try end("rules, max_attempts", "'\(rule)', 1") { _ in TargetStep.answer(500, "[\(elements)]") }
        #expect(row[..<3] == ["failed", "too_expensive", nil], "\(row)")
        #expect(row[3]?.contains("simplify rules") == true, "\(row)")
    }

    @Test func `a stale answer does not replace the failure of a rule`() throws {
        let queue = try TestQueue()
        let target = try TargetServer { TargetStep.answer($0.turn == 1 ? 200 : 503) }
        try queue.connection.execute(
            #"""
            insert into postrider.services (name, base_url, stale_if_error, rules) values ('api', '\#(target.url)', '1 h',
              '[{"status": 503, "methods": ["GET"], "do": "fail"}]')
            """#)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try queue.insert("service, url, cache_ttl", "'api', 'x', '1 ms'")
        try queue.wait(for: first, toBe: "succeeded")
        let second = try queue.insert("service, url, cache_ttl", "'api', 'x', '1 ms'")
        try queue.wait(for: second, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(second)") == "rule")
    }
}
