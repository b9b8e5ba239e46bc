// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Row-level security that an operator has added to tables of the schema. No statement fails, but jobs do not run.
struct RowSecurityTests {
    private func doctor(_ database: String) throws -> (status: Int32, fault: String?) {
        let outcome = try WorkerProcess.run(["doctor", "--database", database])
        let line = outcome.output.split(separator: "\n").first { $0.contains(" row security ") }
        return (outcome.status, line.map(String.init))
    }

    @Test func `a worker reports row-level security that hides rows and runs jobs after it is disabled`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let database = TestRole.worker.database(queue.database)
        try queue.connection.execute("alter table postrider.jobs enable row level security")
        let advice =
            "row-level security on postrider.jobs hides rows from test_worker, so that jobs do not run; as the schema's owner: "
            + "alter table postrider.jobs disable row level security"
        let found = try doctor(database)
        #expect(found.status == 1 && found.fault?.hasPrefix("fault ") == true)
        #expect(found.fault?.hasSuffix(advice) == true, "\(found)")
        #expect(try doctor(queue.database).fault == nil)
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        #expect(worker.count(of: "row_security") == 1 && worker.output.contains(advice), "\(worker.output)")
        try queue.connection.execute("alter table postrider.jobs disable row level security")
        let id = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `doctor accepts a row policy that shows workers all rows and rejects narrower policies`() throws {
        let queue = try TestQueue()
        let database = TestRole.worker.database(queue.database)
        func found(_ sql: String) throws -> String? {
            try queue.connection.execute(sql)
            return try doctor(database).fault
        }
        #expect(
            try found(
                """
                alter table postrider.jobs enable row level security;
                create policy workers on postrider.jobs to postrider_worker using (true)
                """) == nil)
        #expect(try found("alter policy workers on postrider.jobs to postrider_client") != nil)
        #expect(try found("alter policy workers on postrider.jobs to public") == nil)
        #expect(try found("alter policy workers on postrider.jobs using (queue = 'mail')") != nil)
        #expect(try found("alter policy workers on postrider.jobs using (true) with check (queue = 'mail')") != nil)
        #expect(try found("alter policy workers on postrider.jobs to postrider_worker with check (true)") == nil)
        #expect(try found("create policy narrow on postrider.jobs as restrictive using (queue = 'mail')") != nil)
        // A forced policy also applies to functions that run as the owner.
        let forced = try found(
            "drop policy narrow on postrider.jobs; alter table postrider.jobs force row level security")
        #expect(forced?.contains(" hides rows from postrider_owner, ") == true, "\(forced ?? "")")
    }

    @Test func `commands report row-level security on the migration history instead of a missing schema`() throws {
        let queue = try TestQueue()
        let database = TestRole.worker.database(queue.database)
        try queue.connection.execute(
            """
            do $$ declare v_table regclass; begin
              for v_table in select oid from pg_class
                where relnamespace = any (postrider_internal.own_schemas())
                  and relkind in ('r', 'p') loop
                execute format('alter table %s enable row level security', v_table);
              end loop;
            end $$
            """)
        let found = try doctor(database)
        #expect(found.status == 1)
        #expect(found.fault?.contains(" more hides rows from test_worker, so that jobs do not run") == true, "\(found)")
        #expect(found.fault?.hasSuffix(", for each of them; see docs/roles.md") == true, "\(found)")
        let run = try WorkerProcess.run(["run", "--database", database])
        #expect(run.status == 78 && !run.output.contains("worker migrate"), "\(run)")
        #expect(run.output.contains("worker: row-level security on postrider."), "\(run)")
        let jobs = try WorkerProcess.run(["jobs", "--database", TestRole.reader.database(queue.database)])
        #expect(jobs.status == 78 && jobs.output.contains(" hides rows from test_reader"), "\(jobs)")
    }
}
