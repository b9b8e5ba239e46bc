// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Servers that ask to slow down. Their lane waits, and no job loses an attempt.
struct HeldBackTests {
    private static func answers(_ first: [String], status: Int, refusals: Int)
        -> @Sendable (TargetRequest) -> [TargetStep]
    {
        { request in
            request.turn > refusals || request.path.hasPrefix("/other")
                ? TargetStep.answer(200) : TargetStep.answer(status, headers: first)
        }
    }

    @Test(arguments: [
        (429, ["Retry-After: 2"], "http_429"), (503, ["Retry-After: 2"], "http_status"),
        (429, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2"], "http_429"),
        (429, ["X-RateLimit-Reset: 2s"], "http_429"), (503, ["retry-after-ms: 2000"], "http_status"),
    ])
    func `a 429 or 503 with a wait pauses the lane and uses no counted attempt`(
        status: Int, headers: [String], code: String
    ) throws {
        let target = try TargetServer(answer: Self.answers(headers, status: status, refusals: 1))
        let queue = try TestQueue()
        let first = try queue.insert("url, max_attempts, lane", "'\(target.url)/first', 1, 'l'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider.lanes where paused_until > now())")
        let mate = try queue.insert("url, lane", "'\(target.url)/other/mate', 'l'")
        let free = try queue.insert("url", "'\(target.url)/other/free'")
        let reason = "the server answered \(status) and asked for a wait of 2.0 s"
        #expect(try queue.text("select pause_reason from postrider.lanes") == reason)
        try queue.wait(for: free, toBe: "succeeded")
        let sentence = try queue.text("select postrider.explain(\(mate))") ?? ""
        #expect(sentence.contains("(reason: \(reason))") || sentence.contains("succeeded"), "\(sentence)")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 3")
        #expect(
            try queue.rows(
                "select attempt::text, status_code::text, error_code from postrider.attempts where job_id = \(first) order by fence"
            )
                == [["1", "\(status)", code], ["1", "200", nil]])
        let calls = target.requests
        let again = try #require(target.requests("/first").last).arrivedAt
        let refused = try #require(target.requests("/first").first).arrivedAt
        // The pause counts from the finish, by the database's clock. This machine has two clocks.
        #expect(again >= refused + 1_950_000_000)
        #expect(try #require(calls.first { $0.path == "/other/mate" }).arrivedAt >= refused + 1_950_000_000)
        // The older job goes first, as without the pause.
        #expect(try #require(calls.last).path == "/other/mate" || again <= (calls.last?.arrivedAt ?? 0))
    }

    @Test func `16 jobs refused together by 429 succeed at their second call, also with at_most_once`() throws {
        let refusals = 1
        let target = try TargetServer(answer: Self.answers([], status: 429, refusals: refusals))
        let queue = try TestQueue()
        try queue.insert(
            16, "method, url, lane, delivery, max_attempts",
            "'POST', '\(target.url)/' || i, 'l', case when i % 2 = 0 then 'at_most_once' else 'at_least_once' end, 1")
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 16")
        #expect(target.requests.count == 32)
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.past_attempts where error_code = 'http_429' and attempt = 1")
                == 16
        )
        #expect(try queue.number("select count(*) from postrider_internal.throttled_lanes") == 0)
    }

    @Test func `jobs refused by 429 keep their order through repeated pauses`() throws {
        let target = try TargetServer { request in
            request.turn == 1 ? TargetStep.answer(429, headers: ["Retry-After: 1"]) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        try queue.insert(16, "url, lane", "'\(target.url)/' || i, 'l'")
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let served = target.requests.filter { $0.turn == 2 }.compactMap { Int($0.path.dropFirst()) }
        #expect(served.count == 16)
        // Only jobs in flight can overtake a job.
        for (place, job) in served.enumerated() { #expect(abs(place + 1 - job) <= 4, "\(served)") }
    }

    @Test func `a quota that is used up pauses the lane although the call succeeded`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, headers: request.path == "/last" ? ["RateLimit: \"default\";r=0;t=2"] : [])
        }
        let queue = try TestQueue()
        let last = try queue.insert("url", "'\(target.url)/last'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: last, toBe: "succeeded")
        let next = try queue.insert("url", "'\(target.url)/next'")
        try queue.wait(for: next, toBe: "succeeded")
        let ended = try #require(target.requests("/last").first).arrivedAt
        #expect(try #require(target.requests("/next").first).arrivedAt >= ended + 1_950_000_000)
        #expect(
            try queue.text("select pause_reason from postrider.lanes")
                == "the server asked, by Retry-After or RateLimit, for a wait of 2.0 s")
    }

    @Test func `a job refused for longer than max_wait fails, and postrider.retry restarts its max_wait`() throws {
        let target = try TargetServer { _ in TargetStep.answer(429, headers: ["Retry-After: 1"]) }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, max_wait) values ('s', '\(target.url)', '500 ms')")
        let id = try queue.insert("service, url", "'s', 'x'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "http_429")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(id)")?.contains("longer than max_wait")
                == true)
        #expect(target.requests.count == 2)
        _ = try queue.rows("select postrider.retry(\(id))::text")
        try TestClock.wait(20, for: "three calls") { target.requests.count == 3 }
        try queue.wait(until: "select count(*) = 3 from postrider_internal.past_attempts")
        #expect(try queue.state(id) != "failed")
    }

    @Test func `the time between cancel and retry does not count towards max_wait`() throws {
        let target = try TargetServer(answer: Self.answers(["Retry-After: 1"], status: 429, refusals: 2))
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, max_wait) values ('s', '\(target.url)', '2 s')")
        let id = try queue.insert("service, url", "'s', 'x'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider_internal.past_attempts where status_code = 429)")
        _ = try queue.rows("select postrider.cancel(\(id))::text")
        try queue.wait(for: id, toBe: "cancelled")
        // As if 2.5 s had passed.
        try queue.connection.execute(
            "update postrider_internal.past_attempts set started_at = started_at - interval '2.5 s'")
        _ = try queue.rows("select postrider.retry(\(id))::text")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.rows(
                "select attempt::text, status_code::text from postrider.attempts where job_id = \(id) order by fence")
                == [["1", "429"], ["2", "429"], ["2", "200"]])
    }

    @Test func `max_wait above 100 years is refused, and a service that already has it works`() throws {
        let target = try TargetServer { request in
            request.turn == 1 ? TargetStep.answer(429, headers: ["Retry-After: 1"]) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        let insert =
            "insert into postrider.services (name, base_url, max_wait) values ('s', '\(target.url)', '9999 years')"
        let error = #expect(throws: PGError.self) { try queue.connection.execute(insert) }
        #expect(error?.message == "services.max_wait: must be more than 0 and at most 100 years")
        try queue.connection.execute("alter table postrider.services disable trigger services_check; \(insert)")
        let id = try queue.insert("service, url", "'s', 'x'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider.attempts where status_code = 429") == 1)
    }

    @Test(arguments: [(429, "http_429"), (503, "http_status")])
    func `a job sent once that expires during a lane pause fails with the server's status`(
        status: Int, code: String
    ) throws {
        let target = try TargetServer { _ in TargetStep.answer(status, headers: ["Retry-After: 600"]) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, expires_at", "'\(target.url)/', now() + interval '1 h'")
        try queue.wait(
            until: "select exists (select from postrider_internal.ready where worker = 0 and attempt = 0) "
                + "and exists (select from postrider_internal.past_attempts)")
        try queue.connection.execute("update postrider_internal.ready set expires_at = now()")
        try queue.wait(for: id, toBe: "failed")
        let row = try queue.rows(
            "select error_code, status_code::text, (error like '%no time was left%')::text from postrider.job_status where id = \(id)"
        )
        #expect(row == [[code, "\(status)", "true"]])
        #expect(target.requests.count == 1)
    }

    @Test(arguments: [429, 403])
    func `an unreadable Retry-After is ignored and quoted in the error`(status: Int) throws {
        let long = "in a while, or " + String(repeating: "x", count: 40)
        let target = try TargetServer(
            answer: Self.answers(["Retry-After: \(long)"], status: status, refusals: status == 429 ? 1 : 9))
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url", "'\(target.url)/'")
        try queue.wait(for: id, toBe: status == 429 ? "succeeded" : "failed")
        let error = try queue.text(
            "select error from postrider.attempts where job_id = \(id) and status_code = \(status)")
        let quote = "it requested a wait that cannot be read: retry-after \"\(long.prefix(40))\""
        #expect(error?.hasSuffix(quote) == true, "\(error ?? "")")
    }

    @Test func `a job that expires during a call refused with 429 fails with http_429`() throws {
        let target = try TargetServer { _ in [.pause(milliseconds: 700)] + TargetStep.answer(429) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        let id = try queue.insert("url, expires_at", "'\(target.url)/', now() + interval '600 ms'")
        try queue.waitUntilDone()
        let code = try queue.text("select error_code from postrider.job_status where id = \(id)")
        // On a very slow machine the call never begins, and the job expires.
        #expect(code == (target.requests.isEmpty ? "expired" : "http_429"))
    }

    @Test func `the leader deletes a lane's refusal streak two hours after its last 429`() throws {
        let queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'leader', '0.1.0', null, 1, '{}', '{}')")
        let epoch = try queue.lead(worker)
        try queue.connection.execute(
            """
            insert into postrider_internal.throttled_lanes (lane, streak, at)
            values ('gone', 3, now() - interval '121 min'), ('called', 3, now() - interval '119 min')
            """)
        for after in [1, 0] {
            _ = try queue.text("select postrider_internal.fold(\(worker), \(epoch), \(after), 100)::text")
        }
        #expect(try queue.rows("select lane from postrider_internal.throttled_lanes") == [["called"]])
    }
}
