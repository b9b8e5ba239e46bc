// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Endpoints that refuse each token. One such endpoint fails only its own jobs. If several endpoints refuse a
/// token, all jobs of the credential are held.
struct RefusedEndpointTests {
    /// The delay keeps the calls of both endpoints in flight together. If the second call were not sent before the first
    /// is refused, it would wait for the next token.
    private static let refusing = #"{"refuse": true, "api_delay": 200}"#

    private func queue(_ api: TokenAPI) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token',
                '\(api.url)/token');
            insert into postrider.services (name, base_url, credential) values ('api', '\(api.url)/api/', 'c');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        return queue
    }

    /// Moves the times back, as if 30 s had passed since the last refresh for a refused job.
    private func passTime(_ queue: borrowing TestQueue) throws {
        try queue.wait(until: "select state = 'cooldown' from postrider.credentials")
        try queue.connection.execute(
            "update postrider_internal.refreshes set due_at = now(), forced_at = forced_at - interval '30 s'")
    }

    private func end(_ queue: borrowing TestQueue, _ id: Int64) throws -> String {
        try queue.wait(until: "select finished_at is not null from postrider.job_status where id = \(id)")
        return try queue.text("select concat_ws(' ', state, error_code) from postrider.job_status where id = \(id)")
            ?? ""
    }

    @Test(arguments: [
        ("null", "GET", "http://me:pw@h/users/7/posts?a=1#b", "GET http://h/users/*/posts"),
        ("'api'", "GET", "7", "GET api *"), ("'api'", "POST", "/x/7", "POST api /x/*"),
        ("'api'", "GET", "/a/6F9619FF-8b86-d011-b42d-00c04fc964ff/{{s.body.id}}", "GET api /a/*/{{s.body.id}}"),
        ("'api'", "GET", "/v2/7a/8", "GET api /v2/7a/*"),
    ])
    func `calls that differ only in ids and arguments belong to one endpoint`(
        service: String, method: String, url: String, endpoint: String
    ) throws {
        let queue = try TestQueue()
        #expect(
            try queue.text("select postrider_internal.call_endpoint(\(service), '\(method)', '\(url)')") == endpoint)
    }

    @Test func `an endpoint that refuses each token fails only its own jobs, later without a refresh`() throws {
        let api = try TokenAPI(#"{"refused_paths": ["/api/bad"]}"#)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let bad = try queue.insert("service, url, lane", "'api', 'bad/1', 'bad'")
        try queue.wait(until: "select state = 'cooldown' from postrider.credentials")
        #expect(api.log == ["GET /api/bad/1 a1 401", "POST /token r1 200", "GET /api/bad/1 a2 401"])
        // The next refresh has not been made yet, and all jobs wait for it.
        let good = try queue.insert("service, url", "'api', 'good'")
        _ = try queue.text("select postrider.pause_lane('bad')::text")
        try passTime(queue)
        #expect(try end(queue, good) == "succeeded")
        _ = try queue.text("select postrider.resume_lane('bad')::text")
        #expect(try end(queue, bad) == "failed rejected_after_refresh")
        let second = try queue.insert("service, url", "'api', 'bad/2'")
        #expect(try end(queue, second) == "failed rejected_after_refresh")
        let error = try queue.text("select error from postrider.job_status where id = \(second)") ?? ""
        #expect(error.hasPrefix("GET api bad/* refuses the fresh token of credential c"), "\(error)")
        #expect(api.log("/api/bad/2") == ["GET /api/bad/2 a3 401"])
        #expect(api.log("/token").count == 2)
        let last = try queue.insert("service, url", "'api', 'good'")
        #expect(try end(queue, last) == "succeeded")
        #expect(try queue.text("select held_since from postrider.credential_status") == nil)
    }

    @Test func `a token refused by an endpoint that accepted it before is refreshed`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        for path in ["x", "y"] {
            #expect(try end(queue, queue.insert("service, url", "'api', '\(path)'")) == "succeeded")
        }
        try api.set(#"{"expired": ["a1", "a2"]}"#)
        let id = try queue.insert("service, url", "'api', 'x'")
        try passTime(queue)
        #expect(try end(queue, id) == "succeeded")
        #expect(api.log("/token").count == 2)
    }

    @Test func `two endpoints that refuse a fresh token hold all jobs until one call succeeds`() throws {
        let api = try TokenAPI(Self.refusing)
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.connection.execute(
            "insert into postrider.jobs (service, url) select 'api', p from unnest(array['x', 'y']) p")
        try queue.wait(until: "select held_since is not null from postrider.credential_status")
        // No more requests are sent with this token.
        try queue.insert(20, "service, url", "'api', 'z/' || i")
        try queue.wait(until: "select jobs_waiting = 22 from postrider.credential_status")
        #expect(api.log(" /api/z").isEmpty)
        let reason = try queue.text("select hold_reason from postrider.credential_status") ?? ""
        #expect(reason.contains("GET api x") && reason.contains("GET api y"), "\(reason)")
        let sentence = try queue.text("select postrider.explain(max(id)) from postrider.jobs") ?? ""
        #expect(sentence.contains("the API refuses each token"), "\(sentence)")
        // A new token alone does not end the hold. The worker sends one job as a probe, to an endpoint that has not
        // refused.
        try passTime(queue)
        try TestClock.wait(30, for: "the probe") { api.log(" /api/z").count == 1 }
        try api.set("{}")
        try passTime(queue)
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 22")
        #expect(api.log(" a3 401").count == 1)
        #expect(try queue.text("select held_since from postrider.credential_status") == nil)
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
    }

    @Test func `a job held by refused tokens fails after max_wait`() throws {
        let api = try TokenAPI(Self.refusing)
        let queue = try queue(api)
        try queue.connection.execute("update postrider.services set max_wait = '1 s'")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.connection.execute(
            "insert into postrider.jobs (service, url) select 'api', p from unnest(array['x', 'y']) p")
        try queue.wait(until: "select held_since is not null from postrider.credential_status")
        // If a probe were due, the worker would send the job itself as the probe.
        try queue.connection.execute("update postrider_internal.refreshes set probe_at = now() + interval '1 min'")
        let id = try queue.insert("service, url", "'api', 'z'")
        try passTime(queue)
        #expect(try end(queue, id) == "failed rejected_after_refresh")
        let error = try queue.text("select error from postrider.job_status where id = \(id)") ?? ""
        #expect(error.contains("longer than max_wait (00:00:01)"), "\(error)")
        #expect(api.log(" /api/z").isEmpty)
    }
}
