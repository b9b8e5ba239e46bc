// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// Hostile answers in one batch with good answers.
struct HostileResultTests {
    @Test func `each hostile answer ends with its own error code, and 100 good jobs succeed`() throws {
        let hostile = try HostileServer(ports: 23_460...23_479)
        let queue = try TestQueue()
        let expected: [(path: String, state: String, code: String?)] = [
            ("/reset", "failed", "reset"), ("/empty", "failed", "empty_reply"), ("/garbage", "failed", "reset"),
            ("/cut-headers", "failed", "truncated"), ("/cut-line", "failed", "truncated"),
            ("/cut-length", "failed", "truncated"), ("/cut-chunks", "failed", "truncated"),
            ("/bad-chunk", "failed", "truncated"), ("/bad-gzip", "failed", "decode"),
            ("/huge-header", "failed", "headers_too_large"), ("/huge-headers", "failed", "headers_too_large"),
            ("/endless", "failed", "too_large"), ("/bomb", "failed", "too_large"),
            ("/endless-interim", "failed", "headers_too_large"), ("/silent", "failed", "timeout"),
            ("/loop", "failed", "denied_redirect"), ("/nul", "succeeded", nil), ("/many-headers", "succeeded", nil),
            ("/folded", "succeeded", nil), ("/interim", "succeeded", nil),
        ]
        let paths = expected.map(\.path) + (1...100).map { _ in "/ok" }
        let rows = paths.map { "('\(hostile.url($0))', 1, interval '5 s')" }.joined(separator: ",")
        try queue.connection.execute("insert into postrider.jobs (url, max_attempts, timeout) values \(rows)")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try queue.waitUntilDone(30)
        for (path, state, code) in expected {
            let row = try queue.rows(
                "select state, error_code from postrider.job_status where url = '\(hostile.url(path))'")
            #expect(row == [[state, code]], "\(path)")
        }
        let mates = "from postrider.job_status where url like '%/ok' and state = 'succeeded' and body = 'ok'"
        #expect(try queue.number("select count(*) \(mates)") == 100)
        #expect(
            try queue.text(
                "select encode(body, 'hex') from postrider.job_status where url like '%/nul'")
                == "00fffe7b2261223a225c7530303030227d00")
        #expect(
            try queue.number(
                """
                select jsonb_array_length(response_headers -> 'x-dup') from postrider.job_status
                where url like '%/many-headers'
                """) == 300)
        #expect(worker.count(of: "result_unstorable") == 0)
        #expect(worker.isRunning)
    }

    @Test func `an answer cut inside its headers is retried and neither cached nor validated`() throws {
        let target = try TargetServer { request in
            if request.turn > 1 { return TargetStep.answer(200, #"{"a": 1}"#) }
            return [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n".utf8)), .close]
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for columns in ["cache_ttl", "response_format"] {
            let value = columns == "cache_ttl" ? "interval '1 h'" : "'json'"
            let id = try queue.insert("url, backoff, \(columns)", "'\(target.url)/\(columns)', '{20 ms}', \(value)")
            try queue.wait(for: id, toBe: "succeeded")
            let row = try queue.rows(
                "select attempt::text, convert_from(body, 'UTF8') from postrider.job_status where id = \(id)")
            #expect(row == [["2", #"{"a": 1}"#]])
        }
    }

    @Test func `a body that jsonb cannot hold is stored without a result`() throws {
        let bodies = [#"{"a":"\u0000"}"#, "{\"a\":\u{1}}", "{", "[1,2", "\"\\ud800\"", "1e400000", "nul"]
        let target = try TargetServer { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return TargetStep.answer(200, bodies[number])
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for number in bodies.indices { try queue.insert("url", "'\(target.url)/\(number)'") }
        try queue.waitUntilDone()
        let rows = try queue.rows(
            "select state, convert_from(body, 'UTF8'), result::text from postrider.job_status order by id")
        for (row, body) in zip(rows, bodies) {
            #expect(row[0] == "succeeded")
            #expect(row[1] == body)
            #expect(row[2] == nil)
        }
    }

    @Test func `an answer with invalid UTF-8 in status line and header succeeds, with Latin-1 header values`() throws {
        let target = try TargetServer { _ in
            let head = [UInt8]("HTTP/1.1 200 \u{FC}\r\nX-Odd: a".utf8) + [0xFF, 0xC3, 0x28]
            return [.send(head + [UInt8]("\r\nContent-Length: 2\r\n\r\nok".utf8))]
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url", "'\(target.url)/'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text("select response_headers #>> '{x-odd,0}' from postrider.job_status where id = \(id)")
                == "a\u{FF}\u{C3}(")
    }
}
