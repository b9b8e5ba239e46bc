// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// One job for an idle worker that waits for notifications.
struct AnnouncedJobTests {
    /// Records the statement that took each lease, and whether its session compiles plans.
    private static let log = """
        create table public.claims (job_id bigint, is_single boolean, compiles boolean);
        create function public.log() returns trigger language plpgsql security definer as $$
        begin
          insert into public.claims values (new.job_id, current_query() like '%hold_gate%',
                                            current_setting('jit')::boolean);
          return null;
        end $$;
        create trigger log after update on postrider_internal.ready
          for each row when (old.worker = 0 and new.worker > 0) execute function public.log()
        """

    private func listen(_ queue: borrowing TestQueue, _ target: TargetServer) throws {
        // The track exists and is known, and the gate is closed.
        let first = try queue.insert("url", "'\(target.url)/ok/first'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.wait(until: "select count(*) = 1 from postrider_internal.idle_workers")
        try queue.wait(until: "select last_value = 1 from postrider_internal.hold_gate")
        // While other workers may still wait for the track, an INSERT checks for them.
        try queue.connection.execute("update postrider_internal.tracks set made_at = '-infinity'")
        try queue.connection.execute("truncate public.claims")
    }

    private func isSingle(_ job: Int64, _ queue: borrowing TestQueue) throws -> String? {
        try queue.text("select is_single::text from public.claims where job_id = \(job)")
    }

    @Test func `the single-job claim takes a lone plain job, and the full claim takes all others`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(Self.log)
        try queue.connection.execute("alter database \(TestCluster.name(of: queue.database)) set jit = on")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try listen(queue, target)
        let plain = try queue.insert("url, method, body_json", "'\(target.url)/ok/plain', 'POST', '{\"a\": 1}'")
        try queue.wait(for: plain, toBe: "succeeded")
        #expect(try isSingle(plain, queue) == "true")
        // The statement reads a sequence. In a session that only uses indexes, the planner's cost for that is high
        // enough for JIT compilation.
        #expect(try queue.text("select compiles::text from public.claims where job_id = \(plain)") == "false")
        let request = try #require(target.requests("/ok/plain").first)
        #expect(request.method == "POST")
        let rich = try queue.insert("url, response_format", "'\(target.url)/ok/rich', 'json'")
        let many = try queue.number(
            """
            with added as (insert into postrider.jobs (url) select '\(target.url)/ok/' || i from generate_series(1, 5) i
                           returning id)
            select max(id) from added
            """)
        try queue.wait(for: many, toBe: "succeeded")
        try queue.connection.execute(
            """
            begin;
            insert into postrider.jobs (url, tag) values ('\(target.url)/ok/x', 'one');
            insert into postrider.jobs (url, tag) values ('\(target.url)/ok/y', 'one');
            commit
            """)
        try queue.waitUntilDone()
        // Each job is announced, so the worker does not claim the first one alone.
        #expect(
            try queue.rows(
                "select is_single::text from public.claims c join postrider.jobs j on j.id = c.job_id where j.tag = 'one'"
            )
                == [["false"], ["false"]])
        #expect(try isSingle(rich, queue) == "false")
        #expect(try isSingle(many, queue) == "false")
    }

    @Test func `a job of a just paused queue waits while a job of another queue runs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(Self.log)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try listen(queue, target)
        _ = try queue.rows("select postrider.pause_queue('default')::text")
        let held = try queue.insert("url", "'\(target.url)/ok/held'")
        let free = try queue.insert("url, queue", "'\(target.url)/ok/free', 'other'")
        try queue.wait(for: free, toBe: "succeeded")
        #expect(try queue.state(held) == "ready")
        _ = try queue.rows("select postrider.resume_queue('default')::text")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(try queue.text("select bool_or(is_single)::text from public.claims") == "false")
        try queue.wait(until: "select last_value = 1 from postrider_internal.hold_gate")
    }
}
