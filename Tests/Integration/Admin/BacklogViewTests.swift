// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The views of a backlog over many lanes, and the number of rows that they read.
struct BacklogViewTests {
    private static let lanes = 300
    private static let jobs = 2000

    /// A database that all tests only read: 600,000 ready jobs in 300 lanes, and 5,000 running jobs of the first lane.
    private static let database = Result {
        let database = try TestQueue.makeDatabase()
        try PGConnection(database).execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority)
            select 'q' || i % 2, 'l' || i, 0 from generate_series(1, \(Self.lanes)) i;
            insert into postrider_internal.tracks (queue, lane, priority) values ('small', 'few', 0);
            insert into postrider_internal.ready (seq, job_id, track, max_attempts, worker)
            select i, i, 1, 5, 1 from generate_series(1, 5000) i;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts)
            select 10000 + i, i, 1 + i % \(Self.lanes), 5 from generate_series(1, \(Self.lanes * Self.jobs)) i;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts, since)
            select i, i, \(Self.lanes + 1), 5, now() - interval '1 h' from generate_series(1, 7) i;
            """)
        return database
    }

    private func backlog() throws -> TestQueue { try TestQueue(opening: Self.database.get()) }

    @Test func `queue_status and lane_status estimate large backlogs and count small and running ones exactly`()
        throws
    {
        let queue = try backlog()
        let total = Int64(Self.lanes * Self.jobs)
        let queues = try queue.rows(
            "select queue, running::text, round(ready / \(total / 2).0, 1)::text from postrider.queue_status order by 1"
        )
        #expect(queues[0][0] == "q0" && queues[0][1] == "0" && queues[1][0] == "q1" && queues[1][1] == "5000")
        for row in queues.prefix(2) { #expect(["0.8", "0.9", "1.0", "1.1", "1.2"].contains(row[2]), "\(row)") }
        let age = "oldest_ready_age between interval '1 h' and interval '70 min'"
        for view in ["queue_status where queue = 'small'", "lane_status where lane = 'few'"] {
            #expect(try queue.rows("select ready::text, (\(age))::text from postrider.\(view)") == [["7", "true"]])
        }
        #expect(try queue.number("select in_flight from postrider.lane_status where lane = 'l1'") == 5000)
        let ready = try queue.number("select sum(ready)::bigint from postrider.lane_status")
        #expect(abs(ready - total) < total / 5, "\(ready)")
        // The views count the front of each lane. They may not show fewer rows than they read.
        let least = try queue.number("select min(ready) from postrider.lane_status where lane <> 'few'")
        #expect(least >= 40_000 / Int64(Self.lanes + 2), "\(least)")
    }

    @Test func `queue_status and lane_status read at most 150,000 rows of a backlog`() throws {
        let queue = try backlog()
        let read = """
            select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
             where relid = 'postrider_internal.ready'::regclass
            """
        for view in [
            "postrider.queue_status", "postrider.lane_status",
            "(select * from postrider.lane_status where lane = 'l7')",
        ] {
            try queue.connection.execute("begin")
            let before = try queue.number(read)
            _ = try queue.rows("select v::text from \(view) v")
            let rows = try queue.number(read) - before
            // 40,000 rows at the fronts of the lanes, and about 44,000 rows in 1,000 pages.
            #expect((40_000...150_000).contains(rows), "\(view): \(rows)")
            try queue.connection.execute("commit")
        }
    }

    @Test func `the newest running jobs are found without reading the fronts of idle lanes`() throws {
        let queue = try backlog()
        let read = """
            select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
             where relid = 'postrider_internal.ready'::regclass
            """
        try queue.connection.execute(
            """
            begin; insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 1000)
            """)
        let before = try queue.number(read)
        #expect(
            try queue.rows("select id::text from postrider_internal.newest_of_state('running', null, 3)")
                == [["1100"], ["1099"], ["1098"]])
        let rows = try queue.number(read) - before
        try queue.connection.execute("rollback")
        // 20,000 rows at the fronts of all lanes, and 1,100 of the lane with calls.
        #expect((1_100...30_000).contains(rows), "\(rows)")
    }

    @Test func `queries of the status views use no JIT on large tables`() throws {
        let queue = try backlog()
        try queue.connection.execute("analyze postrider_internal.ready, postrider_internal.tracks; set jit = on")
        for view in ["queue_status", "lane_status", "recent_failures"] {
            let plan = try queue.rows("explain (analyze) select * from postrider.\(view)").compactMap(\.[0])
            #expect(!plan.contains { $0.contains("JIT") }, "\(plan.suffix(8))")
        }
    }
}
