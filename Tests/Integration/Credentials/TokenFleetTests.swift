// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Many workers, one token, and a strict server: a refresh token works once, and a second use ends all tokens.
struct TokenFleetTests {
    private func queue(_ api: TokenAPI) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('c', 'oauth2_refresh_token', '\(api.url)/token', 'app');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        return queue
    }

    @Test func `a fleet refreshes an expired token once and sends no job more than twice`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "delay": 300}"#)
        let queue = try queue(api)
        let jobs = Soak.count(8_000, reduced: 400)
        try queue.insert(jobs, "url, credential", "'\(api.url)/api/x' || i, 'c'")
        let workers = try (1...Soak.count(8, reduced: 4)).map { _ in try api.worker(queue, concurrency: 16) }
        defer { workers.kill() }
        try queue.waitUntilDone(Soak.isOn ? 300 : 60)
        try queue.report(.tokens, attack: "the token of a fleet expires", calls: api.log("/api/").count)
        #expect(try queue.states() == "succeeded \(jobs)")
        #expect(api.log("/token") == ["POST /token r1 200"])
        var sends: [Substring: Int] = [:]
        for line in api.log("/api/") { sends[line.split(separator: " ")[1], default: 0] += 1 }
        #expect(sends.count == jobs)
        #expect(sends.values.max() ?? 0 <= 2)
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
    }

    /// The worker is killed before it receives the answer of the token endpoint.
    ///
    /// With "hang", the endpoint has already replaced the tokens, and the new pair is lost. The endpoint refuses the
    /// second use of the old token, so the credential is logged off.
    @Test(arguments: ["delay", "hang"])
    func `after a worker is killed during a refresh, another worker ends all jobs`(step: String) throws {
        for round in 1...Soak.count(15, reduced: 1) {
            let api = try TokenAPI(
                step == "delay" ? #"{"expired": ["a1"], "delay": 60000}"# : #"{"expired": ["a1"], "hang": true}"#)
            let queue = try queue(api)
            let first = try api.worker(queue)
            try queue.insert(10, "url, credential", "'\(api.url)/api/x' || i, 'c'")
            try queue.wait(until: "select count(*) = 1 from postrider_internal.refreshes where until > now()")
            if step == "hang" { try TestClock.wait(20, for: "the token call") { !api.log("/token").isEmpty } }
            first.end(SIGKILL)
            try api.set(#"{"expired": ["a1"]}"#)
            let second = try api.worker(queue)
            defer { second.kill() }
            // Ends the leases at once. Otherwise the test would wait 14 s and 10 s for them.
            try queue.connection.execute(
                """
                update postrider_internal.refreshes set until = now();
                update postrider_internal.workers set heartbeat_at = now() - interval '1 min'
                  where id = (select min(id) from postrider_internal.workers)
                """)
            defer {
                try? queue.report(.tokens, attack: "SIGKILL during a refresh", calls: api.log("/api/").count)
            }
            if step == "hang" {
                try queue.wait(until: "select state = 'logged_off' from postrider.credentials")
                #expect(api.log("/token") == ["POST /token r1 200", "POST /token r1 400"], "round \(round)")
                try queue.waitUntilDone()
                #expect(
                    try queue.number("select count(*) from postrider.job_status where error_code = 'not_logged_in'") > 0
                )
            } else {
                try queue.waitUntilDone()
                #expect(try queue.states() == "succeeded 10", "round \(round)")
                #expect(api.log("/token r1 200").count == 1)
            }
        }
    }
}
