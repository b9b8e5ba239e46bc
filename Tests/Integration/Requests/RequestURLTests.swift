// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `request_url`, `last_error` and `elapsed` of job_status.
struct RequestURLTests {
    private static func url(_ id: Int64, _ connection: borrowing PGConnection) throws -> String? {
        let found = try connection.query("select request_url from postrider.job_status where id = \(id)")
        return found.rowCount == 0 ? nil : found.optionalText(0, 0)
    }

    private static func addServices(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cdn_url, query)
            values ('api', 'https://user:word@api.example.com/v1', 'https://cdn.example.com/x', '{"app": "17", "api_key": "k1"}');
            insert into postrider.credentials (name, kind, place, allowed_origins)
            values ('key', 'api_key', '{"query": "tok"}', '{https://api.example.com}');
            insert into postrider.services (name, base_url, credential) values ('keyed', 'https://api.example.com',
                'key')
            """)
    }

    @Test(arguments: [
        ("url", "'https://u:p@h.example/p?q=1#part'", "https://h.example/p?q=1"),
        (
            "url", "'https://h.example/p?Api-Key=1&X-Amz-Signature=2&monkey=3&key=4&passw%6Frd=5&flag'",
            "https://h.example/p?Api-Key=***&X-Amz-Signature=***&monkey=3&key=***&passw%6Frd=***&flag"
        ),
        (
            "url, query", #"'https://h.example/p', '{"a": ["1", "ä b"], "session_id": "x"}'"#,
            "https://h.example/p?a=1&a=%C3%A4%20b&session_id=***"
        ),
        ("service, url", "'api', 'users/7'", "https://api.example.com/v1/users/7?app=17&api_key=***"),
        (
            "service, url, query", #"'api', 'users?app=2', '{"b": 1}'"#,
            "https://api.example.com/v1/users?app=2&api_key=***&b=1"
        ),
        ("service, url, use_cdn", "'api', 'logo', true", "https://cdn.example.com/x/logo?app=17&api_key=***"),
        ("service, url", "'keyed', 'users?n=1'", "https://api.example.com/users?n=1&tok=***"),
    ])
    func `request_url shows the called URL with masked secrets`(columns: String, values: String, shown: String) throws {
        let queue = try TestQueue()
        try Self.addServices(queue)
        let id = try queue.insert(columns, values)
        #expect(try Self.url(id, queue.connection) == shown)
    }

    @Test func `request_url masks query arguments of the service for clients`() throws {
        let queue = try TestQueue()
        try Self.addServices(queue)
        let client = try TestRole.client.connect(queue)
        let id = try client.query(
            "insert into postrider.jobs (service, url, query) values ('api', 'a', '{\"b\": 1}') returning id"
        ).int64(0, 0)
        #expect(try Self.url(id, client) == "https://api.example.com/v1/a?app=***&api_key=***&b=1")
        #expect(try Self.url(id, queue.connection) == "https://api.example.com/v1/a?app=17&api_key=***&b=1")
    }

    @Test func `request_url contains the server's base URL and the filled template values`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"id": "7 8"}"#) }
        let queue = try TestQueue()
        try queue.addService([target.url + "/one"])
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "service": "api", "url": "x"},
              {"service": "api", "url": "get/{{a.body.id}}", "query": {"q": "{{a.body.id}}"}}]}')
            """)
        try queue.wait(for: root, toBe: "succeeded")
        let sql =
            "select string_agg(request_url, ' ' order by position) from postrider.job_status where parent_id = \(root)"
        #expect(try queue.text(sql) == "\(target.url)/one/x \(target.url)/one/get/7%208?q=7%208")
        #expect(target.requests.map(\.path).contains("/one/get/7%208?q=7%208"))
    }

    @Test func `last_error stays until the job ends, and elapsed counts from the first attempt`() throws {
        let target = try TargetServer { TargetStep.answer($0.turn == 1 ? 503 : 200) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, backoff", "'\(target.url)/x', '{1 h}'")
        let fresh = try queue.insert("url, run_at", "'\(target.url)/y', now() + interval '1 h'")
        let columns = "concat_ws('|', state, error, split_part(last_error, ':', 1), elapsed is not null)"
        let sql = "select \(columns) from postrider.job_status where id = "
        try queue.wait(for: id, toBe: "scheduled")
        #expect(try queue.text(sql + "\(id)") == "scheduled|http_status|t")
        #expect(try queue.text(sql + "\(fresh)") == "scheduled|f")
        // Moves the first try back by an hour.
        try queue.connection.execute(
            "update postrider_internal.past_attempts set started_at = started_at - interval '1 h' where job_id = \(id)")
        try queue.connection.execute("select postrider.reschedule(\(id), now())")
        try queue.wait(for: id, toBe: "succeeded")
        let ended = """
            select elapsed between '1 h' and '1 h 1 min' and last_error is null from postrider.job_status
              where id = \(id)
            """
        #expect(try queue.connection.query(ended).bool(0, 0))
        // After a retry, the time starts again.
        try queue.connection.execute(
            "update postrider_internal.results set state = 'f', error_code = 'internal' where job_id = \(id)")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.connection.query("select elapsed < '1 min' from postrider.job_status where id = \(id)").bool(0, 0)
        )
    }
}
