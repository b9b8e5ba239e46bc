// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Answers whose bytes do not match their Content-Encoding.
struct UndecodedAnswerTests {
    /// The columns of the job in addition to its URL, the answer's status, the job's expected end, and the number of
    /// calls.
    struct Case: Sendable {
        var columns = ""
        var values = ""
        var method = "POST"
        var status = 200
        var end: String
        var calls = 1
    }

    static let cases: [Case] = [
        Case(end: "failed decode 200"),
        Case(method: "PATCH", end: "failed decode 200"),
        Case(method: "PUT", end: "failed decode 200", calls: 2),
        Case(method: "GET", end: "failed decode 200", calls: 2),
        Case(status: 400, end: "failed http_status 400"),
        Case(status: 500, end: "failed http_status 500", calls: 2),
        Case(columns: ", delivery", values: ", 'at_most_once'", status: 400, end: "failed http_status 400"),
        Case(columns: ", delivery", values: ", 'at_most_once'", end: "failed decode 200"),
        Case(columns: ", decode", values: ", false", end: "succeeded 200"),
        Case(columns: ", ok_statuses", values: ", '{[400,401)}'", status: 400, end: "failed decode 400"),
    ]

    @Test(arguments: cases)
    func `an answer that cannot be decoded keeps its body and is judged by its status`(test: Case) throws {
        let target = try TargetServer { _ in
            TargetStep.answer(test.status, "plain", headers: ["Content-Encoding: gzip"])
        }
        let queue = try TestQueue()
        let id = try queue.insert(
            "method, url, max_attempts, backoff" + test.columns,
            "'\(test.method)', '\(target.url)/', 2, '{0 s}'" + test.values)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let end = try queue.text(
            """
            select concat_ws(' ', state, error_code, status_code, nullif(convert_from(body, 'UTF8'), 'plain'))
              from postrider.job_status where id = \(id)
            """)
        #expect(end == test.end)
        #expect(target.requests.count == test.calls)
    }

    @Test(arguments: ["UTF-8", "binary", "aws-chunked", "us-ascii"])
    func `an unknown Content-Encoding value neither loses the answer nor repeats the call`(value: String) throws {
        let target = try TargetServer { _ in
            TargetStep.answer(200, "{\"a\": 1}", headers: ["Content-Encoding: \(value)"])
        }
        let queue = try TestQueue()
        let id = try queue.insert("method, url, response_format", "'POST', '\(target.url)/', 'json'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.text("select result::text from postrider.job_status where id = \(id)") == "{\"a\": 1}")
        #expect(target.requests.count == 1)
    }
}
