// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Calls in flight while another user logs in.
struct LoginMeanwhileTests {
    /// Holds its answers. They repeat the token of the request, and set a cookie if the path asks for one.
    private let target: TargetServer

    init() throws {
        target = try TargetServer { request in
            let token = request.header("authorization") ?? "-"
            let sets = request.path == "/cookie" ? ["Set-Cookie: who=\(token.split(separator: " ").last ?? "-")"] : []
            return [.held] + TargetStep.answer(200, "\"\(token), \(request.header("cookie") ?? "-")\"", headers: sets)
        }
    }

    /// Starts a job with a cached answer and a job whose answer sets a cookie. Does not wait for the answers.
    private func begin(_ queue: borrowing TestQueue) throws -> [Int64] {
        let before = target.requests.count
        let jobs = [
            try queue.insert("service, url, cache_ttl", "'api', 'data', '1 h'"),
            try queue.insert("service, url", "'api', 'cookie'"),
        ]
        try TestClock.wait(10, for: "the calls") { target.requests.count == before + 2 }
        return jobs
    }

    /// The results of the next such jobs: the cached answer, and the answer with cookies.
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
        begin; delete from postrider.credentials; insert into postrider.credentials (name, kind) values ('user',
            'bearer');
        select postrider.log_in('user', '{"access_token": "bob"}'); commit
        """,
    ])
    func `a new user gets neither cached answers nor cookies from the previous user's calls`(login: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('user', 'bearer');
            insert into postrider.services (name, base_url, credential, cookies) values ('api', '\(target.url)', 'user',
                true);
            select postrider.log_in('user', '{"access_token": "ada"}');
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let jobs = try begin(queue)
        try queue.connection.execute(login)
        target.release()
        for job in jobs { try queue.wait(for: job, toBe: "succeeded") }
        #expect(try next(queue) == ["Bearer bob, -", "Bearer bob, -"])
        #expect(target.requests("/data").count == 2)
    }

    @Test func `a refresh during a call keeps the call's cached answer and cookies`() throws {
        let api = try TokenAPI()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, allow_private_network)
            values ('user', 'oauth2_refresh_token', '\(api.url)/token', true);
            insert into postrider.services (name, base_url, credential, cookies) values ('api', '\(target.url)', 'user',
                true);
            select postrider.log_in('user', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let jobs = try begin(queue)
        try queue.connection.execute("update postrider.credentials set expires_at = now()")
        let late = try queue.insert("service, url", "'api', 'late'")
        try queue.wait(until: "select version = 2 and state = 'active' from postrider.credentials")
        target.release()
        for job in jobs + [late] { try queue.wait(for: job, toBe: "succeeded") }
        #expect(try next(queue) == ["Bearer a1, -", "Bearer a2, who=a1"])
    }

    @Test func `retry after a cancel restarts a job's count of sends with refused tokens`() throws {
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
        defer { worker.kill() }
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
    }

    @Test(arguments: [true, false])
    func `a token fetched for a deleted credential is not used by its successor`(areVersionsKept: Bool) throws {
        let ada = try TargetServer { _ in
            [.held] + TargetStep.answer(200, #"{"access_token": "ada2", "refresh_token": "ada-r2"}"#)
        }
        // Refuses Bob's refresh token. Later tokens are not Bob's.
        let bob = try TargetServer { request in
            request.turn == 1
                ? [.held] + TargetStep.answer(400, #"{"error": "invalid_grant"}"#)
                : TargetStep.answer(200, #"{"access_token": "ada3", "refresh_token": "ada-r3"}"#)
        }
        let api = try TargetServer()
        let queue = try TestQueue()
        // The login for which a refresh began is a second, independent check.
        if !areVersionsKept { try queue.connection.execute("drop trigger credentials_came on postrider.credentials") }
        func begin(_ server: TargetServer, _ refreshToken: String) throws -> Int64 {
            try queue.connection.execute(
                """
                insert into postrider.credentials (name, kind, token_url) values ('user', 'oauth2_refresh_token',
                    '\(server.url)/token');
                select postrider.log_in('user', '{"refresh_token": "\(refreshToken)"}');
                """)
            let id = try queue.insert("credential, url", "'user', '\(api.url)/ok/\(refreshToken)'")
            try TestClock.wait(20, for: "the refresh of \(refreshToken)") { server.requests.count == 1 }
            return id
        }
        let worker = try RunningWorker(queue.database)
        _ = try begin(ada, "ada")
        try queue.connection.execute("delete from postrider.credentials")
        let job = try begin(bob, "bob")
        ada.release()
        try worker.wait(for: "refresh_late")
        #expect(try queue.number("select num_nonnulls(spare_sealed, spare_plain) from postrider_internal.secrets") == 0)
        bob.release()
        try queue.wait(for: job, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(job)") == "not_logged_in")
        #expect(bob.requests.count == 1)
        #expect(api.requests("/ok/bob").isEmpty)
    }

    @Test func `a logged-out answer for a deleted credential does not log off its successor`() throws {
        let target = try TargetServer { request in
            request.header("authorization") == "Bearer bob"
                ? TargetStep.answer(200, #"{"code": 200}"#) : [.held] + TargetStep.answer(200, #"{"code": 802}"#)
        }
        let queue = try TestQueue()
        func logIn(_ token: String) throws {
            try queue.connection.execute(
                """
                begin; delete from postrider.credentials;
                insert into postrider.credentials (name, kind) values ('user', 'bearer');
                select postrider.log_in('user', '{"access_token": "\(token)"}'); commit
                """)
        }
        try logIn("ada")
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, credential, envelope)
            values ('api', '\(target.url)', 'user', '{"code": "$.code", "success": [200], "logged_out": [802]}')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let job = try queue.insert("service, url", "'api', 'x'")
        try TestClock.wait(20, for: "the call") { target.requests.count == 1 }
        try logIn("bob")
        target.release()
        // The call is sent again, as after every login.
        try queue.wait(for: job, toBe: "succeeded")
        #expect(try queue.text("select state from postrider.credential_status") == "active")
        #expect(target.requests.map { $0.header("authorization") } == ["Bearer ada", "Bearer bob"])
    }

    @Test func `a recreated credential never reuses a version of its name`() throws {
        let queue = try TestQueue()
        let insert = "insert into postrider.credentials (name, kind) values ('user', 'bearer')"
        let login = "select postrider.log_in('user', '{\"access_token\": \"t\"}')"
        func version() throws -> Int64 { try queue.number("select version from postrider.credentials") }
        try queue.connection.execute("\(insert); \(login); \(login)")
        #expect(try version() == 2)
        try queue.connection.execute("begin; delete from postrider.credentials; \(insert); \(login); rollback")
        #expect(try version() == 2)
        try queue.connection.execute("begin; delete from postrider.credentials; \(insert); \(login); commit")
        #expect(try version() == 4)
        // A worker has sealed the secrets of the previous credential.
        #expect(try queue.number("select postrider_internal.store_sealed_secrets('user', 2, 'x')::int") == 0)
        try queue.connection.execute("truncate postrider.credentials cascade; \(insert)")
        #expect(try version() == 5)
        // An existing credential keeps its version.
        try queue.connection.execute("\(insert) on conflict (name) do update set kind = excluded.kind; \(login)")
        #expect(try version() == 6)
        // A role that may insert and delete has no right to the sequence of versions.
        let admin = try TestRole.admin.connect(queue)
        try admin.execute("delete from postrider.credentials; \(insert)")
        #expect(try version() == 7)
        #expect(TestRole.refusal(of: "update postrider_internal.credential_versions set next = 0", admin) == "42501")
        #expect(TestRole.refusal(of: "update postrider.credentials set version = 70", admin) == "PR001")

        // An INSERT that waits for the commit of the DELETE has already passed its checks.
        let database = queue.database
        let deleter = try PGConnection(database)
        for (isolation, expected) in [("read committed", nil), ("repeatable read", "40001")] {
            try queue.connection.execute(login)
            let before = try version()
            try deleter.execute("begin; delete from postrider.credentials")
            let refusal = Mutex<String?>("never ran")
            let inserter = BackgroundThread {
                guard let other = try? PGConnection(database) else { return }
                let end = TestRole.refusal(of: "begin isolation level \(isolation); \(insert); commit", other)
                refusal.withLock { $0 = end }
            }
            try queue.waitUntilBlocked("isolation level")
            try deleter.execute("commit")
            inserter.join()
            #expect(refusal.withLock { $0 } == expected)
            if expected != nil { try queue.connection.execute(insert) }
            #expect(try version() == before + 1)
        }
    }
}
