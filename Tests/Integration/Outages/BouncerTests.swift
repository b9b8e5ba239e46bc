// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// A worker that can reach PostgreSQL only through PgBouncer in transaction mode.
struct BouncerTests {
    @Test func `a worker with --prepare off runs jobs through PgBouncer and finds them by polling`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        let bouncer = try Bouncer(before: cluster)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        try worker.wait(for: "enlisted")
        try queue.insert(500, "method, url", "'POST', '\(target.url)/wait/5/' || i")
        try queue.waitUntilDone(20)
        #expect(try queue.states() == "succeeded 500")
        #expect(target.requests.count == 500)
        for number in 1...4 {
            // After this time, the idle worker polls at its slowest pace, every 250 ms.
            TestClock.sleep(milliseconds: 300)
            let inserted = TestClock.now
            try queue.insert("url", "'\(target.url)/ok/single/\(number)'")
            try TestClock.wait(5, for: "call \(number)") { !target.requests("/ok/single/\(number)").isEmpty }
            #expect(TestClock.seconds(since: inserted) < Soak.seconds(1))
        }
        // Behind PgBouncer a worker cannot receive NOTIFY, so it never registers as idle.
        #expect(try queue.number("select count(*) from postrider_internal.idle_workers") == 0)
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
        #expect(worker.end(15) == 0)
    }

    @Test
    func `workers behind PgBouncer run jobs if the default isolation level is serializable`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        try queue.connection.execute(
            "do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', current_database()); end $$"
        )
        let bouncer = try Bouncer(before: cluster, connections: 4)
        let workers = try (1...2).map { _ in try RunningWorker(bouncer.connectionString, ["--prepare", "off"]) }
        for worker in workers { try worker.wait(for: "enlisted") }
        for _ in 1...20 { try queue.insert(25, "url", "'\(target.url)/wait/5/' || i") }
        try queue.waitUntilDone(20)
        for worker in workers { #expect(worker.end(15) == 0) }
        for worker in workers { #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)") }
        #expect(try queue.number("select count(*) from postrider_internal.workers where ended_at is null") == 0)
    }

    @Test func `behind PgBouncer, an open cancel of a running job does not delay other jobs`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        let bouncer = try Bouncer(before: cluster)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        let other = try PGConnection(queue.database)
        let id = try queue.cancelOpenly(other, target)
        let plain = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: plain, toBe: "succeeded")
        #expect(try queue.state(id) == "running")
        try other.execute("rollback")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests("/held").count == 1)
        #expect(worker.count(of: "worker_reaped") == 0)
    }

    @Test(arguments: [false, true])
    func `a worker adds partitions through PgBouncer, also with a large overflow, and jobs use them`(
        isLarge: Bool
    ) throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        if isLarge { try queue.overflow(from: 2_000_001) }
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1999900)")
        let bouncer = try Bouncer(before: cluster)
        let worker = try RunningWorker(bouncer.connectionString, concurrency: 16, ["--prepare", "off"])
        try worker.wait(for: "partition_added")
        // With a large overflow the new range begins a hundred million ids ahead, and the ids jump there
        // (bound_overflow.sql).
        if isLarge { try queue.wait(until: "select last_value > 100000000 from postrider.jobs_id_seq") }
        try queue.insert(300, "url", "'\(target.url)/ok/' || i")
        try queue.wait(20, until: "select count(*) = 300 from postrider.job_status where state = 'succeeded'")
        // Without a jump the ids go on at 1,999,901: jobs_2 ends at 2,000,000 and takes 100 jobs, jobs_3 takes 200.
        #expect(try queue.number("select count(*) from postrider_internal.jobs_3") == (isLarge ? 300 : 200))
        #expect(try queue.number("select count(*) from postrider_internal.results_3") == (isLarge ? 300 : 200))
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
    }

    @Test func `behind PgBouncer, a run_if that takes minutes fails its chain without delaying heartbeats`() throws {
        let large = "[" + Array(repeating: "1", count: 30_000).joined(separator: ",") + "]"
        let target = try TargetServer { _ in TargetStep.answer(200, large) }
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        let bouncer = try Bouncer(before: cluster, connections: 4)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        // The leader declares a worker lost only after some worker has had heartbeats without a gap for 10 s.
        try queue.wait(
            until:
                "select count(*) > 0 from postrider_internal.workers where steady_since < clock_timestamp() - interval '10 s'"
        )
        let evil = try queue.number(
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "\(target.url)/large"}, {"url": "\(target.url)/next",
              "run_if": "exists($.a.body[*] ? (exists($.a.body[*] ? (@ == 3))))"}]}')
            """)
        try queue.wait(90, for: evil, toBe: "failed")
        #expect(target.requests.count == 1)
        #expect(worker.count(of: "enlisted") == 1 && worker.count(of: "worker_reaped") == 0)
    }
}
