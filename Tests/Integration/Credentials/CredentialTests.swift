// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Credentials: their place in a call, the services that may use them, and their secrecy.
struct CredentialTests {
    private let api: TokenAPI

    init() throws {
        api = try TokenAPI()
    }

    private func body(_ queue: borrowing TestQueue, _ id: Int64) throws -> String {
        try queue.wait(for: id, toBe: "succeeded")
        return try queue.text("select result::text from postrider.job_status where id = \(id)") ?? ""
    }

    private func end(_ queue: borrowing TestQueue, _ id: Int64) throws -> [String?] {
        try queue.wait(for: id, toBe: "failed")
        return try queue.rows("select error_code, error, attempt::text from postrider.job_status where id = \(id)")[0]
    }

    @Test func `a call carries each kind of credential in its configured place`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, place) values
              ('bearer', 'bearer', null), ('basic', 'basic', null), ('key', 'api_key', '{"header": "X-Key"}'),
              ('query', 'bearer', '{"query": "access_token"}'), ('json', 'api_key', '{"json": "accessToken"}'),
              ('prefix', 'bearer', '{"header": "authorization", "prefix": "Token "}');
            select postrider.log_in(name, '{"access_token": "t 1/é\\"\\\\"}') from postrider.credentials where kind <> 'basic' and name <> 'prefix';
            select postrider.log_in('prefix', '{"access_token": "p"}'), postrider.log_in('basic', '{"username": "ada", "password": "p:w"}');
            insert into postrider.services (name, base_url, credential, query) values ('open', '\(api.url)/open', 'query', '{"access_token": "mine"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let columns = "url, credential, headers, method, body_json"
        func call(_ credential: String, _ rest: String = "null, 'GET', null") throws -> String {
            try body(queue, queue.insert(columns, "'\(api.url)/open/x', '\(credential)', \(rest)"))
        }
        #expect(try call("basic").contains("\"authorization\": \"Basic YWRhOnA6dw==\""))
        #expect(try call("prefix").contains("\"authorization\": \"Token p\""))
        #expect(try call("prefix", "'{\"Authorization\": \"mine\"}', 'GET', null").contains("\"Token p\""))
        #expect(try call("query").contains(#""query": {"access_token": "t 1/é\"\\"}"#))
        for sent in [#"{"a": [1], "accessToken": "mine"}"#, "{}"] {
            let json = try call("json", "null, 'POST', '\(sent)'")
            #expect(json.contains(#""accessToken": "t 1/é\"\\""#), "\(json)")
            #expect(json.contains(#""a": [1]"#) == sent.contains("[1]"))
        }
        #expect(try call("json", "null, 'POST', null").contains(#""json": {"accessToken": "t 1/é\"\\"}"#))
        let inherited = try body(queue, queue.insert("service, url", "'open', 'y'"))
        #expect(inherited.contains(#""query": {"access_token": "t 1/é\"\\"}"#))

        let array = try queue.insert(columns, "'\(api.url)/open/x', 'json', null, 'POST', '[1]'")
        #expect(try end(queue, array)[0] == "config")
        #expect(
            try queue.rows("select distinct credential_version::text from postrider.attempts where error_code is null")
                == [["1"]])
        #expect(try queue.number("select count(*) from postrider_internal.secrets where plain is not null") == 0)
    }

    @Test func `a job without a login fails without a call, and a login lets new jobs run`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.credentials (name, kind) values ('user', 'bearer')")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let columns = "url, credential, login_required"
        let values = "'\(api.url)/open/x', 'user', true"
        let before = try queue.insert(columns, values)
        let end = try end(queue, before)
        #expect(end[0] == "not_logged_in")
        #expect(end[1]?.hasPrefix("credential user is logged off; log in") == true)
        let key = api.folder.path("key")
        let command = ["credential", "set", "user", "--secret-key-file", key, "--database", queue.database]
        let outcome = try WorkerProcess.run(command, input: "t1\n")
        #expect(outcome.output == "user active, version 1\n")
        #expect(try queue.text("select plain::text from postrider_internal.secrets") == nil)
        #expect(try body(queue, queue.insert(columns, values)).contains("Bearer t1"))
        #expect(try WorkerProcess.run(["credential", "log-out", "user", "--database", queue.database]).status == 0)
        #expect(try queue.number("select count(*) from postrider_internal.secrets") == 0)
        #expect(try self.end(queue, queue.insert(columns, values))[0] == "not_logged_in")
        #expect(api.log.count == 1)
        // The state in an INSERT by a user is ignored.
        try queue.connection.execute(
            "insert into postrider.credentials (name, kind, state) values ('unused', 'bearer', 'active')")
        let unused = "select state from postrider.credential_status where name = 'unused'"
        #expect(try queue.text(unused) == "logged_off")
        let never = try queue.insert("url, credential", "'\(api.url)/open/x', 'unused'")
        #expect(try self.end(queue, never)[0] == "not_logged_in")
        // A job that failed for lack of a login succeeds after one.
        try queue.connection.execute(
            "select postrider.log_in('user', '{\"access_token\": \"t2\"}'), postrider.retry(\(before))")
        #expect(try body(queue, before).contains("Bearer t2"))
    }

    @Test func `a secret goes only to allowed origins, and other calls fail with config`() throws {
        let queue = try TestQueue()
        let other = try TargetServer { request in
            request.path == "/away" ? TargetStep.answer(302, headers: ["Location: /ok"]) : TargetStep.answer(200)
        }
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, allowed_origins) values
              ('named', 'bearer', null), ('bound', 'bearer', array['\(api.url)']), ('nowhere', 'bearer', '{}');
            select postrider.log_in(name, '{"access_token": "t"}') from postrider.credentials;
            insert into postrider.services (name, base_url, credential) values ('api', '\(api.url)/open/', 'named');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let refused = [
            try queue.insert("url, credential", "'\(other.url)/ok', 'bound'"),
            try queue.insert("url, credential", "'\(api.url)/open/x', 'nowhere'"),
            try queue.insert("url, service", "'\(other.url)/ok', 'api'"),
        ]
        for id in refused {
            let end = try end(queue, id)
            #expect(end[0] == "config")
            #expect(end[1]?.contains("add it to credentials.allowed_origins") == true)
        }
        #expect(other.requests.isEmpty)
        for values in ["'\(api.url)/open/x', 'bound', null", "'x', null, 'api'"] {
            #expect(try body(queue, queue.insert("url, credential, service", values)).contains("Bearer t"))
        }
        let named = try queue.insert("url, credential", "'\(other.url)/away', 'named'")
        try queue.wait(for: named, toBe: "succeeded")
        #expect(other.requests.map { $0.header("authorization") } == ["Bearer t", "Bearer t"])
    }

    @Test func `a job with credential none is sent without a login and shares cached answers`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('user', 'bearer');
            insert into postrider.services (name, base_url, credential) values ('api', '\(target.url)/ok/', 'user');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let columns = "service, url, credential, cache_ttl"
        // The credential is logged off.
        let open = try queue.insert(columns, "'api', 'x', 'none', '1 min'")
        try queue.wait(for: open, toBe: "succeeded")
        #expect(target.requests.map { $0.header("authorization") } == [nil])
        let second = try queue.insert(columns, "'api', 'x', 'none', '1 min'")
        try queue.wait(for: second, toBe: "succeeded")
        #expect(try queue.text("select from_cache::text from postrider.job_status where id = \(second)") == "true")
        let inherited = try queue.insert(columns, "'api', 'x', null, '1 min'")
        #expect(try end(queue, inherited)[0] == "not_logged_in")
        let members = #"[{"url": "y", "credential": "none"}, {"url": "z"}]"#
        try queue.connection.execute(
            "select postrider.submit('{\"batch\": \(members), \"service\": \"api\", \"credential\": \"user\"}')")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select url, state from postrider.job_status where parent_id is not null order by url")
                == [["y", "succeeded"], ["z", "failed"]])
        let error = #expect(throws: PGError.self) {
            try queue.insert("service, url, credential, login_required", "'api', 'x', 'none', true")
        }
        #expect(error.map { "\($0)" }?.contains("jobs.login_required:") == true)
    }

    @Test func `a redirect to another origin carries no secret`() throws {
        let queue = try TestQueue()
        let thief = try TargetServer()
        let url = thief.url
        let api = try TargetServer { _ in TargetStep.answer(307, headers: ["Location: \(url)/ok"]) }
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, place) values
              ('key', 'api_key', '{"header": "X-Key"}'), ('query', 'api_key', '{"query": "key"}');
            select postrider.log_in(name, '{"api_key": "secret1"}') from postrider.credentials;
            """)
        let worker = try self.api.worker(queue)
        defer { worker.kill() }
        for name in ["key", "query"] {
            try queue.wait(for: queue.insert("url, credential", "'\(api.url)/x', '\(name)'"), toBe: "succeeded")
        }
        #expect(api.requests.map { $0.header("x-key") } == ["secret1", nil])
        #expect(api.requests.map(\.path) == ["/x", "/x?key=secret1"])
        #expect(thief.requests.map(\.path) == ["/ok", "/ok"])
        #expect(thief.requests.allSatisfy { request in !request.headers.contains { $0.value.contains("secret1") } })
    }

    @Test(arguments: [(401, "{}"), (200, #"{"code": 802}"#), (200, "<html>no gateway")])
    func `an answer from a redirect to another origin affects neither token nor server state`(
        status: Int, body: String
    ) throws {
        let queue = try TestQueue()
        let other = try TargetServer { _ in TargetStep.answer(status, body) }
        let dead = try TargetServer.freePort()
        let url = other.url
        let api = try TargetServer { request in
            switch request.path {
            case "/away": TargetStep.answer(302, headers: ["Location: \(url)/x"])
            case "/dead": TargetStep.answer(302, headers: ["Location: http://127.0.0.1:\(dead)/"])
            default: TargetStep.answer(200, #"{"code": 200}"#)
            }
        }
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, refresh) values ('c', 'custom',
              '{"url": "\(api.url)/refresh", "body_json": {"t": "{{refresh_token}}"}, "access_token": "$.a"}');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            insert into postrider.services (name, credential, min_calls, html_is_502, envelope)
            values ('s', 'c', 2, true, '{"code": "$.code", "success": [200], "logged_out": [802]}');
            insert into postrider.servers (service, position, base_url) values ('s', 1, '\(api.url)'),
              ('s', 2, '\(api.url)/b')
            """)
        let worker = try self.api.worker(queue)
        defer { worker.kill() }
        try queue.insert(3, "service, url, max_attempts", "'s', 'away', 1")
        try queue.insert(5, "service, url, max_attempts", "'s', 'dead', 1")
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 8")
        try queue.wait(for: queue.insert("service, url", "'s', 'fine'"), toBe: "succeeded")
        #expect(api.requests("/refresh").isEmpty)
        #expect(
            try queue.rows("select state, version::text from postrider.credential_status") == [["active", "1"]])
        #expect(
            try queue.text("select string_agg(state || errors, ' ' order by position) from postrider.servers")
                == "active0 active0")
    }

    @Test func `cached answers and cookies are separate for each credential and each login`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('ada', 'bearer'), ('bob', 'bearer');
            select postrider.log_in(name, jsonb_build_object('access_token', name)) from postrider.credentials;
            insert into postrider.services (name, base_url, cookies) values ('api', '\(api.url)/open/', true);
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        func call(_ name: String, _ path: String, _ ttl: String) throws -> (String, Bool) {
            let id = try queue.insert("service, url, credential, cache_ttl", "'api', '\(path)', '\(name)', \(ttl)")
            let text = try body(queue, id)
            return (text, try queue.number("select from_cache::int from postrider.job_status where id = \(id)") == 1)
        }
        // Answers that set cookies are not cached. So the test stores these by cache_put.
        for name in ["ada", "bob"] {
            #expect(try call(name, "c", "null").0.contains("\"cookie\": null"))
            #expect(try call(name, "c", "null").0.contains("\"cookie\": \"visitor=\(name)\""))
            try queue.connection.execute(
                "select postrider.cache_put(jsonb_build_object('service', 'api', 'url', 'd', 'credential', '\(name)'), '\"\(name)\"'::jsonb)"
            )
        }
        #expect(try call("ada", "d", "'1 h'") == ("\"ada\"", true))
        #expect(try call("bob", "d", "'1 h'") == ("\"bob\"", true))
        try queue.connection.execute("select postrider.log_in('ada', '{\"access_token\": \"eve\"}')")
        let next = try call("ada", "d", "'1 h'")
        #expect(next.1 == false)
        #expect(next.0.contains("\"authorization\": \"Bearer eve\"") && next.0.contains("\"cookie\": null"))
    }

    @Test func `a worker without the sealing key cannot use sealed secrets, and the job fails with config`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.credentials (name, kind) values ('a', 'bearer'); select postrider.log_in('a', '{\"access_token\": \"t\"}')"
        )
        let keyless = try RunningWorker(queue.database)
        // The secret is still plain, and the worker can use it unchanged.
        #expect(try body(queue, queue.insert("url, credential", "'\(api.url)/open/x', 'a'")).contains("Bearer t"))
        let worker = try api.worker(queue)
        try queue.wait(until: "select bool_and(sealed is not null and plain is null) from postrider_internal.secrets")
        #expect(worker.end(SIGTERM) == 0)
        let id = try queue.insert("url, credential", "'\(api.url)/open/x', 'a'")
        let first = try end(queue, id)
        #expect(first[0] == "config")
        #expect(first[1]?.contains("POSTRIDER_SECRET_KEY") == true)
        #expect(keyless.end(SIGTERM) == 0)
        try api.folder.write("other", "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let stranger = try RunningWorker(queue.database, ["--secret-key-file", api.folder.path("other")])
        defer { stranger.kill() }
        let second = try end(queue, queue.insert("url, credential", "'\(api.url)/open/x', 'a'"))
        #expect(second[0] == "config")
        #expect(second[1]?.contains("sealed") == true)
    }

    @Test func `no view, table or log line contains a plain secret`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, place) values ('a', 'bearer', '{"query": "token"}');
            select postrider.log_in('a', '{"access_token": "verysecret"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let good = try queue.insert("url, credential", "'\(api.url)/api/x', 'a'")
        let bad = try queue.insert("url, credential", "'http://127.0.0.1:1/x', 'a'")
        try queue.wait(until: "select count(*) > 0 from postrider.attempts where job_id = \(bad)")
        try queue.wait(for: good, toBe: "failed")
        try queue.wait(until: "select bool_and(plain is null) from postrider_internal.secrets")
        let tables = try queue.rows(
            "select format('%I.%I', schemaname, relname) from (select schemaname, relname from pg_stat_user_tables union all select schemaname, viewname from pg_views where schemaname like 'postrider%') t"
        )
        for table in tables.compactMap({ $0[0] }) {
            // The job stores the server's answer. This server does not repeat the query.
            #expect(
                try queue.number("select count(*) from \(table) t where t::text like '%verysecret%'") == 0, "\(table)")
        }
        #expect(!worker.output.contains("verysecret"))
    }
}
