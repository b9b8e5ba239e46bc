// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A token is fresh for a short while. Jobs that had to wait before they could be sent again may carry one that has ended since.
struct StaleTokenTests {
    private static func tokens(_ ended: ClosedRange<Int>) -> String {
        "{\"expired\": [\(ended.map { "\"a\($0)\"" }.joined(separator: ", "))]}"
    }

    private func queue(_ url: String) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token', '\(url)/token');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        return queue
    }

    /// Two jobs of a lane that is paused: they were refused with `a1`, and have waited since, while another job was well with `a2`.
    private func holdTwo(_ queue: borrowing TestQueue, _ api: TokenAPI) throws {
        try queue.insert(2, "lane, url, credential", "'held', '\(api.url)/api/held' || i, 'c'")
        try queue.wait(until: "select state = 'cooldown' and jobs_waiting = 2 from postrider.credential_status")
        _ = try queue.text("select postrider.pause_lane('held')::text")
        try api.set(Self.tokens(1...1))
        let other = try queue.insert("url, credential", "'\(api.url)/api/other', 'c'")
        try queue.wait(for: other, toBe: "succeeded")
        #expect(api.log("/api/other").last == "GET /api/other a2 200")
        // A minute passes.
        try queue.connection.execute(
            """
            update postrider.refreshes set refreshed_at = refreshed_at - interval '1 min', recent = '{}';
            update postrider.tries set started_at = started_at - interval '1 min'
            """)
    }

    @Test func `a token that has ended while jobs were held back is refreshed, and all jobs go on`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api.url)
        let worker = try api.worker(queue)
        try holdTwo(queue, api)
        try api.set(Self.tokens(1...2))
        _ = try queue.text("select postrider.resume_lane('held')::text")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 3")
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
        #expect(api.log("/token").filter { $0.hasSuffix("200") }.count == 2)
        #expect(try queue.text("select refused_by::text from postrider.refreshes") == "{}")
        _ = worker
    }

    @Test func `each job is sent three times at most, and no more tokens are fetched than that takes`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api.url)
        let worker = try api.worker(queue)
        try holdTwo(queue, api)
        try api.set(Self.tokens(1...99))
        _ = try queue.text("select postrider.resume_lane('held')::text")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select state, error_code from postrider.job_status where lane = 'held'")
                == [["failed", "rejected_after_refresh"], ["failed", "rejected_after_refresh"]])
        for job in 1...2 { #expect(api.log("/api/held\(job)").count <= 3) }
        #expect(api.log("/token").filter { $0.hasSuffix("200") }.count == 2)
        _ = worker
    }

    /// What becomes of a job whose call, which began so long after the refresh, has just been refused; the error code.
    private func judge(_ queue: borrowing TestQueue, sent: String, sends: Int, refreshes: String) throws -> String? {
        let job = try queue.insert("url, credential", "'http://127.0.0.1:1/', 'c'")
        try queue.connection.execute(
            """
            update postrider.refreshes set \(refreshes);
            update postrider.ready set worker = 1, fence = 5, attempt = 1, since = r.refreshed_at + interval '\(sent)'
              from postrider.refreshes r where job_id = \(job);
            insert into postrider.tries (job_id, fence, started_at, worker, attempt, error_code)
            select \(job), 2, r.refreshed_at - interval '1 s', 1, 1, 'token_expired' from postrider.refreshes r where \(sends) > 1
            """)
        return try queue.text(
            """
            select a.code
              from unnest(postrider.credential_judge(array[jsonb_populate_record(
                     postrider.unsent_attempt(0, 0, 0, 'f', 'http_status', 'refused'),
                     '{"job_id": \(job), "credential": "c", "version": 1, "status": 401}')])) a
            """)
    }

    @Test(arguments: [
        ("1 s", 2, "", "rejected_after_refresh"), ("10 s", 2, "", "token_expired"), ("1 s", 1, "", "token_expired"),
        // Others have found that an API refuses it: no refresh for each of them, but one for a token that has ended.
        ("10 s", 1, ", refused_by = '{1,2}'", "rejected_after_refresh"),
        ("10 s", 1, ", refused_by = '{1,2}'; update postrider.credentials set expires_at = now()", "token_expired"),
    ])
    func `fresh is a token that was refreshed shortly before the call`(
        sent: String, sends: Int, more: String, code: String
    ) throws {
        let queue = try queue("http://127.0.0.1:1")
        let parts = more.split(separator: ";").map(String.init)
        if parts.count > 1 { try queue.connection.execute(parts[1]) }
        // The call itself may have taken long.
        let refreshes = "refreshed_at = now() - interval '1 min', is_accepted = true" + (parts.first ?? "")
        #expect(try judge(queue, sent: sent, sends: sends, refreshes: refreshes) == code)
    }

    @Test(arguments: [
        ("refused_by = '{1,2}'", "token_expired"),
        ("recent = array_fill(now() + interval '1 h', array[5])", "token_expired"),
        ("recent = array_fill(now(), array[5])", "refresh_excessive"),
    ])
    func `what was noted before the database's clock was set back stops no refresh`(note: String, code: String) throws {
        let queue = try queue("http://127.0.0.1:1")
        let refreshes = "refreshed_at = now() + interval '1 h', is_accepted = true, \(note)"
        #expect(try judge(queue, sent: "-1 h", sends: 2, refreshes: refreshes) == code)
    }
}
