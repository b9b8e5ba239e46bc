// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Calls that are under way while somebody else logs in.
struct LoginMeanwhileTests {
    /// Holds its answers, which say what came and set a cookie where the path asks for one.
    private let target: TargetServer

    init() throws {
        target = try TargetServer { request in
            let token = request.header("authorization") ?? "-"
            let sets = request.path == "/cookie" ? ["Set-Cookie: who=\(token.split(separator: " ").last ?? "-")"] : []
            return [.held] + TargetStep.answer(200, "\"\(token), \(request.header("cookie") ?? "-")\"", headers: sets)
        }
    }

    /// The answers to a job whose answer is cached, and to one that sets a cookie; neither is waited for.
    private func begin(_ queue: borrowing TestQueue) throws -> [Int64] {
        let before = target.requests.count
        let jobs = [
            try queue.insert("service, url, cache_ttl", "'api', 'data', '1 h'"),
            try queue.insert("service, url", "'api', 'cookie'"),
        ]
        try TestClock.wait(10, for: "the calls") { target.requests.count == before + 2 }
        return jobs
    }

    /// What the next of these jobs gets: the cached one, and the one with cookies.
    private func next(_ queue: borrowing TestQueue) throws -> [String?] {
        let jobs = [
            try queue.insert("service, url, cache_ttl", "'api', 'data', '1 h'"),
            try queue.insert("service, url", "'api', 'other'"),
        ]
        return try jobs.map { job in
            try queue.wait(for: job, toBe: "succeeded")
            return try queue.text("select result #>> '{}' from postrider.job_status where id = \(job)")
        }
    }

    @Test(arguments: [
        "select postrider.log_in('user', '{\"access_token\": \"bob\"}')",
        "select postrider.log_out('user'); select postrider.log_in('user', '{\"access_token\": \"bob\"}')",
        """
        begin; delete from postrider.credentials; insert into postrider.credentials (name, kind) values ('user', 'bearer');
        select postrider.log_in('user', '{"access_token": "bob"}'); commit
        """,
    ])
    func `neither the answer nor the cookies of the user before are the next one's`(login: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('user', 'bearer');
            insert into postrider.services (name, base_url, credential, cookies) values ('api', '\(target.url)', 'user', true);
            select postrider.log_in('user', '{"access_token": "ada"}');
            """)
        let worker = try RunningWorker(queue.database)
        let jobs = try begin(queue)
        try queue.connection.execute(login)
        target.release()
        for job in jobs { try queue.wait(for: job, toBe: "succeeded") }
        #expect(try next(queue) == ["Bearer bob, -", "Bearer bob, -"])
        #expect(target.requests("/data").count == 2)
        _ = worker
    }

    @Test func `a refresh meanwhile is the same user's: answer and cookies are kept`() throws {
        let api = try TokenAPI()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, allow_private_network)
            values ('user', 'oauth2_refresh_token', '\(api.url)/token', true);
            insert into postrider.services (name, base_url, credential, cookies) values ('api', '\(target.url)', 'user', true);
            select postrider.log_in('user', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        let worker = try api.worker(queue)
        let jobs = try begin(queue)
        try queue.connection.execute("update postrider.credentials set expires_at = now()")
        let late = try queue.insert("service, url", "'api', 'late'")
        try queue.wait(until: "select version = 2 and state = 'active' from postrider.credentials")
        target.release()
        for job in jobs + [late] { try queue.wait(for: job, toBe: "succeeded") }
        #expect(try next(queue) == ["Bearer a1, -", "Bearer a2, who=a1"])
        _ = worker
    }

    @Test func `a job that was cancelled between two sends and tried again may be sent three times anew`() throws {
        let target = try TargetServer { request in
            [.pause(milliseconds: 300)]
                + TargetStep.answer(request.header("authorization") == "Bearer good" ? 200 : 401)
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('user', 'bearer');
            insert into postrider.services (name, base_url, credential) values ('api', '\(target.url)', 'user');
            select postrider.log_in('user', '{"access_token": "t0"}');
            """)
        let worker = try RunningWorker(queue.database)
        let job = try queue.insert("service, url", "'api', 'x'")
        for (turn, token) in ["t1", "t2", "good"].enumerated() {
            try TestClock.wait(20, for: "call \(turn + 1)") { target.requests.count == turn + 1 }
            try queue.connection.execute(
                "select postrider.pause_lane('api'), postrider.log_in('user', '{\"access_token\": \"\(token)\"}')")
            try queue.wait(
                until: "select count(*) = \(turn + 1) from postrider.attempts where error_code = 'token_expired'")
            if turn == 1 {
                #expect(try queue.number("select postrider.cancel(\(job))::int") == 1)
                try queue.connection.execute("select postrider.retry(\(job))")
            }
            try queue.connection.execute("select postrider.resume_lane('api')")
        }
        try queue.wait(for: job, toBe: "succeeded")
        #expect(target.requests.count == 4)
        _ = worker
    }
}
