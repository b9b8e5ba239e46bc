// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Servers that ask for a later call with another status than 429.
struct ThrottleTests {
    private static func target(_ status: Int, _ headers: [String], refusals: Int = 1) throws -> TargetServer {
        try TargetServer { request in
            request.turn <= refusals && !request.path.hasPrefix("/mate")
                ? TargetStep.answer(status, headers: headers) : TargetStep.answer(200)
        }
    }

    @Test(arguments: [
        (403, ["Retry-After: 1"]), (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"]),
        (420, ["retry-after-ms: 1000"]), (509, ["Retry-After: 1s"]), (529, ["Retry-After: 1"]),
        (503, ["RateLimit: \"a\";r=0;t=1"]),
    ])
    func `a throttled call pauses its lane and uses no attempt`(status: Int, headers: [String]) throws {
        let target = try Self.target(status, headers)
        let queue = try TestQueue()
        let id = try queue.insert("url, max_attempts, lane", "'\(target.url)/first', 1, 'l'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider.lanes where paused_until > now())")
        let reason = try queue.text("select pause_reason from postrider.lanes") ?? ""
        #expect(reason == "the server answered \(status) and asked for a wait of 1.0 s")
        try queue.wait(for: id, toBe: "succeeded")
        let tries = try queue.rows(
            "select attempt::text, status_code::text from postrider.attempts where job_id = \(id) order by fence")
        #expect(tries == [["1", "\(status)"], ["1", "200"]])
    }

    @Test(arguments: [
        (409, ["Retry-After: 1"]), (413, ["retry-after-ms: 900"]),
        (423, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"]),
    ])
    func `a 409, 413 or 423 with a wait delays only its job and uses no attempt`(status: Int, headers: [String]) throws
    {
        let target = try Self.target(status, headers)
        let queue = try TestQueue()
        let id = try queue.insert("url, max_attempts, lane", "'\(target.url)/first', 1, 'l'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider_internal.scheduled)")
        let mate = try queue.insert("url, lane", "'\(target.url)/mate', 'l'")
        try queue.wait(for: mate, toBe: "succeeded")
        let sentence = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(sentence.contains("; attempt 1 ended with http_status: the server answered \(status)"), "\(sentence)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider.lanes where paused_until is not null") == 0)
        let tries = try queue.rows(
            "select attempt::text, status_code::text from postrider.attempts where job_id = \(id) order by fence")
        #expect(tries == [["1", "\(status)"], ["1", "200"]])
        let calls = target.requests("/first")
        #expect(calls.count == 2 && calls[1].arrivedAt >= calls[0].arrivedAt + 900_000_000)
    }

    @Test(arguments: [403, 404, 409, 413, 420, 423])
    func `a 403, 404, 409, 413, 420 or 423 without a wait fails the job at once`(status: Int) throws {
        let target = try Self.target(status, ["X-RateLimit-Remaining: 7", "X-RateLimit-Reset: 1"])
        let queue = try TestQueue()
        let id = try queue.insert("url", "'\(target.url)/'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "failed")
        #expect(target.requests.count == 1)
    }

    @Test func `an at_most_once job is sent again after 420, not after 403, 409, 423 or 503`() throws {
        let target = try TargetServer { request in
            request.turn == 1
                ? TargetStep.answer(Int(request.path.dropFirst()) ?? 0, headers: ["Retry-After: 1"])
                : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        for status in [403, 409, 420, 423, 503] {
            try queue.insert(
                "method, url, delivery, lane", "'POST', '\(target.url)/\(status)', 'at_most_once', '\(status)'")
        }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let ends = try queue.rows("select url, state, error_code from postrider.job_status order by id")
        #expect(ends.map { $0[1] } == ["failed", "failed", "succeeded", "failed", "failed"])
        #expect(target.requests.count == 6)
    }

    @Test(arguments: [(403, "http_status"), (423, "http_status"), (429, "http_429")])
    func `all waits of an attempt count towards max_wait`(status: Int, code: String) throws {
        let target = try TargetServer { request in
            // The attempts of a job may have different statuses.
            TargetStep.answer(request.turn == 1 ? 409 : status, headers: ["Retry-After: 1"])
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, max_wait) values ('s', '\(target.url)', '500 ms')")
        let id = try queue.insert("service, url", "'s', 'x'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "failed")
        let end = try queue.rows(
            "select error_code, (error like '%longer than max_wait%')::text from postrider.job_status where id = \(id)")
        #expect(end == [[code, "true"]])
        #expect(target.requests.count == 2)
    }

    @Test func `a requested wait of 0 becomes at least 1 s and doubles with each refusal`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        for count in 0...3 {
            let waits = "postrider_internal.throttle_wait(\(id), 1, 0) >= interval '1 s' * power(2, \(count))"
            #expect(try queue.text("select (\(waits))::text") == "true")
            try queue.connection.execute(
                """
                insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, status_code,
                                                              error_code)
                values (\(id), \(count + 1), now(), 1, 1, 423, 'http_status')
                """)
        }
        let given =
            "postrider_internal.throttle_wait(\(id), 1, 5000), postrider_internal.throttle_wait(\(id), 1, 99999999)"
        let waits = try queue.rows("select x::text, y::text from (select \(given)) v (x, y)")
        #expect(waits == [["00:00:05", "01:00:00"]])
    }
}
