// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The values that members take from their batch or chain.
final class InheritanceTests: TreeFixture {
    private static let shown =
        "concat_ws(' ', queue, priority, coalesce(timeout::text, '-'), coalesce(service, '-'), coalesce(credential, '-'))"

    override init() throws {
        try super.init()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('key', 'bearer'), ('other', 'bearer');
            insert into postrider.services (name, base_url) values ('api', '\(target.url)'),
              ('files', '\(target.url)/files')
            """)
    }

    private func row(_ id: Int64) throws -> String? {
        try queue.text("select \(Self.shown) from postrider.jobs where id = \(id)")
    }

    /// The values of each named member, by its name.
    private func rows() throws -> [String: String] {
        let rows = try queue.rows("select name, \(Self.shown) from postrider.jobs where name is not null")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1] ?? "") })
    }

    @Test func `members of a spec inherit queue, priority, timeout, service and credential unless they set their own`()
        throws
    {
        _ = try submit(
            """
            {"queue": "zz", "priority": 50, "timeout": "7 s", "service": "api", "credential": "key", "chain": [
              {"name": "plain", "url": "/ok"},
              {"name": "own", "url": "/ok", "queue": "default", "priority": 0, "timeout": null, "credential": "other"},
              {"name": "absolute", "url": "URL/ok"}, {"name": "other", "url": "/ok", "service": "files"},
              {"name": "template", "url": "{{plain.body.next}}"},
              {"name": "inner", "priority": -3, "batch": [{"name": "deep", "url": "/ok"}]},
              {"name": "bare", "service": null, "batch": [{"name": "under", "url": "URL/ok"}]},
              {"name": "drawn", "batch": {"each": [1, 2], "do": {"tag": "made", "url": "/ok/{{item}}"}}}]}
            """)
        #expect(
            try rows() == [
                "plain": "zz 50 00:00:07 api key", "own": "default 0 - api other", "absolute": "zz 50 00:00:07 - -",
                "other": "zz 50 00:00:07 files -", "template": "zz 50 00:00:07 api key",
                "inner": "zz -3 00:00:07 api key", "deep": "zz -3 00:00:07 api key",
                "bare": "zz 50 00:00:07 - -", "under": "zz 50 00:00:07 - -", "drawn": "zz 50 00:00:07 api key",
            ])
    }

    @Test func `members expanded from a list inherit the priority and service of their batch`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let batch = try submit(
            #"{"priority": 50, "service": "api", "batch": {"each": [1, 2], "do": {"chain": [{"url": "/ok/{{item}}"}]}}}"#
        )
        try queue.wait(for: batch, toBe: "succeeded")
        #expect(
            try queue.rows(
                "select \(Self.shown), count(*)::text from postrider.jobs where parent_id is not null group by 1")
                == [["default 50 - api -", "4"]])
        // The same for members that are inserted row by row.
        let row = try queue.insert(
            "kind, priority, service, each",
            #"'batch', 7, 'api', '{"list": [1], "do": {"tag": "row", "url": "/ok/{{item}}"}}'"#)
        try queue.wait(for: row, toBe: "succeeded")
        #expect(try queue.text("select \(Self.shown) from postrider.jobs where tag = 'row'") == "default 7 - api -")
    }

    @Test func `a joining member inherits values before its dedupe_key is checked, and an explicit priority 0 stays`()
        throws
    {
        try queue.connection.execute("begin")
        let batch = try queue.insert(
            "kind, queue, priority, timeout, service, credential", "'batch', 'zz', 50, '7 s', 'api', 'key'")
        let first = try queue.insert("parent_id, url, dedupe_key", "\(batch), '/ok', 'k'")
        let inner = try queue.insert("parent_id, kind, priority", "\(batch), 'chain', 3")
        let deep = try queue.insert("parent_id, url", "\(inner), '/ok'")
        let absolute = try queue.insert("parent_id, url", "\(inner), '\(target.url)/ok'")
        try queue.connection.execute("commit")
        #expect(try row(first) == "zz 50 00:00:07 api key")
        #expect(try row(deep) == "zz 3 00:00:07 api key")
        #expect(try row(absolute) == "zz 3 00:00:07 - -")
        let error = #expect(throws: PGError.self) {
            try queue.insert("url, queue, dedupe_key", "'\(target.url)/ok', 'zz', 'k'")
        }
        #expect(error?.sqlState?.rawValue == "23505")
        let joined = try queue.number(
            #"select postrider.submit('{"parent_id": \#(batch), "priority": 0, "chain": [{"url": "/ok"}]}')"#)
        #expect(try row(joined) == "zz 0 00:00:07 api key")
        #expect(try row(joined + 1) == "zz 0 00:00:07 api key")
        // submit has reset the setting that keeps check_new_job from adding values.
        let last = try queue.insert("parent_id, url", "\(batch), '/ok'")
        #expect(try row(last) == "zz 50 00:00:07 api key")
    }

    @Test func `the error of a refused join reveals no value of another client's batch`() throws {
        let batch = try submit(#"{"queue": "secret", "service": "api", "batch": [{"url": "/ok"}]}"#)
        let client = try TestRole.client.connect(queue)
        for sql in [
            "insert into postrider.jobs (parent_id, url) values (\(batch), '/ok')",
            "select postrider.submit('{\"parent_id\": \(batch), \"url\": \"/ok\"}')",
            "select postrider.submit('{\"parent_id\": \(batch), \"batch\": [{\"url\": \"/ok\"}]}')",
        ] {
            let error = #expect(throws: PGError.self) { try client.execute(sql) }
            #expect(error?.sqlState?.rawValue.hasPrefix("PR") == true)
            #expect(error.map { "\($0)".contains("secret") } == false)
        }
        #expect(try client.query("select count(*) from postrider_internal.parents").int64(0, 0) == 0)
    }

    @Test(arguments: [
        (
            #"{"credential": "key", "batch": [{"url": "http://h/"}]}"#,
            "$.credential: is passed to members only together with service"
        ),
        (#"{"service": "nobody", "batch": [{"url": "/ok"}]}"#, "$.service: there is no service 'nobody'"),
        (
            #"{"service": "api", "credential": "none such", "batch": [{"url": "/ok"}]}"#,
            "there is no credential 'none such'"
        ),
        (#"{"timeout": "2 days", "batch": [{"url": "http://h/"}]}"#, "timeout: 2 days is not a usable limit"),
    ])
    func `submit refuses a batch with a service, credential or timeout that its members cannot use`(
        spec: String, reason: String
    ) {
        let error = #expect(throws: PGError.self) { try queue.connection.execute("select postrider.submit('\(spec)')") }
        #expect(error.map { "\($0)".contains(reason) } == true, "\(String(describing: error))")
    }

    @Test func `cancel_all for a lane cancels requests of the lane, not the batch around them`() throws {
        let batch = try submit(#"{"service": "api", "batch": [{"url": "URL/ok"}, {"name": "in", "url": "/ok"}]}"#)
        #expect(try queue.text("select lane from postrider.job_status where id = \(batch)") == nil)
        #expect(try queue.number("select postrider.cancel_all(lane => 'api')") == 1)
        #expect(try queue.state(member("in")) == "cancelled")
    }
}
