// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A client's attempts to use rules and stubs against others.
struct RuleRightsTests {
    @Test func `a client writes rules only for its own new jobs`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', 'http://127.0.0.1:9/');
            insert into postrider.operations (name, service, spec) values ('op', 'api', '{"url": "x"}');
            """)
        let client = try TestRole.client.connect(queue)
        let rule = #"'[{"status": 401, "do": "succeed"}]'"#
        try client.execute("insert into postrider.jobs (service, url, rules) values ('api', 'x', \(rule))")
        for (sql, state) in [
            ("insert into postrider.jobs (service, url, operation_rules) values ('api', 'x', \(rule))", "PR001"),
            ("insert into postrider.services (name, rules) values ('mine', \(rule))", "42501"),
            ("update postrider.services set rules = \(rule)", "42501"),
            ("update postrider.services set stub = '[]'", "42501"),
            ("update postrider.operations set spec = '{}'", "42501"),
            ("delete from postrider.operations", "42501"),
            ("update postrider.jobs set rules = null", "42501"),
            ("insert into postrider_internal.attempt_notes (job_id, fence) values (1, 1)", "42501"),
            ("delete from postrider_internal.attempt_notes", "42501"),
            ("update postrider_internal.refreshes set own_version = null", "42501"),
            (
                "select postrider.submit('{\"service\": \"api\", \"url\": \"x\", \"operation_rules\": []}')", "PR006"
            ),
        ] { #expect(TestRole.refusal(of: sql, client) == state, "\(sql)") }
        #expect(try client.query("select count(*) from postrider.attempts").int64(0, 0) == 0)
    }

    @Test func `a stranger sees neither the rule nor the stub of an attempt`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            #"""
            insert into postrider.services (name, base_url, stub, rules) values ('api', 'http://api.invalid/', '[{}]',
              '[{"status": 200, "do": "succeed", "name": "fine"}]')
            """#)
        let client = try TestRole.client.connect(queue)
        let stranger = try TestRole.stranger.connect(queue)
        try client.execute("insert into postrider.jobs (service, url) values ('api', 'x')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let rule = "select rule || ' ' || from_stub from postrider.attempts"
        #expect(try client.query(rule).optionalText(0, 0) == "service[0] fine true")
        #expect(try stranger.query(rule).rowCount == 0)
        #expect(try client.query("select postrider.explain(1)").text(0, 0).contains("by rule service[0] fine"))
    }
}
