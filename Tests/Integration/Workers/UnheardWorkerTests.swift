// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// A worker that can claim but cannot send heartbeats: its login may have one session fewer than it needs.
struct UnheardWorkerTests {
    @Test func `a worker without heartbeats ends its calls and claims no jobs until heartbeats return`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        let worker = try RunningWorker(queue.database)
        try queue.insert(4, "url", "'\(target.url)/held/' || i")
        try TestClock.wait(10, for: "4 calls") { target.underWay == 4 }
        let duties = """
            select pid from pg_stat_activity where usename = 'test_worker'
            and query !~ 'postrider_internal.(enlist|claim|finish|ready|schema)' and query ~ 'postrider'
            """
        try queue.connection.execute(
            "alter role test_worker connection limit 1; select pg_terminate_backend(pid) from (\(duties)) d")
        try queue.wait(
            until: "select heartbeat_at < clock_timestamp() - interval '10 s' from postrider_internal.workers")
        target.release()
        try queue.wait(until: "select count(*) = 4 from postrider_internal.results")
        // The worker only polls and tries to connect.
        let past = worker.cpuSeconds
        try queue.insert(20, "url", "'\(target.url)/ok/' || i")
        TestClock.sleep(milliseconds: 1000)
        #expect(worker.cpuSeconds - past < 0.3)
        #expect(try queue.states() == "ready 20, succeeded 4")
        try queue.connection.execute("create role other_worker login in role postrider_worker")
        let other = try RunningWorker(queue.database.replacing("user=postgres", with: "user=other_worker"))
        try other.wait(40, for: "worker_reaped")
        try queue.waitUntilDone()
        #expect(worker.count(of: "enlisted") == 1)
        #expect(other.end(15) == 0)
        try queue.connection.execute("alter role test_worker connection limit -1")
        try queue.insert(20, "url", "'\(target.url)/ok/again/' || i")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 44")
        #expect(target.requests.count == 44)
        #expect(worker.count(of: "enlisted") == 2)
        #expect(worker.end(15) == 0)
    }
}
