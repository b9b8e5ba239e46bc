// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Steps that read an answer whose body is declared as JSON or looks like JSON, but cannot be parsed.
final class UnreadableJSONTests: TreeFixture {
    /// An unreadable body, its Content-Type, and a part of the reason in the error.
    private static let bodies: [(body: String, type: String?, reason: String)] = [
        (#"{"flagged":true,"note":"\ud83d"}"#, "application/json", "surrogate"),
        (#"{"flagged":true,"note":"\ude00 \\ud83d"}"#, "application/problem+json; charset=utf-8", "surrogate"),
        (#"{"flagged":true,"note":"\u0000"}"#, "text/json", "u0000"),
        (#"[{"flagged":true},1e400000]"#, nil, "numeric"),
        (#"{"flagged":true,"note":"cut o"#, "application/octet-stream", "breaks off"),
        ("\u{a0}{\"flagged\":true}", "application/json", "syntax"),
        (" \n{\"flagged\":true,", nil, "breaks off"),
    ]

    /// Steps that read the answer of `check`, alone or in the batch `fan`.
    private static let readers = [
        #"{"url": "URL/next", "run_if": "$.fan.check.body.flagged == true"}"#,
        #"{"url": "URL/next", "run_if": "!exists($.fan.check.body.error)"}"#,
        #"{"url": "URL/next", "run_if": "exists($.fan.check.result.y)"}"#,
        #"{"url": "URL/next", "run_if": "exists($.fan.* ? (@.body.flagged == false))"}"#,
        #"{"url": "URL/next", "run_if": "$.fan[0].flagged == true"}"#,
        #"{"url": "URL/next/{{fan.check.body.flagged}}"}"#,
        #"{"url": "URL/next", "method": "POST", "body_json": {"a": "{{fan.check.result.y}}"}}"#,
        #"{"url": "URL/next", "method": "POST", "body_json": {"a": "{{fan.results}}"}}"#,
        #"{"batch": {"each": "{{fan.check.body}}", "do": {"url": "URL/next"}}}"#,
    ]

    private func server() throws -> TargetServer {
        try TargetServer { request in
            guard let number = Int(request.path.dropFirst("/bad/".count)), request.path.hasPrefix("/bad/") else {
                return TargetStep.answer(200, #"{"ok":true}"#)
            }
            let (body, type, _) = Self.bodies[number]
            let header = type.map { "Content-Type: \($0)\r\n" } ?? ""
            let head = "HTTP/1.1 200 OK\r\n\(header)Content-Length: \(body.utf8.count)\r\n\r\n"
            return [.send([UInt8]((head + body).utf8))]
        }
    }

    @Test func `a step that reads malformed JSON fails with the reason`() throws {
        let target = try server()
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        var expected: [(step: Int64, reason: String)] = []
        for (number, body) in Self.bodies.enumerated() {
            for reader in Self.readers {
                let chain = """
                    {"chain": [{"batch": [{"name": "check", "url": "URL/bad/\(number)"}], "name": "fan"}, \(reader)]}
                    """
                let root = try queue.number(
                    "select postrider.submit($s$\(chain.replacing("URL", with: target.url))$s$)")
                let step = try queue.number(
                    "select job_id from postrider_internal.members where parent_id = \(root) order by position desc limit 1"
                )
                expected.append((step, body.reason))
            }
        }
        try queue.wait(until: "select count(*) = 0 from postrider_internal.trees where state in ('w', 'o')")
        for (number, (step, reason)) in expected.enumerated() {
            let row = try queue.rows(
                "select state, error_code, error, postrider.explain(id) from postrider.job_status where id = \(step)"
            )[0]
            let (body, reader) = number.quotientAndRemainder(dividingBy: Self.readers.count)
            let place = "\(Self.bodies[body].body) read by \(Self.readers[reader])"
            #expect(row[0] == "failed" && row[1] == "template", "\(place): \(row)")
            #expect(row[2]?.contains("is JSON that cannot be read: ") == true, "\(place): \(row)")
            #expect(row[2]?.contains(reason) == true, "\(place): \(row)")
            #expect(row[2]?.contains("cut o") == false && row[3]?.contains("cut o") == false)
        }
        #expect(!target.requests.contains { $0.path.hasPrefix("/next") })
    }

    @Test func `a step that reads only other parts, or the raw text, of malformed JSON runs`() throws {
        let target = try server()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let readers = [
            #"{"url": "URL/next", "run_if": "$.fan.check.status == 200 && $.fan.good.body.ok == true && exists($.fan)"}"#,
            #"{"url": "URL/next", "run_if": "$.fan.good.body.ok == true && exists($.fan.check)"}"#,
            #"{"url": "URL/next", "run_if": "$.fan.check.headers.\"content-length\" > \"1\""}"#,
            #"{"url": "URL/next", "headers": {"X-Body": "{{fan.check.body}}"}}"#,
        ]
        for reader in readers {
            let chain = """
                {"chain": [{"batch": [{"name": "check", "url": "URL/bad/0"}, {"name": "good", "url": "URL/good"}], "name": "fan"}, \(reader)]}
                """
            let root = try queue.number("select postrider.submit($s$\(chain.replacing("URL", with: target.url))$s$)")
            try queue.wait(for: root, toBe: "succeeded")
        }
        let next = target.requests.filter { $0.path == "/next" }
        #expect(next.count == 4)
        let text = next.last?.headers.first { $0.name.lowercased() == "x-body" }?.value
        #expect(text == Self.bodies[0].body)
    }
}
