// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The lease of a refresh, and the handling of a token that arrives too late.
struct TokenLeaseTests {
    private func queue(_ url: String = "http://127.0.0.1:1/token") throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token', '\(url)')")
        return queue
    }

    /// The epoch and the sealed secrets of the refresh that a worker gets; nil if it gets none.
    private func take(_ queue: borrowing TestQueue) throws -> [String?]? {
        try queue.rows(
            "select epoch::text, encode(sealed, 'escape') from postrider_internal.next_credential_tasks(1, true) where task = 'r'"
        )
        .first
    }

    private func end(_ queue: borrowing TestQueue, _ epoch: String?, _ rest: String) throws -> Int64 {
        try queue.number("select postrider_internal.store_refresh('c', \(epoch ?? "0"), 1, \(rest))::int")
    }

    @Test func `one worker refreshes, and a late token is kept as a spare for a refused refresh`() throws {
        let queue = try queue()
        try queue.connection.execute(
            """
            select postrider_internal.log_in_sealed('c', '{refresh_token}', 'old', null);
            select postrider_internal.decide_credential_step('c');
            """)
        let first = try take(queue)
        #expect(first?[1] == "old")
        #expect(try take(queue) == nil)
        // The worker is delayed for longer than its lease.
        try queue.connection.execute("update postrider_internal.refreshes set until = now()")
        let second = try take(queue)
        #expect(second != nil && second?[0] != first?[0])
        #expect(try end(queue, first?[0], "'s', 'late', '{}', 3600, null, null") == 0)
        #expect(try queue.text("select encode(sealed, 'escape') from postrider_internal.secrets") == "old")
        // The first refresh has used the old token up, so it is finally refused.
        #expect(try end(queue, second?[0], "'f', null, '{}', null, null, 'refused'") == 1)
        #expect(try queue.text("select state from postrider.credentials") == "refreshing")
        let third = try take(queue)
        #expect(third?[1] == "late")
        #expect(try end(queue, third?[0], "'s', 'new', '{}', 3600, null, null") == 1)
        #expect(
            try queue.rows(
                "select state, version::text, (expires_at > now() + interval '59 min')::text from postrider.credentials"
            )
                == [["active", "2", "true"]])
        // A repeated report, as after a lost answer, changes nothing.
        #expect(try end(queue, third?[0], "'s', 'again', '{}', 3600, null, null") == 0)
        #expect(
            try queue.rows(
                "select encode(sealed, 'escape'), encode(spare_sealed, 'escape') from postrider_internal.secrets")
                == [["new", "late"]])
    }

    @Test func `refresh failures back off up to 60 s, and a logout ends the running refresh`() throws {
        let queue = try queue()
        try queue.connection.execute("select postrider_internal.log_in_sealed('c', '{refresh_token}', 'old', null)")
        try queue.connection.execute("select postrider_internal.decide_credential_step('c')")
        // In one statement, so that the wait is measured from its beginning.
        try queue.connection.execute(
            """
            create function pg_temp.wait_after(epoch bigint, wait_ms bigint) returns bigint language plpgsql as $$
            begin
              perform postrider_internal.store_refresh('c', epoch, 1, 'r', null, '{}', null, wait_ms, 'no');
              return (select ceil(extract(epoch from r.due_at - clock_timestamp()))
                      from postrider_internal.refreshes r);
            end $$
            """)
        var waits: [Int64] = []
        for round in 1...10 {
            let epoch = try take(queue)?[0] ?? "0"
            waits.append(
                try queue.number(
                    "select pg_temp.wait_after(\(epoch), \(round == 2 ? "20000" : round == 10 ? "300000" : "null"))"))
            try queue.connection.execute("update postrider_internal.refreshes set due_at = now()")
        }
        #expect(waits == [1, 20, 4, 8, 16, 32, 60, 60, 60, 300])
        try queue.connection.execute("update postrider_internal.refreshes set due_at = now()")
        let last = try take(queue)?[0]
        try queue.connection.execute("select postrider.log_out('c')")
        #expect(try end(queue, last, "'s', 'new', '{}', 3600, null, null") == 0)
        #expect(try queue.number("select count(*) from postrider_internal.secrets") == 0)
        #expect(try queue.text("select state from postrider.credentials") == "logged_off")
    }

    @Test func `a valid token without a refresh token is used until it expires`() throws {
        let api = try TokenAPI()
        let queue = try queue(api.url + "/token")
        // The token expires soon, and there is no refresh token, so the worker cannot refresh it early.
        try queue.connection.execute("select postrider.log_in('c', '{\"access_token\": \"a1\", \"expires_in\": 50}')")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let first = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.wait(
            until: "select state = 'cooldown' and last_error ~ 'refresh_token' from postrider.credential_status")
        let second = try queue.insert("url, credential", "'\(api.url)/api/y', 'c'")
        try queue.wait(for: second, toBe: "succeeded")
        try queue.connection.execute(
            """
            update postrider.credentials set expires_at = now() - interval '1 s';
            update postrider_internal.refreshes set due_at = now();
            """)
        let third = try queue.insert("url, credential", "'\(api.url)/api/z', 'c'")
        try queue.wait(for: third, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(third)") == "not_logged_in")
        #expect(api.log == ["GET /api/x a1 200", "GET /api/y a1 200"])
    }

    @Test func `jobs wait if no worker has the sealing key, and explain gives the reason`() throws {
        let api = try TokenAPI()
        let queue = try queue(api.url + "/token")
        let key = api.folder.path("key")
        let set = ["credential", "set", "c", "--secret-key-file", key, "--database", queue.database]
        #expect(try WorkerProcess.run(set, input: "r1").status == 0)
        let keyless = try RunningWorker(queue.database)
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(until: "select jobs_waiting = 1 from postrider.credential_status")
        try queue.connection.execute("update postrider_internal.refreshes set due_at = now() - interval '1 min'")
        let sentence = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(sentence.contains("waits for credential c to be refreshed (no worker has begun it"), "\(sentence)")
        #expect(sentence.contains("POSTRIDER_SECRET_KEY"), "\(sentence)")
        try queue.connection.execute("update postrider.credentials set state = 'cooldown'")
        #expect(try queue.text("select postrider.explain(\(id))")?.contains("next attempt in a moment") == true)
        #expect(keyless.end(SIGTERM) == 0)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(api.log == ["POST /token r1 200", "GET /api/x a2 200"])
    }

    @Test func `a worker with the wrong key returns a refresh without counting a failure`() throws {
        let api = try TokenAPI()
        let queue = try queue(api.url + "/token")
        let set = ["credential", "set", "c", "--secret-key-file", api.folder.path("key"), "--database", queue.database]
        #expect(try WorkerProcess.run(set, input: "r1").status == 0)
        try api.folder.write("wrong", "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n")
        let wrong = try RunningWorker(queue.database, ["--secret-key-file", api.folder.path("wrong")])
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try wrong.wait(for: "refresh_failed")
        try queue.wait(until: "select last_error ~ 'has no key for the secrets' from postrider.credential_status")
        #expect(
            try queue.rows("select state, failures::text from postrider.credential_status") == [["refreshing", "0"]])
        // The worker's own check would take the refresh again at once.
        try queue.connection.execute("notify postrider, 'credentials'")
        let right = try RunningWorker(
            queue.database, ["--secret-key-file", api.folder.path("key"), "--queue", "none"])
        try right.wait(for: "token_refreshed")
        #expect(wrong.count(of: "refresh_failed") == 1)
        #expect(api.log == ["POST /token r1 200"])
        #expect(try queue.text("select attempt::text from postrider.job_status where id = \(id)") != "2")
    }

    @Test func `silent token endpoints delay neither other refreshes nor the sealing of secrets`() throws {
        let api = try TokenAPI()
        let silent = try TargetServer { _ in [.hang] }
        let queue = try queue(api.url + "/token")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        func addSilent(_ name: String) throws {
            try queue.connection.execute(
                """
                insert into postrider.credentials (name, kind, token_url) values ('\(name)', 'oauth2_refresh_token',
                    '\(silent.url)/t');
                select postrider.log_in('\(name)', '{"refresh_token": "r"}');
                insert into postrider.jobs (url, credential) values ('\(api.url)/api/x', '\(name)')
                """)
        }
        let underWay = "select count(*) from postrider_internal.refreshes where until > now()"
        for name in ["s1", "s2", "s3"] { try addSilent(name) }
        try queue.wait(40, until: "select (\(underWay)) = 3")
        try queue.connection.execute("select postrider.log_in('c', '{\"refresh_token\": \"r1\"}')")
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(for: id, toBe: "succeeded")
        try addSilent("s4")
        try queue.wait(40, until: "select (\(underWay)) = 4")
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('b', 'bearer');
            select postrider.log_in('b', '{"access_token": "a2"}')
            """)
        try queue.wait(
            40, until: "select is_sealed and (\(underWay)) = 4 from postrider.credential_status where name = 'b'")
    }

    @Test func `credential_status gives the true reason why a refresh has not begun`() throws {
        let queue = try queue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('d', 'oauth2_refresh_token',
                'http://127.0.0.1:1/token');
            select postrider_internal.log_in_sealed(n, '{refresh_token}', 'old', null),
                   postrider_internal.decide_credential_step(n) from unnest('{c,d}'::text[]) n;
            update postrider_internal.refreshes set due_at = now() - interval '1 min' where credential = 'c';
            update postrider_internal.refreshes set until = now() + interval '1 min' where credential = 'd';
            """)
        let error = "select last_error from postrider.credential_status where name = 'c'"
        #expect(try queue.text(error)?.contains("busy with other refreshes") == true)
        try queue.connection.execute("update postrider_internal.refreshes set until = null where credential = 'd'")
        #expect(try queue.text(error)?.contains("POSTRIDER_SECRET_KEY") == true)
    }

    @Test func `after a clock step back, due refreshes begin at once and running refreshes keep their lease`() throws {
        let queue = try queue()
        try queue.connection.execute(
            """
            select postrider_internal.log_in_sealed('c', '{refresh_token}', 'old', null);
            select postrider_internal.decide_credential_step('c');
            update postrider_internal.refreshes set due_at = now() + interval '1 h';
            """)
        #expect(try take(queue) != nil)
        // The worker with the lease may be dead or alive. Others wait as long as for any other lease.
        try queue.connection.execute(
            "update postrider_internal.refreshes set until = until + interval '1 h', began_at = began_at + interval '1 h'"
        )
        #expect(try take(queue) == nil)
        #expect(
            try queue.text(
                "select (until between now() + interval '5 s' and now() + interval '14 s')::text from postrider_internal.refreshes"
            )
                == "true")
        let epoch = try queue.text("select epoch::text from postrider_internal.refreshes")
        #expect(try end(queue, epoch, "'s', 'new', '{}', 3600, null, null") == 1)
        #expect(
            try queue.text("select (expires_at <= now() + interval '1 h')::text from postrider.credentials") == "true")
    }
}
