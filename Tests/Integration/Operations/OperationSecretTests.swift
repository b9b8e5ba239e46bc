// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A client may give arguments, but cannot send the secrets of an operation to another server or see them.
struct OperationSecretTests {
    private static func queue(_ good: String, _ evil: String) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, allowed_origins) values
              ('login', 'bearer', array['\(good)']);
            select postrider.log_in('login', '{"access_token": "t0ken"}');
            insert into postrider.services (name, base_url, allow_private_network, headers, credential) values
              ('api', '\(good)/v1/', true, '{"X-Api-Key": "k3y"}', 'login'),
              ('other', '\(evil)/', true, null, null);
            insert into postrider.operations (name, service, arguments, spec) values
              ('user', 'api', '{"id": "any", "note?": "string"}',
               '{"url": "users/{{arg.id}}", "query": {"note": "{{arg.note}}"}}'),
              ('page', 'api', '{"url": "string"}', '{"url": "{{arg.url}}"}')
            """)
        return queue
    }

    @Test func `no argument and no column leads the call of an operation to another server`() throws {
        let good = try TargetServer { _ in TargetStep.answer(200) }
        let evil = try TargetServer { _ in TargetStep.answer(200) }
        let queue = try Self.queue(good.url, evil.url)
        let client = try TestRole.client.connect(queue)
        let host = evil.url.replacing("http://", with: "")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let refused = [
            #"insert into postrider.jobs (operation, arguments, url) values ('user', '{"id": 1}', '\#(evil.url)/')"#,
            #"insert into postrider.jobs (operation, arguments, service) values ('user', '{"id": 1}', 'other')"#,
            #"insert into postrider.jobs (operation, arguments, use_cdn) values ('user', '{"id": 1}', true)"#,
            #"insert into postrider.jobs (operation, arguments, credential) values ('user', '{"id": 1}', 'login')"#,
            #"insert into postrider.jobs (operation, arguments, headers) values ('user', '{"id": 1}', '{"Host": "\#(host)"}')"#,
            #"select postrider.call('user', '{"id": ".."}')"#,
            #"select postrider.call('user', '{"id": {"a": 1}}')"#,
            #"select postrider.call('page', '{"url": "\#(evil.url)/x"}')"#,
            #"select postrider.call('page', '{"url": "//\#(host)/x"}')"#,
            #"select postrider.call('page', '{"url": "\#(good.url)@\#(host)/x"}')"#,
            #"select postrider.call('page', '{"url": "\\\\\\\\\#(host)/x"}')"#,
            #"select postrider.submit('{"operation": "user", "arguments": {"id": 1}, "url": "\#(evil.url)"}')"#,
            #"select postrider.submit('{"chain": [{"operation": "user", "arguments": {"id": 1}, "service": "other"}]}')"#,
        ]
        for statement in refused {
            let state = TestRole.refusal(of: statement, client)
            #expect(state == "PR001" || state == "PR006", "\(statement)")
        }
        // These are data: they stay inside their segment or argument.
        let accepted = [
            "//\(host)/x", "@\(host)", "\(evil.url)/", "..%2f..", "%2e.", "a/../../b", "?x=1#y", "a\\\\b",
            "{{prev.body}}",
            "x y",
        ]
        for value in accepted {
            var parameters = PGParameters()
            parameters.append(text: #"{"id": "\#(value)", "note": "\#(value)&url=\#(evil.url)"}"#)
            _ = try client.query("select postrider.call('user', $1::jsonb)", &parameters)
        }
        try queue.waitUntilDone()
        #expect(evil.requests.isEmpty)
        #expect(good.requests.count == accepted.count)
        #expect(good.requests.allSatisfy { $0.path.hasPrefix("/v1/users/") && $0.header("x-api-key") == "k3y" })
    }

    @Test func `a client sees no secret of an operation's service`() throws {
        let good = try TargetServer { _ in TargetStep.answer(200, #"{"id": 1}"#) }
        let queue = try Self.queue(good.url, good.url)
        let client = try TestRole.client.connect(queue)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try client.query(
            #"select postrider.call('user', '{"id": 1, "note": "n"}', metadata => '{"a": 1}')"#
        ).int64(0, 0)
        try queue.waitUntilDone()
        for statement in [
            "select * from postrider.job_status where id = \(id)", "select * from postrider.attempts",
            "select * from postrider.operations", "select * from postrider.recent_failures",
            #"select * from postrider.preview('{"operation": "user", "arguments": {"id": 1}}')"#,
            "select postrider.explain(\(id))", "select * from postrider.pages",
            #"select * from postrider.preview('{"chain": [{"operation": "page", "arguments": {"url": "a"}}]}')"#,
            "select * from postrider_internal.tickets", "select * from postrider_internal.service_ticket",
            "select * from postrider.wait(\(id), '1 s')",
        ] {
            let rows = try client.query("select coalesce(string_agg(x::text, ' '), '') from (\(statement)) x").text(
                0, 0)
            #expect(!rows.contains("k3y") && !rows.contains("t0ken"), "\(statement)")
        }
        for statement in [
            "select * from postrider.services", "select * from postrider_internal.secrets",
            "select * from postrider.credentials", "select headers from postrider.jobs",
        ] {
            #expect(TestRole.refusal(of: statement, client) == "42501", "\(statement)")
        }
    }
}
