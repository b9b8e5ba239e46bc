// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Answer rules that speak about tokens.
struct RuleRefreshTests {
    private static let credential = """
        insert into postrider.credentials (name, kind, token_url, client_id) values ('c', 'oauth2_refresh_token',
            'API/token', 'app');
        select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
        """
    /// The API accepts a1 at /open always, and its body shows the token.
    private static let stale = #"[{"if": "$.body.authorization == \"Bearer a1\"", "do": "refresh", "name": "stale"}]"#
    private static let always = #"[{"status": 200, "do": "refresh"}]"#

    private func queue(_ api: TokenAPI, service rules: String = "null") throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(Self.credential.replacing("API", with: api.url))
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, credential, rules)
            values ('api', '\(api.url)', 'c', \(rules == "null" ? "null" : "$x$\(rules)$x$"))
            """)
        return queue
    }

    @Test func `a refresh rule of a service fetches a new token and sends the job again`() throws {
        let api = try TokenAPI(#"{"expires_in": 3600}"#)
        let queue = try queue(api, service: Self.stale)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, max_attempts", "'api', 'open/x', 1")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(api.log == ["GET /open/x a1 200", "POST /token r1 200", "GET /open/x a2 200"])
        #expect(
            try queue.rows("select attempt::text, error_code, error_name, rule from postrider.attempts order by fence")
                == [["1", "token_expired", "stale", "service[0] stale"], ["1", nil, nil, nil]])
    }

    @Test func `a refresh rule that always matches ends after three sends`() throws {
        let api = try TokenAPI(#"{"expires_in": 3600}"#)
        let queue = try queue(api, service: Self.always)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.connection.execute(
            "update postrider_internal.refreshes set forced_at = null")
        let id = try queue.insert("service, url", "'api', 'open/x'")
        try queue.wait(60, for: id, toBe: "failed")
        #expect(
            try queue.text("select error_code from postrider.job_status where id = \(id)") == "rejected_after_refresh")
        #expect(api.log("GET /open").count <= 3)
    }

    @Test func `a job's own refresh rule refreshes once per version and holds no other job`() throws {
        let api = try TokenAPI(#"{"expires_in": 3600}"#)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        for path in ["a", "b", "c", "d"] {
            try queue.insert("service, url, rules", "'api', 'open/\(path)', '\(Self.always)'")
        }
        try queue.wait(until: "select count(*) >= 4 from postrider_internal.attempt_notes")
        let plain = try queue.insert("service, url", "'api', 'api/plain'")
        try queue.wait(5, for: plain, toBe: "succeeded")
        try queue.wait(until: "select count(*) >= 8 from postrider_internal.attempt_notes")
        #expect(api.log("POST /token").count == 1, "\(api.log)")
        #expect(try queue.number("select count(*) from postrider_internal.refused_endpoints") == 0)
        #expect(
            try queue.number(
                "select count(*) from postrider.credential_status where held_since is not null or state <> 'active'")
                == 0)
    }

    @Test func `a refused token that a job's own rule takes for a success is not recorded as accepted`() throws {
        let api = try TokenAPI(#"{"refuse": true}"#)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert(
            "service, url, rules", "'api', 'api/x', '[{\"status\": 401, \"do\": \"succeed\"}]'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(api.log == ["GET /api/x a1 401"])
        #expect(try queue.text("select accepted_by::text from postrider_internal.refreshes") == "{}")
    }

    @Test func `a job's own fail rule ends its job without a refresh of the expired token`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, rules", "'api', 'api/x', '[{\"status\": 401, \"do\": \"fail\"}]'")
        try queue.wait(for: id, toBe: "failed")
        let other = try queue.insert("service, url", "'api', 'api/y'")
        try queue.wait(for: other, toBe: "succeeded")
        #expect(
            api.log == ["GET /api/x a1 401", "GET /api/y a1 401", "POST /token r1 200", "GET /api/y a2 200"])
    }

    @Test func `an at_most_once job is not sent again by a refresh rule, but the token is refreshed`() throws {
        let api = try TokenAPI(#"{"expires_in": 3600}"#)
        let queue = try queue(api, service: Self.stale)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("service, url, delivery", "'api', 'open/x', 'at_most_once'")
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "token_expired")
        try queue.wait(until: "select version = 2 from postrider.credential_status")
        #expect(api.log("GET /open").count == 1)
    }
}
