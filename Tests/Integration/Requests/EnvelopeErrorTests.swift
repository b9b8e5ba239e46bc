// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The columns with the service's own error codes, and answers without content.
struct EnvelopeErrorTests {
    private static let envelope = """
        {"code": "$.code", "message": "$.msg", "errors": {"301": "user_not_found", "X-9": "busy"}}
        """

    private static func queue(_ target: TargetServer) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, envelope) values ('s', '\(target.url)', '\(envelope)')")
        return queue
    }

    @Test func `views show envelope_code and error_name, and retry_failed finds jobs by error_name`() throws {
        let target = try TargetServer { request in
            switch request.path {
            case "/user": TargetStep.answer(200, #"{"code": 301, "msg": "no user 7"}"#)
            case "/busy": TargetStep.answer(200, #"{"code": "X-9"}"#)
            case "/other": TargetStep.answer(200, #"{"code": 302.0}"#)
            case "/missing": TargetStep.answer(200, "{}")
            default: TargetStep.answer(200, #"{"code": 200}"#)
            }
        }
        let queue = try Self.queue(target)
        for path in ["user", "busy", "other", "missing", "fine"] { try queue.insert("service, url", "'s', '\(path)'") }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let expected: [[String?]] = [
            ["user", "301", "user_not_found"], ["busy", "X-9", "busy"], ["other", "302", nil], ["missing", nil, nil],
            ["fine", nil, nil],
        ]
        let columns = "select url, envelope_code, error_name from"
        #expect(try queue.rows("\(columns) postrider.job_status order by id") == expected)
        let attempts = try queue.rows(
            """
            select j.url, envelope_code, error_name
              from postrider.attempts a join postrider.jobs j on j.id = a.job_id order by a.job_id
            """)
        #expect(attempts == expected)
        let failures = try queue.rows(
            "select service, url, envelope_code, error_name from postrider.recent_failures order by id")
        #expect(failures == expected.dropLast().map { ["s"] + $0 })
        #expect(try queue.number("select postrider.retry_failed(error_name => 'user_not_found')") == 1)
        #expect(try queue.number("select postrider.retry_failed(error_name => 'nobody')") == 0)
        try queue.waitUntilDone()
        #expect(target.requests("/user").count == 2 && target.requests.count == 6)
        let tries = try queue.rows(
            "select attempt::text, error_name from postrider.attempts where error_name = 'user_not_found' order by fence"
        )
        #expect(tries == [["1", "user_not_found"], ["2", "user_not_found"]])
        try queue.connection.execute("select postrider.purge(now() + interval '1 day')")
    }

    @Test func `a chain continues after answers without a body, and require_data fails an empty result`() throws {
        let target = try TargetServer { request in
            switch request.path {
            case "/gone": [.send([UInt8]("HTTP/1.1 204 No\r\n\r\n".utf8))]
            case "/reset": [.send([UInt8]("HTTP/1.1 205 No\r\nContent-Length: 0\r\n\r\n".utf8))]
            case "/empty": TargetStep.answer(200, "")
            case "/health": TargetStep.answer(200, "up")
            default: TargetStep.answer(200, #"{"code": 200, "list": []}"#)
            }
        }
        let queue = try Self.queue(target)
        let steps = [
            #"{"service": "s", "method": "DELETE", "url": "gone"}"#, #"{"service": "s", "url": "reset"}"#,
            #"{"service": "s", "url": "gone", "response_format": "xml"}"#,
            #"{"service": "s", "method": "HEAD", "url": "gone"}"#, #"{"service": "s", "url": "empty"}"#,
            #"{"service": "s", "url": "health", "use_envelope": false}"#,
            #"{"service": "s", "url": "list", "extract": "$.list", "result_type": "list"}"#,
            #"{"service": "s", "url": "list", "extract": "$.list", "result_type": "list", "require_data": true}"#,
        ]
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let chain = try queue.number("select postrider.submit('{\"chain\": [\(steps.joined(separator: ","))]}')")
        try queue.wait(for: chain, toBe: "failed")
        let members = try queue.rows(
            "select state, error_code from postrider.job_status where parent_id = \(chain) order by position")
        #expect(members == Array(repeating: ["succeeded", nil], count: 7) + [["failed", "no_data"]])
    }

    @Test(arguments: [("[]", "failed"), ("[1]", "succeeded")])
    func `require_data checks all pages together, not each page`(last: String, state: String) throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, request.path.contains("page=1") ? last : "[]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "url, require_data, paginate", "'\(target.url)/', true, '{\"style\": \"page\", \"param\": \"page\"}'")
        try queue.wait(for: id, toBe: state)
        let code = try queue.text("select error_code from postrider.job_status where id = \(id)")
        #expect(code == (state == "failed" ? "no_data" : nil))
    }

    @Test(arguments: [
        ("kind, require_data", "'chain', true", "require_data: is for requests"),
        ("kind, use_envelope", "'batch', false", "use_envelope: is for requests"),
        ("kind, decode", "'chain', false", "decode: is for requests"),
        ("url, method, require_data", "'http://h/', 'HEAD', true", "require_data: needs a body"),
        ("url, download_to, require_data", "'http://h/', 'a', true", "require_data: needs to read the answer"),
        ("url, response_format, require_data", "'http://h/', 'xml', true", "require_data: is for JSON"),
    ])
    func `INSERT refuses require_data, use_envelope and decode where they cannot apply`(
        columns: String, values: String, message: String
    ) throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) { try queue.insert(columns, values) }
        #expect(error?.message.hasPrefix("jobs.\(message)") == true, "\(error?.message ?? "")")
        #expect(error?.hint?.isEmpty == false)
    }
}
