// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The schema changes while a worker runs.
struct SchemaChangeTests {
    /// Renames a function, as a later version may. The migration history may mark the change as breaking.
    private func rename(_ name: String, to other: String, isBreaking: Bool, _ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            begin;
            do $$ begin
              execute format('alter function %s rename to \(other)', 'postrider_internal.\(name)'::regproc::regprocedure);
            end $$;
            insert into postrider.migrations (name, checksum, worker_version, breaking)
            select '9999_future.sql', 'x', '99.0.0', true where \(isBreaking);
            commit
            """)
    }

    @Test(arguments: ["claim", "beat", "finish"])
    func `after a breaking migration, a worker finishes its calls and exits with 78 and a hint`(
        function: String
    ) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let held = try queue.insert("url", "'\(target.url)/held'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        try rename(function, to: "later", isBreaking: true, queue)
        if function == "finish" { target.release() }
        try worker.wait(for: "draining")
        target.release()
        #expect(worker.wait() == 78)
        #expect(worker.output.contains("run the newer worker"))
        #expect(target.requests.count == 1)
        if function != "finish" {
            #expect(try queue.state(held) == "succeeded")
            #expect(try queue.text("select state from postrider.worker_status") == "ended")
        }
    }

    @Test func `a worker that must enlist again after a breaking migration exits with 78 and a hint`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        try rename("enlist", to: "later", isBreaking: true, queue)
        _ = try queue.number(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and usename = 'test_worker'"
        )
        try TestClock.wait(20, for: "its end") { !worker.isRunning }
        #expect(worker.wait() == 78)
        #expect(worker.output.contains("run the newer worker"))
    }

    @Test func `a worker retries a missing function if the migration history is unchanged`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        try rename("claim", to: "later", isBreaking: false, queue)
        let id = try queue.insert("url", "'\(target.url)/ok'")
        try worker.wait(for: "statement_failed", times: 5)
        try rename("later", to: "claim", isBreaking: false, queue)
        try queue.wait(for: id, toBe: "succeeded")
        #expect(worker.count(of: "draining") == 0)
        #expect(worker.end(15) == 0)
    }
}
