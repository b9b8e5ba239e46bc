// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Members that end without a call, members that can run again, and long lists.
final class TreeRetryTests: TreeFixture {
    @Test(arguments: [
        #"{"mode": "settle", "batch": [{"url": "URL/ok/1"}, {"url": "URL/ok/2"}], "expires_at": "T"}"#,
        #"{"mode": "first", "batch": [{"url": "URL/ok/1"}, {"url": "URL/ok/2"}], "expires_at": "T"}"#,
        #"{"batch": [{"url": "URL/ok/1"}, {"chain": [{"url": "URL/ok/2"}]}], "expires_at": "T"}"#,
        #"{"chain": [{"mode": "settle", "batch": [{"url": "URL/ok/1"}]}, {"url": "URL/ok/2"}], "expires_at": "T"}"#,
    ])
    func `a tree without any call by expires_at expires, in every mode`(spec: String) throws {
        let soon = try #require(try queue.text("select to_json(now() + interval '1.5 s') #>> '{}'"))
        let id = try submit(spec.split(separator: "T\"").joined(separator: soon + "\""))
        let worker = try RunningWorker(queue.database, ["--queue", "another"])
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "expired")
        #expect(try queue.text("select started_at::text from postrider.job_status where id = \(id)") == nil)
        #expect(target.requests.isEmpty)
    }

    @Test func `a tree that made one call before expires_at does not expire`() throws {
        let soon = try #require(try queue.text("select to_json(now() + interval '3 s') #>> '{}'"))
        let id = try submit(
            #"{"mode": "settle", "max_parallel": 1, "expires_at": ""# + soon
                + #"", "batch": [{"url": "URL/held/1"}, {"url": "URL/ok/2"}]}"#)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try TestClock.wait(10, for: "the first call") { target.underWay == 1 }
        try queue.wait(until: "select now() > expires_at from postrider.jobs where id = \(id)")
        target.release()
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.count == 1)
    }

    @Test func `retry of a succeeded chain reruns a failed member of its settle batch`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try submit(
            #"{"chain": [{"mode": "settle", "batch": [{"name": "bad", "url": "URL/status/404,200", "max_attempts": 1}, "#
                + #"{"url": "URL/ok/1"}]}, {"url": "URL/ok/2"}]}"#)
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.state(try member("bad")) == "failed")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(until: "select count(*) = 5 from postrider_internal.results")
        #expect(try queue.state(try member("bad")) == "succeeded")
        #expect(try queue.state(id) == "succeeded")
        #expect(target.requests.count == 4)
    }

    @Test func `retry refuses a chain with a step that is past its own expires_at`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let soon = try #require(try queue.text("select to_json(now() + interval '2 s') #>> '{}'"))
        let id = try submit(
            #"{"chain": [{"url": "URL/status/500", "max_attempts": 1}, {"name": "late", "url": "URL/ok/2", "expires_at": ""#
                + soon + #""}]}"#)
        try queue.wait(for: id, toBe: "failed")
        try queue.wait(until: "select now() > expires_at from postrider.jobs where name = 'late'")
        let error = #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(\(id))") }
        let late = try member("late")
        #expect(error?.message.contains("job \(late), which is a part of it, expired") == true)
        #expect(try queue.state(id) == "failed")
    }

    @Test func `retry of a chain ignores the past expires_at of a succeeded batch in it`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let soon = try #require(try queue.text("select to_json(now() + interval '4 s') #>> '{}'"))
        let id = try submit(
            #"{"chain": [{"name": "early", "batch": [{"url": "URL/ok/1"}], "expires_at": ""# + soon
                + #""}, {"url": "URL/status/404,200"}]}"#)
        try queue.wait(for: id, toBe: "failed")
        try queue.wait(until: "select now() > expires_at from postrider.jobs where name = 'early'")
        try queue.connection.execute("select postrider.retry(\(id))")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.count == 3)
    }

    @Test func `later steps can read the answer of a failed member, but its result is null`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        _ = try submit(
            #"{"chain": [{"name": "fan", "mode": "settle", "batch": [{"name": "bad", "url": "URL/status/404"}, "#
                + #"{"name": "gone", "url": "http://127.0.0.1:1/", "max_attempts": 1}]}, "#
                + #"{"name": "told", "url": "URL/ok/{{fan.bad.status}}", "run_if": "$.fan.bad.status == 404"}, "#
                + #"{"name": "not", "url": "URL/ok/1", "run_if": "exists($.fan.gone)"}, "#
                + #"{"name": "list", "url": "URL/ok/l", "query": {"n": "{{fan.results}}"}, "run_if": "$.fan.results[0] == null"}]}"#
        )
        try queue.wait(until: "select count(*) = 7 from postrider_internal.results")
        #expect(target.requests.contains { $0.path == "/ok/404" })
        #expect(try queue.state(try member("told")) == "succeeded")
        #expect(try queue.state(try member("not")) == "skipped")
    }

    @Test func `a batch expands a long list by 250 elements, and retry resumes a failed expansion`() throws {
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('s', '\(target.url)')")
        let id = try submit(
            #"{"batch": {"each": ["# + (1...600).map { "\($0)" }.joined(separator: ",")
                + #"], "do": {"service": "s", "url": "/ok/{{item}}"}}}"#)
        let settle = "select postrider_internal.settle(0, true)::text"
        let members = "select count(*) from postrider_internal.members where parent_id = \(id)"
        #expect(try queue.number(members) == 0)
        _ = try queue.text(settle)
        #expect(try queue.number(members) == 250)
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
        try queue.connection.execute(
            """
            create function public.no() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
            create trigger no before insert on postrider.jobs for each row execute function public.no()
            """)
        _ = try queue.text(settle)
        #expect(try queue.state(id) == "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "template")
        let worker = try RunningWorker(queue.database, concurrency: 32)
        defer { worker.kill() }
        try queue.wait(until: "select not exists (select from postrider_internal.trees where is_draining)")
        try queue.connection.execute("drop trigger no on postrider.jobs; select postrider.retry(\(id))")
        try queue.wait(60, for: id, toBe: "succeeded")
        #expect(Set(target.requests.map(\.path)).count == 600)
        #expect(target.requests.count == 600)
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.members where parent_id = \(id) and item = to_jsonb(position)")
                == 600)
    }

    @Test(
        arguments: [
            ("services", #""service": "gone", "url": "/ok/{{item}}""#, "config"),
            ("credentials", #""url": "URL/ok/{{item}}", "credential": "gone""#, "config"),
            ("callbacks", #""url": "URL/ok/{{item}}", "on_success": "note""#, nil),
        ] as [(String, String, String?)])
    func `expanded members fail if their service or credential was deleted, but not if their callback was`(
        table: String, job: String, code: String?
    ) throws {
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('gone', '\(target.url)');
            insert into postrider.credentials (name, kind) values ('gone', 'bearer')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try submit(
            #"{"chain": [{"url": "URL/held"}, {"name": "fan", "mode": "settle", "batch": {"each": [1, 2], "do": {"#
                + job + "}}}]}")
        try TestClock.wait(10, for: "the first call") { target.requests("/held").count == 1 }
        try queue.connection.execute("delete from postrider.\(table)")
        target.release()
        try queue.wait(for: id, toBe: "succeeded")
        let ends = try queue.rows(
            "select error_code, error from postrider.job_status where parent_id = \(try member("fan")) order by id")
        #expect(ends.map { $0[0] } == [code, code])
        if code == nil {
            #expect(
                try queue.rows("select distinct callback, error from postrider.callback_errors")
                    == [["note", "callback note is no longer registered"]])
        } else {
            #expect(ends.allSatisfy { $0[1]?.contains("gone no longer exists") == true }, "\(ends)")
        }
    }

    @Test func `retry of a nested batch waits for an open cancel and then runs the batch again`() throws {
        let id = try submit(
            #"{"mode": "settle", "batch": [{"name": "s", "batch": [{"url": "URL/ok/1"}]}, {"name": "r", "url": "URL/ok/2"}]}"#
        )
        let inner = try member("s")
        let person = try PGConnection(queue.database)
        try person.execute("begin; select postrider.cancel(\(inner))")
        let database = queue.database
        let other = BackgroundThread { _ = try? PGConnection(database).execute("select postrider.retry(\(inner))") }
        try queue.waitUntilBlocked("retry")
        try person.execute("commit")
        other.join()
        #expect(try queue.state(inner) == "running")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.state(inner) == "succeeded")
        #expect(target.requests.count == 2)
    }
}
