// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Batches and chains that are retried while one of their jobs is just ending.
final class TreeRerunTests: TreeFixture {
    /// Makes callbacks that retry their own job and its batch or chain, and hooks for all jobs on request.
    private func addCallbacks(withHooks: Bool = false) throws {
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create function app.again(bigint) returns void language sql as $$ select postrider.retry($1) $$;
            create function app.whole(bigint) returns void language sql as $$
              select postrider.retry(j.parent_id) from postrider.jobs j where j.id = $1 $$;
            grant select on postrider.jobs to postrider_worker;
            insert into postrider.callbacks (name, function) values ('again', 'app.again(bigint)'),
              ('whole', 'app.whole(bigint)')
            """)
        if withHooks {
            try queue.connection.execute(
                "insert into postrider.hooks (event, function) values ('did_stop', 'app.hook(bigint, text)')")
        }
    }

    /// Concludes all due jobs, as a worker does.
    private func conclude(_ connection: borrowing PGConnection) throws {
        while try connection.query("select more from postrider_internal.conclude(10)").bool(0, 0) {}
    }

    private func counts(_ id: Int64) throws -> [[String?]] {
        try queue.rows(
            """
            select concat_ws(' ', children, released, finished, failed, succeeded) from postrider_internal.trees
              where job_id = \(id)
            """)
    }

    @Test(arguments: [#""notify": true"#, #""callback_url": "URL/ok/told""#, #""on_failure": "note""#])
    func `retry refuses a chain until its members are concluded, then runs the chain again`(followed: String) throws {
        try addCallbacks()
        let id = try submit(
            #"{"chain": [{"url": "URL/ok/1"}, {"name": "second", "url": "URL/held/2", "# + followed
                + #"}, {"name": "third", "url": "URL/ok/3"}]}"#)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try TestClock.wait(10, for: "the second call") { target.requests("/held/2").count == 1 }
        let second = try member("second")
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("begin; select postrider.cancel(\(id)); select postrider.retry(\(id)); commit")
        }
        #expect(error?.sqlState?.rawValue == "PR005")
        #expect(error?.message == "job \(second), which is a part of it, has not finished")
        try queue.connection.execute("rollback")
        try queue.connection.execute("select postrider.cancel(\(id))")
        try queue.wait(until: "select not exists (select from postrider_internal.outcomes)")
        try queue.connection.execute("select postrider.retry(\(id))")
        try TestClock.wait(10, for: "the second call once more") { target.requests("/held/2").count == 2 }
        #expect(try queue.state(try member("third")) == "waiting")
        target.release()
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.state(second) == "succeeded")
        #expect(target.requests("/ok/1").count == 1)
        #expect(target.requests("/ok/3").count == 1)
    }

    @Test func `retry_failed leaves out a batch whose members are not concluded yet`() throws {
        try addCallbacks()
        let id = try submit(
            #"{"batch": [{"name": "bad", "url": "URL/ok/1"}, {"name": "other", "url": "URL/ok/2", "notify": true}]}"#)
        let bad = try member("bad")
        try queue.connection.execute(
            """
            select postrider.cancel(\(bad));
            update postrider_internal.results set state = 'f', error_code = 'connect' where job_id = \(bad);
            select postrider_internal.settle(0, true)
            """)
        #expect(try queue.state(id) == "failed")
        #expect(try queue.state(try member("other")) == "cancelled")
        #expect(try queue.number("select postrider.retry_failed()") == 0)
        try conclude(queue.connection)
        #expect(try queue.number("select postrider.retry_failed()") == 1)
        #expect(try queue.number("select count(*) from postrider_internal.ready where parent_id = \(id)") == 2)
    }

    @Test(arguments: [
        #"{"chain": [{"url": "URL/status/404,200"}, {"url": "URL/ok/2"}], "on_failure": "again"}"#,
        #"{"chain": [{"url": "URL/status/404,200"}, {"batch": [{"url": "URL/ok/2"}, {"chain": [{"url": "URL/ok/3"}]}]}], "on_failure": "again"}"#,
        #"{"batch": [{"url": "URL/status/404,200"}, {"batch": [{"chain": [{"url": "URL/ok/2"}]}]}], "on_failure": "again"}"#,
    ])
    func `on_failure can retry its own tree, and every job below succeeds`(spec: String) throws {
        try addCallbacks(withHooks: true)
        let workers = try (0..<3).map { _ in try RunningWorker(queue.database) }
        defer { workers.kill() }
        for _ in 1...5 {
            let id = try submit(spec)
            try queue.wait(for: id, toBe: "succeeded")
        }
        try queue.waitUntilDone()
        #expect(try queue.rows("select event, error from postrider.callback_errors") == [])
        #expect(try queue.states() == "succeeded \(try queue.number("select count(*) from postrider.jobs"))")
    }

    @Test func `callbacks of a chain wait until another worker has concluded the members`() throws {
        try addCallbacks(withHooks: true)
        let id = try submit(
            #"{"chain": [{"url": "URL/ok/1"}, {"batch": [{"name": "deep", "url": "URL/ok/2"}]}], "on_failure": "again"}"#
        )
        let deep = try member("deep")
        try queue.connection.execute("select postrider.cancel(\(id))")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider_internal.conclude(10)")
        #expect(try other.query("select job_id from postrider_internal.results").int64(0, 0) < deep)
        try other.execute("select postrider_internal.conclude(10)")
        try conclude(queue.connection)
        #expect(try queue.state(id) == "cancelled")
        #expect(try queue.number("select count(*) from app.log where job = \(id)") == 0)
        try other.execute("commit")
        try queue.wait(until: "select more from postrider_internal.conclude(10)")
        try conclude(queue.connection)
        #expect(try queue.rows("select event, error from postrider.callback_errors") == [])
        #expect(try queue.state(id) == "running")
        #expect(try queue.state(deep) == "waiting")
        #expect(try counts(id) == [["2 1 0 0 0"]])
    }

    @Test func `callbacks of a chain wait at most a minute for the callbacks of its members`() throws {
        try addCallbacks(withHooks: true)
        let id = try submit(#"{"chain": [{"name": "a", "url": "URL/ok/1"}], "on_failure": "note"}"#)
        try queue.connection.execute(
            "select postrider.cancel(\(id)); update postrider_internal.outcomes set finished_at = finished_at - interval '1 min'"
        )
        let other = try PGConnection(queue.database)
        try other.execute("begin; select from postrider_internal.outcomes where job_id = \(try member("a")) for update")
        try conclude(queue.connection)
        #expect(try CallbackLog.lines(queue, of: id) == ["callback cancelled", "did_stop cancelled"])
    }

    @Test func `a member's on_failure can retry its chain, which resets the member and its counts`() throws {
        try addCallbacks()
        let id = try submit(
            #"{"chain": [{"name": "a", "url": "URL/ok/1", "on_failure": "whole"}, {"name": "b", "url": "URL/ok/2"}]}"#)
        try queue.connection.execute("select postrider.cancel(\(id))")
        try conclude(queue.connection)
        #expect(try queue.rows("select event, error from postrider.callback_errors") == [])
        #expect(try counts(id) == [["2 1 0 0 0"]])
        #expect(try queue.state(try member("a")) == "ready")
        #expect(try queue.state(try member("b")) == "waiting")
    }

    /// Ends a member and settles its tree, as finish and settle do.
    private func end(_ id: Int64, _ state: String, of tree: Int64) throws {
        try queue.connection.execute(
            """
            delete from postrider_internal.ready where job_id = \(id);
            insert into postrider_internal.results (job_id, fence, worker, attempt, track, rekey, state) values (\(id),
                0, 0, 1, 0, 0, '\(state)');
            select postrider_internal.count_ended_members(array[\(tree)], array[\(id)], array['\(state)']::"char"[]);
            select postrider_internal.settle(0, true)
            """)
    }

    @Test(
        arguments: [
            (
                #"{"mode": "first", "batch": [{"name": "m", "url": "URL/1"}, {"name": "n", "url": "URL/2"}]}"#, "f",
                "s", "cancelled"
            ),
            (#"{"batch": [{"name": "m", "url": "URL/1"}, {"name": "n", "url": "URL/2"}]}"#, "s", "f", "cancelled"),
            (#"{"chain": [{"name": "m", "url": "URL/1"}, {"name": "n", "url": "URL/2"}]}"#, "s", "f", "skipped"),
        ])
    func `an ending tree waits for a concurrent retry of its member, then ends the member`(
        tree: (spec: String, first: String, second: String, end: String)
    ) throws {
        let id = try submit(tree.spec)
        let m = try member("m")
        try end(m, tree.first, of: id)
        // The statement has seen the tree as open, and is blocked before it removes the result.
        let keeper = try PGConnection(queue.database)
        try keeper.execute("begin; select from postrider_internal.results where job_id = \(m) for update")
        let database = queue.database
        let person = BackgroundThread {
            _ = try? PGConnection(database).query("select postrider.retry(\(m))")
        }
        try queue.waitUntilBlocked("select postrider.retry")
        try end(member("n"), tree.second, of: id)
        #expect(try queue.text("select state from postrider_internal.trees where job_id = \(id)") == "o")
        try keeper.execute("commit")
        person.join()
        #expect(try queue.state(m) == (tree.end == "skipped" ? "waiting" : "ready"))
        try queue.connection.execute("select postrider_internal.settle(0, true)")
        #expect(try queue.state(m) == tree.end)
        #expect(
            try queue.rows(
                "select children_finished::text, children_failed::text from postrider.job_status where id = \(id)")
                == [["2", "\((tree.second == "f" ? 1 : 0) + (tree.end == "cancelled" ? 1 : 0))"]])
        #expect(try queue.number("select count(*) from postrider_internal.tree_deltas") == 0)
        if tree.second == "s" {
            #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(\(id))") }
        } else {
            try queue.connection.execute("select postrider.retry(\(id))")
            #expect(try queue.state(m) == "ready")
        }
    }
}
