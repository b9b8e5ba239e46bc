// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import Synchronization
import TestSupport
import Testing

/// A `transaction_timeout` of the role, the database or the environment ends the session of a longer transaction.
///
/// The worker's transactions set their own limits instead.
@Suite(.enabled(if: try TestCluster.version >= 17, "transaction_timeout came with PostgreSQL 17"))
struct TransactionTimeoutTests {
    private static let limit = "200ms"
    /// Judging this answer takes a second.
    private static let large = "[" + String(repeating: "1,", count: 2_000_000) + "1]"

    private let target: TargetServer

    init() throws {
        target = try TargetServer { request in TargetStep.answer(200, request.path == "/large" ? Self.large : "{}") }
    }

    /// Sets the limit for all later sessions of a worker.
    private func setLimit(in queue: borrowing TestQueue) throws {
        let database = TestCluster.name(of: queue.database)
        try queue.connection.execute(
            "alter role \(TestRole.worker.name) in database \(database) set transaction_timeout = '\(Self.limit)'")
    }

    /// Makes functions that take three times as long as the limit: one for callbacks, one for hooks.
    ///
    /// Answers may be judged for a minute, so that a busy machine ends none of them as `too_expensive`.
    private func makeSlowFunctions(in queue: borrowing TestQueue) throws {
        try CallbackLog.make(in: queue)
        try queue.connection.execute("update postrider.settings set judge_timeout = '1 min'")
        try queue.connection.execute(
            """
            create function app.slow_note(job bigint) returns void language sql as $$
              insert into app.log (job, event) values (job, 'callback');
              select pg_sleep(0.6) $$;
            create function app.slow_hook(job bigint, event text) returns void language sql as $$
              insert into app.log (job, event) values (job, event);
              select pg_sleep(0.6) $$;
            insert into postrider.callbacks (name, function) values ('slow_note', 'app.slow_note(bigint)');
            insert into postrider.hooks (event, function) values
              ('will_start', 'app.slow_hook(bigint, text)'), ('did_stop', 'app.slow_hook(bigint, text)')
            """)
    }

    /// Runs jobs whose functions, and whose judging, take longer than the limit.
    private func runSlowJobs(in queue: borrowing TestQueue, _ worker: RunningWorker) throws {
        for _ in 1...2 {
            let id = try queue.insert(
                "url, response_format, validator, on_success",
                "'\(target.url)/large', 'json', '[\"number\"]', 'slow_note'")
            try queue.wait(30, for: id, toBe: "succeeded")
            #expect(try CallbackLog.lines(queue, of: id) == ["will_start", "callback", "did_stop"])
        }
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
        #expect(
            worker.count(of: "connection_lost") == 0 && worker.count(of: "statement_failed") == 0, "\(worker.output)")
        #expect(target.requests.count == 2)
    }

    @Test func `transaction_timeout does not end a worker session during long judging or slow functions`() throws {
        let queue = try TestQueue()
        try makeSlowFunctions(in: queue)
        try setLimit(in: queue)
        let worker = try RunningWorker(queue.database)
        try runSlowJobs(in: queue, worker)
        #expect(worker.end(15) == 0)
    }

    @Test func `behind PgBouncer, transaction_timeout spares the worker and still applies to other clients`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        try makeSlowFunctions(in: queue)
        try queue.connection.execute("alter database postgres set transaction_timeout = '\(Self.limit)'")
        let bouncer = try Bouncer(before: cluster, connections: 1)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        try runSlowJobs(in: queue, worker)
        #expect(worker.end(15) == 0)
        #expect(try PGConnection(bouncer.connectionString).query("show transaction_timeout").text(0, 0) == Self.limit)
    }

    @Test func `pruning jobs works although a step takes longer than transaction_timeout`() throws {
        let queue = try TestQueue()
        try queue.insert(100, "url, tag", "'http://h/' || i, 'old'")
        _ = try queue.number("select postrider.cancel_all(tag => 'old')")
        try queue.connection.execute(
            """
            update postrider.settings set retention = '5 min';
            update postrider_internal.results set finished_at = now() - interval '31 days';
            update postrider_internal.jobs_1 set created_at = now() - interval '31 days';
            create table plain (job_id bigint references postrider.jobs);
            create table bound (job_id bigint references postrider.jobs on delete cascade);
            create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(0.6); return old; end $$;
            create trigger wait before delete on bound for each row execute function wait();
            insert into plain values (17);
            insert into bound values (18)
            """)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1000000)")
        try setLimit(in: queue)
        let worker = try RunningWorker(queue.database)
        try queue.wait(30, until: "select count(*) <= 1 from postrider.jobs")
        #expect(
            worker.count(of: "connection_lost") == 0 && worker.count(of: "statement_failed") == 0, "\(worker.output)")
    }

    @Test func `a migration may take longer than transaction_timeout`() throws {
        let database = try TestCluster.makeDatabaseText()
        let limit = ["PGOPTIONS": "-c transaction_timeout=\(Self.limit)"]
        let outcome = try WorkerProcess.run(["migrate", "--database", database], limit)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `reading the metrics may take longer than transaction_timeout`() throws {
        let queue = try TestQueue()
        try setLimit(in: queue)
        let watched = try WatchedWorker(queue.database)
        try watched.wait(until: "/readyz", hasStatus: 200)
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; lock table postrider_internal.job_totals in access exclusive mode")
        let pages = watched.pages
        let isUp = Mutex(false)
        let reading = BackgroundThread {
            let lines = (try? pages.read("/metrics").lines) ?? []
            isUp.withLock { $0 = lines.contains("postrider_database_up 1") }
        }
        try queue.waitUntilBlocked("queue_status")
        // Three times the limit.
        try queue.wait(
            until: """
                select bool_and(xact_start < clock_timestamp() - interval '600 ms') from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'
                """)
        try holder.execute("commit")
        reading.join()
        #expect(isUp.withLock { $0 })
    }
}
