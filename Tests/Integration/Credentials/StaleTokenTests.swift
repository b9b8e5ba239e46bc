// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A token is fresh for a short time. Jobs that wait before they are sent again may carry a token that has expired
/// since.
struct StaleTokenTests {
    private static func tokens(_ ended: ClosedRange<Int>) -> String {
        "{\"expired\": [\(ended.map { "\"a\($0)\"" }.joined(separator: ", "))]}"
    }

    private func queue(_ url: String) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token',
                '\(url)/token');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        return queue
    }

    /// Two jobs in a paused lane. They were refused with `a1` and have waited since. Another job has succeeded with
    /// `a2`.
    private func holdTwo(_ queue: borrowing TestQueue, _ api: TokenAPI) throws {
        try queue.insert(2, "lane, url, credential", "'held', '\(api.url)/api/held' || i, 'c'")
        try queue.wait(until: "select state = 'cooldown' and jobs_waiting = 2 from postrider.credential_status")
        _ = try queue.text("select postrider.pause_lane('held')::text")
        try api.set(Self.tokens(1...1))
        let other = try queue.insert("url, credential", "'\(api.url)/api/other', 'c'")
        try queue.wait(for: other, toBe: "succeeded")
        #expect(api.log("/api/other").last == "GET /api/other a2 200")
        // Moves the times back by a minute.
        try queue.connection.execute(
            """
            update postrider_internal.refreshes set refreshed_at = refreshed_at - interval '1 min', forced_at = null;
            update postrider_internal.past_attempts set started_at = started_at - interval '1 min'
            """)
    }

    @Test func `a token that expires while jobs wait is refreshed, and all jobs succeed`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api.url)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try holdTwo(queue, api)
        try api.set(Self.tokens(1...2))
        _ = try queue.text("select postrider.resume_lane('held')::text")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 3")
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
        #expect(api.log("/token").filter { $0.hasSuffix("200") }.count == 2)
        #expect(try queue.text("select held_since from postrider.credential_status") == nil)
    }

    @Test func `jobs with refused tokens are sent at most three times, with only two refreshes`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api.url)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try holdTwo(queue, api)
        try api.set(Self.tokens(1...99))
        _ = try queue.text("select postrider.resume_lane('held')::text")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select state, error_code from postrider.job_status where lane = 'held'")
                == [["failed", "rejected_after_refresh"], ["failed", "rejected_after_refresh"]])
        for job in 1...2 { #expect(api.log("/api/held\(job)").count <= 3) }
        #expect(api.log("/token").filter { $0.hasSuffix("200") }.count == 2)
    }

    /// The error code of a job that was sent to `GET /x` this many times and refused each time.
    private func judge(_ queue: borrowing TestQueue, sends: Int, refreshes: String, others: String) throws -> String? {
        let job = try queue.insert("url, credential", "'http://127.0.0.1:1/x', 'c'")
        try queue.connection.execute(
            """
            update postrider_internal.refreshes set \(refreshes);
            insert into postrider_internal.refused_endpoints (credential, endpoint, version, refused_at)
            select 'c', 'GET http://127.0.0.1:1/' || o.path, 0, now() + o.at::interval
              from (values \(others)) o (path, at);
            update postrider_internal.ready set worker = 1, fence = 5, attempt = 1, since = now() where job_id = \(job);
            insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, error_code)
            select \(job), n, now() - interval '1 min', 1, 1, 'token_expired' from generate_series(2, \(sends)) n
            """)
        return try queue.text(
            """
            select a.code
              from unnest(postrider_internal.judge_credentials(array[jsonb_populate_record(
                     postrider_internal.unsent_attempt(0, 0, 0, 'f', 'http_status', 'refused'),
                     '{"job_id": \(job), "credential": "c", "version": 1, "status": 401}')])) a
            """)
    }

    @Test(arguments: [
        (1, "1 min", "{y}", "('x', '-2 min')", "rejected_after_refresh"),
        (2, "1 min", "{y}", "('z', '-2 min')", "token_expired"),
        // Four cases: the job was refused only after the refresh; it has taken the token; no other job has; the refresh
        // was long ago.
        (2, "1 min", "{y}", "('x', '-1 s')", "token_expired"),
        (2, "1 min", "{y,x}", "('x', '-2 min')", "token_expired"),
        (2, "1 min", "{}", "('x', '-2 min')", "token_expired"),
        (2, "11 min", "{y}", "('x', '-12 min')", "token_expired"),
        (3, "11 min", "{y}", "('z', '-1 s')", "rejected_after_refresh"),
    ])
    func `a job fails if only its endpoint refuses a fresh token, or at the third send`(
        sends: Int, age: String, accepted: String, others: String, code: String
    ) throws {
        let queue = try queue("http://127.0.0.1:1")
        let paths = accepted.dropFirst().dropLast().split(separator: ",").map { "\"GET http://127.0.0.1:1/\($0)\"" }
        let refreshes =
            "refreshed_at = now() - interval '\(age)', accepted_by = '{\(paths.joined(separator: ","))}'"
        #expect(try judge(queue, sends: sends, refreshes: refreshes, others: others) == code)
        // The token's expiry alone justifies a refresh.
        let ended = try self.queue("http://127.0.0.1:1")
        try ended.connection.execute("update postrider.credentials set expires_at = now()")
        #expect(try judge(ended, sends: 2, refreshes: refreshes, others: others) == "token_expired")
    }

    @Test(arguments: [
        ("forced_at = now() - interval '29 s'", "cooldown"), ("forced_at = now() - interval '31 s'", "refreshing"),
        ("forced_at = now() + interval '1 h', refreshed_at = now() + interval '1 h'", "refreshing"),
    ])
    func `refreshes for refused jobs are 30 s apart, but a future timestamp causes no wait`(
        note: String, state: String
    ) throws {
        let queue = try queue("http://127.0.0.1:1")
        #expect(try judge(queue, sends: 1, refreshes: note, others: "('x', '1 h')") == "token_expired")
        #expect(try queue.text("select state from postrider.credentials") == state)
        let isLater = try queue.text(
            """
            select coalesce(s.next_try_at = r.forced_at and r.forced_at between now() and now() + interval '1 s',
                            false)::text
            from postrider.credential_status s, postrider_internal.refreshes r
            """)
        #expect(isLater == "\(state == "cooldown")")
    }
}
