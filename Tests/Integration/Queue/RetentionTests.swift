// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// A real worker prunes old jobs during its work.
struct RetentionTests {
    @Test func `a worker drops an old partition during work without losing jobs, answers or calls`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(2_000, "url, tag", "'http://h/' || i, 'old'")
        _ = try queue.number("select postrider.cancel_all(tag => 'old')")
        try queue.connection.execute(
            """
            update postrider_internal.results set finished_at = now() - interval '31 days', state = 's'
              where job_id > 10;
            update postrider_internal.jobs_1 set created_at = now() - interval '31 days'
            """)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1000000)")
        let workers = try (1...2).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        var count = 0
        try TestClock.wait(30, for: "the drop of the range") {
            try queue.insert(5, "url, max_attempts", "'\(target.url)/ok/\(count)-' || i, 1")
            try queue.insert("url, max_attempts", "'\(target.url)/status/500,200/\(count)', 2")
            count += 6
            return try queue.text("select to_regclass('postrider_internal.jobs_1')::text") == nil
        }
        try queue.waitUntilDone()
        #expect(try queue.number("select count(*) from postrider.jobs") == Int64(count + 10))
        #expect(try queue.number("select count(*) from postrider.job_status where state = 'succeeded'") == Int64(count))
        #expect(try queue.unexplainedCalls(target) == [])
        #expect(workers.map { $0.count(of: "range_pruned") }.reduce(0, +) == 1)
    }

    @Test func `prune keeps jobs under a user's foreign key and works despite a role's statement_timeout`() throws {
        let queue = try TestQueue()
        try queue.insert(6_000, "url, tag", "'http://h/' || i, 'old'")
        let tree = try queue.number(
            #"select postrider.submit('{"tag": "old", "chain": [{"url": "http://h/"}, {"url": "http://h/"}]}')"#)
        _ = try queue.number("select postrider.cancel_all(tag => 'old')")
        try queue.connection.execute(
            """
            update postrider.settings set retention = '5 min';
            update postrider_internal.results set finished_at = now() - interval '31 days';
            update postrider_internal.jobs_1 set created_at = now() - interval '31 days';
            create table plain (job_id bigint references postrider.jobs);
            create table bound (job_id bigint references postrider.jobs on delete cascade);
            insert into plain values (17), (5500), (\(tree + 1));
            insert into bound values (18)
            """)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1000000)")
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        // Statements before the session's own limits run under the limits of the role.
        try queue.connection.execute(
            "alter role \(TestRole.worker.name) in database \(TestCluster.name(of: queue.database)) set statement_timeout = '20ms'"
        )
        try queue.wait(60, until: "select count(*) <= 5 from postrider.jobs")
        #expect(
            try queue.rows("select id::text from postrider.jobs order by id")
                == [17, 5500, tree, tree + 1, tree + 2].map { ["\($0)"] })
        #expect(try queue.number("select count(*) from bound") == 0)
        #expect(worker.count(of: "statement_failed") == 0)
    }
}
