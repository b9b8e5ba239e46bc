// SPDX-License-Identifier: Apache-2.0

import JobStore
import Migrations
import PGClient
import TestSupport
import Testing

/// A numbered file after the baseline is applied to a database in use.
struct MigrationUpgradeTests {
    private static let invented = MigrationFile(
        name: "0016_invented.sql",
        bytes: Array(
            """
            -- breaking: no
            alter table postrider.jobs add column shade text default 'grey';
            alter table postrider_internal.ready add column weight int not null default 1;
            alter table postrider_internal.scheduled add column weight int;
            alter table postrider_internal.results add column taste text;
            alter table postrider_internal.trees add column height int;
            update postrider.settings set idempotency_header = 'X-Key';
            """.utf8))

    @Test func `jobs in many states continue after a numbered file is applied to their database`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try queue.connection.execute("select postrider.pause_queue('nobody')")
        let held = try queue.insert("url", "'\(target.url)/held/1'")
        let chain = try queue.number(
            #"select postrider.submit('{"chain": [{"url": "\#(target.url)/held/2"}, {"url": "\#(target.url)/ok/3"}]}')"#
        )
        let done = try queue.insert("url", "'\(target.url)/ok/4'")
        let failed = try queue.insert("url", "'\(target.url)/status/404'")
        let retried = try queue.insert("url, backoff", "'\(target.url)/status/503,200', '{1 h}'")
        let later = try queue.insert("url, run_at", "'\(target.url)/ok/5', now() + interval '1 h'")
        let ready = try queue.insert("url, queue", "'\(target.url)/ok/6', 'nobody'")
        for (job, state) in [(held, "running"), (done, "succeeded"), (failed, "failed")] {
            try queue.wait(for: job, toBe: state)
        }
        try queue.wait(until: "select exists (select from postrider_internal.past_attempts where job_id = \(retried))")
        try TestClock.wait(20, for: "the first step of the chain") { target.underWay == 2 }
        let before = try queue.states()

        let applied = try Migrator(files: Migrations.all + [Self.invented]).migrate(queue.connection).applied
        #expect(applied.first == "0016_invented.sql")
        #expect(applied.count == 1 + Migrations.all.count { $0.name.contains("/") })
        #expect(try queue.states() == before)

        target.release()
        for job in [held, chain] { try queue.wait(for: job, toBe: "succeeded") }
        #expect(worker.end(15) == 0)
        // A worker of the earlier version may also start after the migration.
        let second = try RunningWorker(queue.database)
        try queue.connection.execute(
            """
            select postrider.resume_queue('nobody'),
                   postrider.reschedule(\(later), now()), postrider.reschedule(\(retried), now())
            """)
        let shaded = try queue.insert("url, shade", "'\(target.url)/ok/7', 'blue'")
        for job in [ready, retried, later, shaded] { try queue.wait(for: job, toBe: "succeeded") }
        try queue.connection.execute("select postrider.retry(\(failed))")
        try queue.wait(until: "select count(*) = 2 from postrider.attempts where job_id = \(failed)")
        #expect(second.count(of: "statement_failed") == 0)
        #expect(try queue.text("select shade from postrider.jobs where id = \(done)") == "grey")
    }
}
