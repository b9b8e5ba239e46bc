// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Log lines about jobs that have finally failed.
struct FailedJobLogTests {
    /// The lines of an event, without their times.
    private static func lines(_ worker: RunningWorker, _ event: String) -> [String] {
        worker.output.split(separator: "\n").compactMap { rest("\"event\":\"\(event)\",", of: String($0)) }
    }

    /// The text behind a word in a line; nil if the line does not hold the word.
    private static func rest(_ word: String, of line: String) -> String? {
        guard let place = line.firstRange(of: word) else { return nil }
        return String(line.suffix(from: place.upperBound)).replacing("}", with: "")
    }

    @Test
    func `each finally failed job logs one line without data of the request or answer`() throws {
        let target = try TargetServer { request in
            switch request.path.split(separator: "/").first {
            case "busy": TargetStep.answer(503)
            case "reset": [.reset]
            default: TargetStep.answer(404)
            }
        }
        let queue = try TestQueue()
        let lane = "127.0.0.1:\(target.port)"
        let worker = try RunningWorker(queue.database)
        let body = "method, body_json"
        let final = try queue.insert("url, \(body)", "'\(target.url)/hidden', 'POST', '\"hidden\"'")
        try worker.wait(for: "job_failed")
        let tried = try queue.insert("url, max_attempts, backoff, queue", "'\(target.url)/busy/1', 2, '{0.1 s}', 'q'")
        try worker.wait(for: "job_failed", times: 2)
        let unknown = try queue.insert("url, delivery, lane", "'\(target.url)/reset/1', 'at_most_once', 'mine'")
        try worker.wait(for: "job_failed", times: 3)
        let followed = try queue.insert(
            "url, callback_url, tag", "'\(target.url)/hidden', '\(target.url)/hidden', 'hidden'")
        // The webhook has no secret for its signature.
        try worker.wait(for: "job_failed", times: 5)
        let expected = [
            #""state":"failed","job":\#(final),"queue":"default","lane":"\#(lane)","attempt":1,"error_code":"http_status","status":404"#,
            #""state":"failed","job":\#(tried),"queue":"q","lane":"\#(lane)","attempt":2,"error_code":"http_status","status":503"#,
            #""state":"unknown","job":\#(unknown),"queue":"default","lane":"mine","attempt":1,"error_code":"reset""#,
            #""state":"failed","job":\#(followed),"queue":"default","lane":"\#(lane)","attempt":1,"error_code":"http_status","status":404"#,
        ]
        let lines = Self.lines(worker, "job_failed")
        #expect(Array(lines.prefix(4)) == expected, "\(lines)")
        #expect(lines.count == 5 && lines[4].contains("\"error_code\":\"config\""), "\(lines)")
        #expect(!worker.output.contains("hidden") && !worker.output.contains("http://"))
        #expect(worker.end(15) == 0)
        #expect(worker.count(of: "job_failed") == 5 && worker.count(of: "more_failed") == 0)
    }

    @Test func `each failure of a quickly retried job logs a line with its attempt number`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(request.path == "/late" && request.turn > 2 ? 200 : 400 + request.turn)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        var expected: Set<String> = []
        // The job `early` fails at its third attempt; the job `late` succeeds.
        for path in ["early", "late"] {
            let id = try queue.insert("url", "'\(target.url)/\(path)'")
            for attempt in 1...2 {
                try queue.wait(until: "select finished_at is not null from postrider.job_status where id = \(id)")
                try queue.connection.execute("select postrider.retry(\(id))")
                expected.insert(
                    #""job":\#(id),"attempt":\#(attempt),"error_code":"http_status","status":\#(400 + attempt)"#)
            }
            // Failures of one moment share a line.
            try queue.waitUntilDone()
            if path == "early" { expected.insert(#""job":\#(id),"attempt":3,"error_code":"http_status","status":403"#) }
        }
        try worker.wait(for: "job_failed", times: 5)
        let lines = Self.lines(worker, "job_failed").map { line in
            line.split(separator: ",").filter {
                $0.contains("job\"") || $0.contains("attempt\"") || $0.contains("status\"")
            }
            .joined(separator: ",").replacing("}", with: "")
        }
        #expect(Set(lines) == expected && lines.count == 5, "\(lines)")
        #expect(worker.end(15) == 0)
    }

    @Test func `2,000 failures at once log ten lines and one line with the remaining count`() throws {
        let target = try TargetServer { _ in TargetStep.answer(404) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try queue.insert(2_000, "url", "'\(target.url)/' || i")
        try queue.waitUntilDone()
        try queue.wait(until: "select count(*) = 0 from postrider_internal.job_deltas")
        #expect(worker.end(15) == 0)
        let named = Self.lines(worker, "job_failed")
        let counted = Self.lines(worker, "more_failed")
        #expect(named.count == 10 && counted.count == 1, "\(named.count), \(counted)")
        func jobs(_ line: String) -> Int? {
            Self.rest("\"jobs\":", of: line).flatMap { Int($0.prefix { $0.isNumber }) }
        }
        let told = named.reduce(0) { $0 + (jobs($1) ?? 1) } + counted.reduce(0) { $0 + (jobs($1) ?? 0) }
        #expect(told == 2_000, "\(named), \(counted)")
    }

    @Test func `succeeded, retried and cancelled jobs log no job_failed line`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        for path in ["ok", "status/503,200/1"] {
            try queue.insert("url, backoff", "'\(target.url)/\(path)', '{0.1 s}'")
        }
        let cancelled = try queue.insert("url", "'\(target.url)/held/1'")
        try TestClock.wait(20, for: "the call") { target.underWay == 1 }
        try queue.connection.execute("select postrider.cancel(\(cancelled))")
        try queue.waitUntilDone()
        try queue.wait(until: "select count(*) = 0 from postrider_internal.job_deltas")
        #expect(worker.end(15) == 0)
        #expect(worker.count(of: "job_failed") == 0)
    }
}
