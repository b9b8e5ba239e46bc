// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Expired tokens: one refresh for all jobs, at most three sends, and the limits that stop refreshes.
struct TokenRefreshTests {
    private static let refreshing = """
        insert into postrider.credentials (name, kind, token_url, client_id) values ('c', 'oauth2_refresh_token',
            'API/token', 'app');
        select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
        """
    private static let story = """
        insert into postrider.credentials (name, kind, place, refresh) values ('c', 'custom', '{"json": "accessToken"}',
          '{"url": "API/custom", "body_json": {"refreshToken": "{{refresh_token}}"}, "access_token": "$.data.result.accessToken",
            "refresh_token": "$.data.result.refreshToken", "expires_in": "$.data.result.life"}');
        insert into postrider.services (name, base_url, credential, envelope) values ('shop', 'API/envelope/', 'c',
          '{"code": "$.code", "success": [200], "token_expired": [801], "logged_out": [802], "message": "$.msg", "result": "$.data.result"}');
        select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
        """

    private func queue(_ api: TokenAPI, _ sql: String) throws -> TestQueue {
        let queue = try TestQueue()
        var text = ""
        for part in sql.split(separator: "API", omittingEmptySubsequences: false) {
            text += (text.isEmpty ? "" : api.url) + part
        }
        try queue.connection.execute(text)
        return queue
    }

    private func end(_ queue: borrowing TestQueue, _ id: Int64) throws -> [String?] {
        try queue.wait(until: "select count(*) > 0 from postrider_internal.results where job_id = \(id)")
        return try queue.rows(
            "select state, error_code, attempt::text from postrider.job_status where id = \(id)")[0]
    }

    @Test func `an envelope's token_expired code leads to a refresh and a second call`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "expires_in": 3600}"#)
        let queue = try queue(api, Self.story)
        let worker = try api.worker(queue)
        let id = try queue.insert("service, url, method, body_json", "'shop', 'cart', 'POST', '{\"n\": 1}'")
        #expect(try end(queue, id) == ["succeeded", nil, "1"])
        #expect(api.log == ["POST /envelope/cart a1 801", "POST /custom r1 200", "POST /envelope/cart a2 200"])
        let attempts = try queue.rows(
            "select attempt::text, credential_version::text, error_code from postrider.attempts order by fence")
        #expect(attempts == [["1", "1", "token_expired"], ["1", "2", nil]])
        let status = try queue.rows(
            "select state, version::text, is_sealed::text, refreshes::text, jobs_waiting::text, (expires_at > now() + interval '50 min')::text from postrider.credential_status"
        )
        #expect(status == [["active", "2", "true", "1", "0", "true"]])
        try worker.wait(for: "token_refreshed")
        #expect(!worker.output.contains("\"r1\"") && !worker.output.contains("\"a2\""))
    }

    @Test func `a paginated job continues with a new token when its token expires between pages`() throws {
        let api = try TokenAPI("{}")
        let queue = try queue(
            api,
            Self.refreshing.replacing(#""access_token": "a1", "#, with: ""))
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert(
            "credential, url, paginate", "'c', '\(api.url)/pages', '{\"style\": \"page\", \"param\": \"page\"}'")
        #expect(try end(queue, id) == ["succeeded", nil, "1"])
        #expect(
            api.log == [
                "POST /token r1 200", "GET /pages a2 1", "GET /pages a2 2", "GET /pages a2 401", "POST /token r2 200",
                "GET /pages a3 3", "GET /pages a3 4",
            ])
        #expect(
            try queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2, 3, 4, 5, 6]")
    }

    @Test func `a transaction that locks a credential row delays only the jobs of that credential`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let other = try PGConnection(queue.database)
        try other.execute("begin; update postrider.credentials set allowed_origins = null")
        let refused = try queue.insert("credential, url", "'c', '\(api.url)/api/a'")
        try TestClock.wait(20, for: "the refusal") { api.log.contains("GET /api/a a1 401") }
        for round in 1...3 {
            let plain = try queue.insert("url", "'\(api.url)/open/\(round)'")
            try queue.wait(for: plain, toBe: "succeeded")
        }
        #expect(try queue.text("select state from postrider.job_status where id = \(refused)") != "succeeded")
        try other.execute("commit")
        #expect(try end(queue, refused) == ["succeeded", nil, "1"])
        #expect(api.log.count { $0.hasPrefix("POST /token") } == 1)
    }

    @Test func `a GET job fails without a call if the token belongs in the JSON body`() throws {
        let api = try TokenAPI()
        let queue = try queue(api, Self.story)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.insert(10, "service, url", "'shop', 'x' || i")
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 10")
        #expect(api.log.isEmpty)
    }

    @Test func `an envelope's logged_out code logs off, and later jobs fail without a call`() throws {
        let api = try TokenAPI(#"{"logged_out": true}"#)
        let queue = try queue(api, Self.story)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let first = try queue.insert("service, url, method", "'shop', 'x', 'POST'")
        #expect(try end(queue, first) == ["failed", "not_logged_in", "1"])
        #expect(try queue.text("select state from postrider.credential_status") == "logged_off")
        #expect(try queue.number("select count(*) from postrider_internal.secrets") == 0)
        let second = try queue.insert("service, url, method", "'shop', 'y', 'POST'")
        #expect(try end(queue, second) == ["failed", "not_logged_in", "1"])
        #expect(api.log == ["POST /envelope/x a1 802"])
    }

    @Test func `an envelope's logged_out code also counts in an answer with status 401`() throws {
        let api = try TokenAPI(#"{"logged_out": true, "envelope_status": 401}"#)
        let queue = try queue(api, Self.story)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, method, body_json", "'shop', 'cart', 'POST', '{}'")
        #expect(try end(queue, id) == ["failed", "not_logged_in", "1"])
        #expect(api.log == ["POST /envelope/cart a1 802"])
    }

    @Test func `if the envelope cannot be applied to a 401, the status 401 decides`() throws {
        let api = try TokenAPI(#"{"logged_out": true, "envelope_status": 401}"#)
        let queue = try queue(api, Self.story)
        let path = #"$.code ? (\"2020-01-01\".datetime() < \"2020-01-01T00:00:00+00:00\".datetime())"#
        try queue.connection.execute(#"update postrider.services set envelope = envelope || '{"code": "\#(path)"}'"#)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, method", "'shop', 'x', 'POST'")
        #expect(try end(queue, id) == ["failed", "rejected_after_refresh", "1"])
    }

    @Test func `expires_in may have 20,000 decimals`() throws {
        let api = try TokenAPI(
            "{\"expired\": [\"a1\"], \"expires_in\": \"3600.\(String(repeating: "0", count: 20_000))\"}")
        let queue = try queue(api, Self.story)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, method", "'shop', 'x', 'POST'")
        #expect(try end(queue, id) == ["succeeded", nil, "1"])
        let life = "expires_at between now() + interval '59 min' and now() + interval '1 h'"
        #expect(try queue.text("select (\(life))::text from postrider.credentials") == "true")
    }

    @Test func `a finally refused refresh logs off and fails all waiting jobs`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "delay": 300}"#)
        let queue = try queue(api, Self.refreshing)
        try queue.connection.execute(
            "select postrider.log_in('c', '{\"access_token\": \"a1\", \"refresh_token\": \"r9\"}')")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.insert(20, "url, credential", "'\(api.url)/api/x' || i, 'c'")
        try queue.waitUntilDone()
        #expect(
            try queue.number("select count(*) from postrider.job_status where error_code = 'not_logged_in'") == 20)
        #expect(api.log("/token") == ["POST /token r9 400"])
        #expect(
            try queue.text("select last_error from postrider.credential_status")
                == "the token endpoint answered 400 invalid_grant")
        try queue.connection.execute(
            "select postrider.log_in('c', '{\"access_token\": \"a1\", \"refresh_token\": \"r1\"}')")
        let id = try queue.insert("url, credential", "'\(api.url)/api/y', 'c'")
        #expect(try end(queue, id)[0] == "succeeded")
    }

    @Test func `a failing token endpoint is called again, and jobs that wait for it hold no slots`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue, concurrency: 2)
        defer { worker.kill() }
        try queue.insert(10, "url, credential", "'\(api.url)/api/x' || i, 'c'")
        try queue.wait(until: "select state = 'cooldown' and jobs_waiting = 10 from postrider.credential_status")
        let id = try queue.number("select max(id) from postrider.jobs")
        let sentence = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(sentence.contains("waits for credential c to be refreshed"), "\(sentence)")
        // The slots are free for other jobs.
        let other = try queue.insert("url", "'\(api.url)/open/free'")
        #expect(try end(queue, other)[0] == "succeeded")
        // A job that cannot wait expires at its own time.
        let late = try queue.insert("url, credential, expires_at", "'\(api.url)/api/late', 'c', now() + interval '1 s'")
        #expect(try end(queue, late) == ["expired", "expired", "0"])
        try api.set("{}")
        try queue.waitUntilDone()
        #expect(try queue.states() == "expired 1, succeeded 11")
        #expect(
            try queue.number("select max(attempt) from postrider.job_status where state = 'succeeded'") == 1)
        #expect(try queue.number("select jobs_waiting from postrider.credential_status") == 0)
        #expect(api.log("/token").filter { $0.hasSuffix("200") }.count == 1)
    }

    @Test func `jobs that wait for a deleted credential fail at once with config`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.insert(3, "url, credential", "'\(api.url)/api/x' || i, 'c'")
        try queue.wait(until: "select jobs_waiting = 3 from postrider.credential_status")
        try queue.connection.execute("delete from postrider.credentials where name = 'c'")
        #expect(try queue.number("select count(*) from postrider_internal.scheduled") == 0)
        try queue.waitUntilDone()
        let ends = "select distinct state, error_code from postrider.job_status"
        let rows = try queue.rows(ends)
        #expect(rows == [["failed", "config"]])
    }

    @Test func `a refresh that keeps failing uses up the attempts of waiting jobs`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 500}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential, max_attempts", "'\(api.url)/api/x', 'c', 1")
        let again = try queue.insert("url, credential, max_attempts", "'\(api.url)/api/y', 'c', 2")
        // Skips the backoff: the next try follows each failure at once.
        try TestClock.wait(40, for: "the end of the first job") {
            try queue.connection.execute("update postrider_internal.refreshes set due_at = now() where due_at > now()")
            return try queue.state(id) == "failed"
        }
        #expect(try end(queue, id) == ["failed", "refresh_failed", "1"])
        #expect(
            try queue.text("select error from postrider.job_status where id = \(id)")?.contains("answered 500") == true)
        try queue.wait(
            until:
                "select count(*) > 0 from postrider.attempts where job_id = \(again) and error_code = 'refresh_failed'")
        #expect(try queue.state(again) != "failed")
    }

    @Test func `a client_credentials token is fetched for the first job and again before it expires`() throws {
        let api = try TokenAPI(#"{"expires_in": 3600}"#)
        let queue = try queue(
            api,
            """
            insert into postrider.credentials (name, kind, token_url, client_id, scope)
            values ('c', 'oauth2_client_credentials', 'API/token', 'app', '+read');
            select postrider.log_in('c', '{"client_secret": "s&cret"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.insert(20, "url, credential", "'\(api.url)/api/x' || i, 'c'")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 20")
        #expect(api.log("/token") == ["POST /token c2+read 200"])
        // The token is valid but expires soon. Calls use it until the new one arrives.
        try queue.connection.execute(
            "update postrider.credentials set expires_at = now() + interval '30 s'; update postrider_internal.refreshes set refreshed_at = now() - interval '1 h'"
        )
        let id = try queue.insert("url, credential", "'\(api.url)/api/y', 'c'")
        #expect(try end(queue, id)[0] == "succeeded")
        try queue.wait(until: "select version = 3 and state = 'active' from postrider.credential_status")
        // The token has expired, so no call uses it.
        try queue.connection.execute("update postrider.credentials set expires_at = now() - interval '1 s'")
        let late = try queue.insert("url, credential", "'\(api.url)/api/z', 'c'")
        #expect(try end(queue, late)[0] == "succeeded")
        #expect(api.log("401").isEmpty)
        #expect(api.log("/token").count == 3)
    }

    @Test func `the old refresh token stays if a refresh returns no new one`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "keep": true}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        #expect(try end(queue, queue.insert("url, credential", "'\(api.url)/api/x', 'c'"))[0] == "succeeded")
        #expect(try queue.text("select expires_at::text from postrider.credentials") == nil)
        try api.set(#"{"expired": ["a1", "a2"], "keep": true}"#)
        #expect(try end(queue, queue.insert("url, credential", "'\(api.url)/api/y', 'c'"))[0] == "succeeded")
        #expect(api.log("/token") == ["POST /token r1 200", "POST /token r1 200"])
    }

    @Test func `a token that is always refused is refreshed at most every 30 s`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "keep": true}"#)
        let queue = try queue(api, Self.refreshing)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        // Each token works once and then expires.
        #expect(try end(queue, queue.insert("url, credential", "'\(api.url)/api/x', 'c'"))[0] == "succeeded")
        try api.set(#"{"expired": ["a1", "a2"], "keep": true}"#)
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(until: "select state = 'cooldown' from postrider.credential_status")
        let error = try queue.text("select last_error from postrider.credential_status") ?? ""
        #expect(error.contains("waits until 30 s have passed"), "\(error)")
        let wait = try queue.number(
            "select extract(epoch from next_try_at - last_refresh_at)::int from postrider.credential_status")
        #expect((29...31).contains(wait))
        #expect(api.log("/token").count == 1)
        try queue.connection.execute("update postrider_internal.refreshes set due_at = now()")
        #expect(try end(queue, id)[0] == "succeeded")
        #expect(api.log("/token").count == 2)
    }

    @Test(arguments: [false, true])
    func `token_url needs allow_private_network for a private address`(isAllowed: Bool) throws {
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try queue(api, Self.refreshing)
        if isAllowed { try queue.connection.execute("update postrider.credentials set allow_private_network = true") }
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, allow_private_network) values ('s', '\(api.url)/api/', true)"
        )
        let key = api.folder.path("key")
        let worker = try WorkerProcess.start(
            ["run", "--database", queue.database, "--secret-key-file", key, "--log-format", "json"])
        defer { _ = WorkerProcess.end(worker, signal: SIGKILL) }
        let id = try queue.insert("url, service, credential", "'x', 's', 'c'")
        if isAllowed {
            #expect(try end(queue, id)[0] == "succeeded")
        } else {
            try queue.wait(
                until: "select state = 'cooldown' and last_error ~ 'private' from postrider.credential_status")
            #expect(api.log("/token").isEmpty)
        }
    }
}
