// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Outages of all workers together, longer than the ten seconds after which a silent worker is lost.
///
/// The first worker that returns has not observed the silence of the others, so it must not declare them lost.
struct CommonOutageTests {
    /// Holds the first call of each path until the test releases it. Later calls are answered at once.
    private static func target() throws -> TargetServer {
        try TargetServer { request in (request.turn == 1 ? [.held] : []) + TargetStep.answer(200) }
    }

    /// A worker that calls this path.
    private static func worker(_ queue: borrowing TestQueue, _ target: TargetServer, _ path: String) throws
        -> RunningWorker
    {
        let worker = try RunningWorker(queue.database, concurrency: 1)
        try queue.insert("url", "'\(target.url)\(path)'")
        try TestClock.wait(20, for: "the call of \(path)") { target.requests(path).count == 1 }
        return worker
    }

    @Test func `after all workers stood still, no worker is declared lost and no call is repeated`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let workers = [try Self.worker(queue, target, "/a"), try Self.worker(queue, target, "/b")]
        try queue.wait(until: "select exists (select from postrider.worker_status where leader)")
        for worker in workers { worker.send(SIGSTOP) }
        try queue.wait(
            until: "select bool_and(heartbeat_at < clock_timestamp() - interval '11 s') from postrider_internal.workers"
        )
        workers[0].send(SIGCONT)
        try queue.wait(until: "select exists (select from postrider.worker_status where leader and state = 'running')")
        // Each second, the leader first reaps lost workers and then expires jobs.
        let expired = try queue.insert("url, expires_at", "'\(target.url)/c', now() + interval '2 s'")
        try queue.wait(for: expired, toBe: "expired")
        workers[1].send(SIGCONT)
        try queue.wait(until: "select bool_and(state = 'running') from postrider.worker_status")
        target.release()
        try queue.waitUntilDone()
        #expect(try queue.states() == "expired 1, succeeded 2")
        #expect(target.requests.count == 2)
        #expect(try queue.number("select count(*) from postrider_internal.workers") == 2)
    }

    @Test
    func
        `after a database outage, only the calls of a killed worker are repeated, within 15 s`()
        throws
    {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try Self.target()
        let alive: [RunningWorker]
        let dead: RunningWorker
        let database: String
        do {
            let queue = try TestQueue(on: cluster)
            database = queue.database
            alive = [try Self.worker(queue, target, "/a"), try Self.worker(queue, target, "/b")]
            dead = try Self.worker(queue, target, "/dead")
            // A claim does not wait for its commit to reach the disk. A crash right after it undoes the claim, and the
            // call is made again.
            try queue.connection.execute("checkpoint")
        }
        cluster.stop(.immediate)
        dead.end(SIGKILL)
        TestClock.sleep(milliseconds: 11_000)
        try cluster.start()
        try TestClock.wait(10, for: "a worker to be back") { alive.contains { $0.count(of: "enlisted") == 2 } }
        let back = TestClock.now
        // The worker has a free slot.
        let fresh = try RunningWorker(database, concurrency: 1)
        try TestClock.wait(30, for: "the second call of the dead worker's job") { target.requests("/dead").count == 2 }
        #expect(TestClock.seconds(since: back) < Soak.seconds(15))
        target.release()
        let connection = try PGConnection(cluster.connectionString())
        try TestClock.wait(20, for: "all to be done") {
            try connection.query("select count(*) from postrider_internal.results where state = 's'").int64(0, 0) == 3
        }
        #expect(target.requests.count == 4)
        #expect((alive + [fresh]).map { $0.count(of: "worker_reaped") }.reduce(0, +) == 1)
    }

    @Test func `a leader reaps no worker after its own silence of 12 s, unlike after 4 s`() throws {
        let queue = try TestQueue()
        let enlist = "select worker from postrider_internal.enlist(0, 'a', '0.1.0', null, 8, '{}', '{}')"
        let first = try queue.number(enlist)
        let other = try queue.number(enlist)
        let epoch = try queue.lead(first)
        let lost = "select lost_worker::text from postrider_internal.reap(\(first), \(epoch))"
        let silence = """
            update postrider_internal.workers set steady_since = clock_timestamp() - interval '1 h',
              heartbeat_at = clock_timestamp() - interval
            """
        let beat = "select postrider_internal.beat(\(first), 0, false, false)"
        // The pause may come from a lock, a machine that stood still, or a clock that was set ahead.
        try queue.connection.execute("\(silence) '12 s'")
        #expect(try queue.rows(lost) == [])
        try queue.connection.execute(beat)
        #expect(try queue.rows(lost) == [])
        // The pause comes from lost sessions.
        try queue.connection.execute("\(silence) '12 s'")
        let again = try queue.number(
            """
            select worker from postrider_internal.enlist(
              \(first), 'a', '0.1.0', null, 8, '{}', '{}', p_identity => (select id from postrider_internal.identities))
            """)
        let next = try queue.lead(again)
        try queue.connection.execute(
            "update postrider_internal.workers set steady_since = heartbeat_at where id = \(again)")
        #expect(try queue.rows("select lost_worker::text from postrider_internal.reap(\(again), \(next))") == [])
        // A shorter pause does not count.
        try queue.connection.execute("\(silence) '4 s' where id = \(again)")
        try queue.connection.execute("select postrider_internal.beat(\(again), 0, false, false)")
        #expect(
            try queue.rows("select lost_worker::text from postrider_internal.reap(\(again), \(next))") == [["\(other)"]]
        )
    }
}
