// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `postrider.wait`: the end of a job for scripts.
struct WaitTests {
    /// The rows that a wait returns, as id and state.
    private func wait(_ queue: borrowing TestQueue, _ id: Int64, _ timeout: String = "20 s") throws -> [[String?]] {
        try queue.rows("select w.id::text, w.state from postrider.wait(\(id), '\(timeout)') w")
    }

    private func refusal(_ session: borrowing PGConnection, _ call: String) -> [String] {
        do throws(PGError) {
            try session.execute("select * from postrider.wait(\(call))")
            return []
        } catch {
            return [error.sqlState?.rawValue ?? "", error.message, error.hint ?? ""]
        }
    }

    @Test func `wait returns the row of job_status once another session has committed the end`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let slow = try queue.insert("url", "'\(target.url)/wait/300'")
        #expect(try wait(queue, slow) == [["\(slow)", "succeeded"]])
        #expect(
            try queue.number(
                """
                select count(*) from postrider.wait(\(slow), '0') w join postrider.job_status s on s.id = w.id
                where w.status_code = s.status_code and w.finished_at = s.finished_at
                """) == 1)
        let batch = try queue.submit(to: target, #"{"batch": [{"url": "URL/ok"}, {"url": "URL/wait/100"}]}"#)
        #expect(try wait(queue, batch) == [["\(batch)", "succeeded"]])
        let chain = try queue.submit(to: target, #"{"chain": [{"url": "URL/status/404"}, {"url": "URL/ok"}]}"#)
        #expect(try wait(queue, chain) == [["\(chain)", "failed"]])
        #expect(try wait(queue, chain + 2) == [["\(chain + 2)", "skipped"]])
    }

    @Test func `wait returns no row at the timeout and holds only locks of readers`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://127.0.0.1:1/'")
        #expect(try wait(queue, id, "0") == [])
        try queue.connection.execute("begin")
        let took = try queue.connection.query(
            """
            with t as materialized (select clock_timestamp() as began),
            w as materialized (select count(*) as rows from t cross join postrider.wait(\(id), '120 ms'))
            select (extract(epoch from clock_timestamp() - t.began) * 1000)::int, w.rows from t cross join w
            """)
        #expect(took.int32(0, 0) >= 120 && took.int32(0, 0) < 5_000)
        #expect(took.int64(0, 1) == 0)
        #expect(
            try queue.number(
                """
                select count(*) from pg_locks l where l.pid = pg_backend_pid() and l.mode <> 'AccessShareLock'
                  and l.locktype <> 'virtualxid'
                """) == 0)
    }

    @Test func `an end that is concluded later counts as soon as job_status shows it`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create function public.note(bigint) returns void language sql as 'select';
            grant execute on function public.note to public;
            insert into postrider.callbacks (name, function) values ('note', 'public.note(bigint)')
            """)
        let id = try queue.insert("url, on_failure", "'http://127.0.0.1:1/', 'note'")
        try queue.connection.execute("select postrider.cancel(\(id))")
        #expect(try wait(queue, id, "0") == [["\(id)", "cancelled"]])
    }

    @Test(arguments: [
        ("null, '1 s'", "PR001", "id: must not be null"), ("1, null", "PR001", "timeout: must not be null"),
        ("1, '-1 s'", "PR001", "timeout: must be from 0 to 5 minutes"),
        ("1, '300.1 s'", "PR001", "timeout: must be from 0 to 5 minutes"),
        ("1, '1 month'", "PR001", "timeout: must be from 0 to 5 minutes"),
        ("999, '1 s'", "PR003", "job 999 does not exist"),
    ]) func `a wrong argument of wait is refused with a hint`(call: String, state: String, message: String) throws {
        let queue = try TestQueue(sharedBy: "wait")
        let found = refusal(queue.connection, call)
        #expect(Array(found.prefix(2)) == [state, message])
        #expect(found.last != "")
    }

    @Test func `wait is refused where it could not see the end of a job`() throws {
        let queue = try TestQueue()
        let other = try queue.insert("url", "'http://127.0.0.1:1/'")
        for level in ["repeatable read", "serializable"] {
            try queue.connection.execute("begin isolation level \(level)")
            let found = refusal(queue.connection, "\(other), '1 s'")
            #expect(found == ["25000", "wait sees no end of a job under \(level)", "Call it under read committed."])
            try queue.connection.execute("rollback")
        }
        for steps in [
            "begin", "begin; savepoint s", "begin; savepoint s; savepoint t",
            "begin; select pg_current_xact_id(); savepoint s",
        ] {
            try queue.connection.execute(steps)
            let own = try queue.insert("url", "'http://127.0.0.1:1/'")
            if steps.contains("savepoint") { try queue.connection.execute("release s; savepoint u") }
            let found = refusal(queue.connection, "\(own), '1 s'")
            #expect(found.first == "PR005", "\(steps)")
            #expect(found.last == "Commit, then wait.")
            try queue.connection.execute("rollback")
        }
        // A transaction that has inserted one job may wait for another.
        try queue.connection.execute("begin")
        try queue.insert("url", "'http://127.0.0.1:1/'")
        #expect(try wait(queue, other, "0") == [])
        try queue.connection.execute("rollback")
        #expect(
            refusal(queue.connection, "(select postrider.submit('{\"url\": \"http://h/\"}')), '1 s'").first == "PR005")
    }

    @Test func `a role waits only for jobs that it may see`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let id = try client.query("insert into postrider.jobs (url) values ('http://127.0.0.1:1/') returning id")
            .int64(0, 0)
        for role in [TestRole.client, .admin, .reader, .worker] {
            #expect(refusal(try role.connect(queue), "\(id), '0'") == [], "\(role)")
        }
        let stranger = refusal(try TestRole.stranger.connect(queue), "\(id), '0'")
        #expect(Array(stranger.prefix(2)) == ["PR003", "job \(id) does not exist"])
        #expect(refusal(try TestRole.nobody.connect(queue), "\(id), '0'").first == "42501")
    }

    @Test func `doctor names transactions whose wait holds up retention`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://127.0.0.1:1/'")
        let session = try PGConnection(queue.database)
        try session.execute("begin")
        let pid = try session.query("select pg_backend_pid()").int32(0, 0)
        _ = try session.query("select * from postrider.wait(\(id), '0')")
        try TestClock.wait(30, for: "a finding about the wait") {
            let report = try WorkerProcess.run(["doctor", "--database", queue.database])
            return report.output.contains(
                "transactions with postrider.wait hold up retention: pid \(pid) of postgres (")
        }
        try session.execute("commit")
        #expect(try !WorkerProcess.run(["doctor", "--database", queue.database]).output.contains("postrider.wait"))
    }
}
