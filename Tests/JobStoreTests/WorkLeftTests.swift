// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The answer to a worker that ends when no work is left. No worker runs.
struct WorkLeftTests {
    private static let job = "insert into postrider.jobs (url, queue, lane) values ('http://h/', 'q', 'l');"
    private static let tracks =
        "insert into postrider_internal.tracks (queue, lane, priority) values ('q', 'l', 0), ('other', 'l', 0);"
    private static let scheduled =
        "insert into postrider.jobs (url, queue, lane, run_at) values ('http://h/', 'q', 'l', now() + interval '1 min');"
    private static let waits =
        "insert into postrider_internal.credential_waits (job_id, credential, seq, run_at) values (1, 'c', 1, now());"
    private static let worker =
        "insert into postrider_internal.workers (name, version, concurrency, heartbeat_at) values ('gone', '0', 1, now() -"

    /// The changes, the work left for any queue and for q, and whether queue `other` must wait for it too.
    @Test(arguments: [
        ("", "-", false), (job, "track", false), (tracks + job, "ready", false),
        (tracks + job + "update postrider_internal.ready set worker = 1;", "-", false),
        (tracks + job + "select postrider.pause_lane('l');", "-", false),
        (tracks + job + "select postrider.pause_lane('l', now() + interval '3 s');", "ready", false),
        (
            tracks + job
                + "insert into postrider_internal.lane_pauses (lane, until, reason) values ('l', now() + interval '1 min', 'r');",
            "-", false
        ),
        (tracks + job + "select postrider.pause_queue('q');", "-", false),
        (
            "insert into postrider.jobs (url, queue, lane) select 'http://h/', 'q', 'l' from generate_series(1, 20000);",
            "intake", false
        ),
        (scheduled, "-", false), (tracks + scheduled, "-", false),
        (scheduled + "update postrider_internal.scheduled set run_at = now();", "due", false),
        (
            job
                + "delete from postrider_internal.ready; insert into postrider_internal.outcomes (job_id, attempt, state) select max(id), 1, 's' from postrider.jobs;",
            "end", false
        ),
        (
            job
                + "delete from postrider_internal.ready; insert into postrider_internal.outcomes (job_id, attempt, state, due_at) select max(id), 1, 's', now() + interval '9 s' from postrider.jobs;",
            "-", false
        ),
        ("insert into postrider_internal.tree_deltas (tree_id, run) values (1, 1);", "tree", true),
        (
            "insert into postrider_internal.tree_deltas (tree_id, run, due_at) values (1, 1, now() + interval '9 s');",
            "-", false
        ),
        (
            "insert into postrider.schedules (name, cron, spec) values ('s', '0 0 1 1 *', '{\"url\": \"http://h/\"}'); update postrider.schedules set next_run_at = now();",
            "schedule", true
        ),
        (worker + "interval '5 s');", "-", false), (worker + "interval '11 s');", "lost worker", true),
    ])
    func `work_left names the work for the worker's queues or for all queues`(
        done: String, left: String, isForAll: Bool
    ) throws {
        let queue = try TestQueue(sharedBy: #function, inTransaction: true)
        for statement in done.split(separator: ";") { try queue.connection.execute(String(statement)) }
        func told(_ queues: String) throws -> String {
            try queue.text("select postrider_internal.work_left(\(queues))") ?? "-"
        }
        #expect(try told("null") == left)
        #expect(try told("'{q}'") == left)
        #expect(try told("'{other}'") == (isForAll ? left : "-"))
    }

    @Test(arguments: [("refreshing", "token"), ("cooldown", "-")])
    func `work_left counts a job that waits for a token only during the refresh`(state: String, left: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id) values ('c',
                'oauth2_client_credentials', 'http://h/', 'c');
            update postrider.credentials set state = '\(state)';
            \(Self.scheduled) \(Self.waits)
            """)
        #expect(try queue.text("select coalesce(postrider_internal.work_left('{q}'), '-')") == left)
    }

    @Test func `work_left reads fewer than 2,000 blocks with 100,000 jobs in the queue`() throws {
        let cluster = try TestQueue.quietCluster()
        let queue = try TestQueue(on: cluster)
        let count = Soak.count(1_000_000, reduced: 100_000)
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) select 'q', 'l' || i, 0
              from generate_series(1, 100) i;
            insert into postrider.queues (name, paused) values ('q', true);
            set session_replication_role = replica;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts) select i, i, 1 + i % 100, 5
              from generate_series(1, \(count)) i;
            insert into postrider_internal.scheduled (run_at, job_id, track, max_attempts, attempt)
            select now() + interval '1 h', \(count) + i, 1 + i % 100, 5, 0 from generate_series(1, \(count)) i;
            reset session_replication_role;
            """)
        for queues in ["null", "'{q}'"] {
            _ = try queue.text("select postrider_internal.work_left(\(queues))")
            let blocks = try queue.buffers("select postrider_internal.work_left(\(queues))")
            #expect(blocks < 2_000, "\(blocks)")
        }
    }
}
