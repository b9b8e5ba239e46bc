// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// A worker stops while the database does not answer: a claim's commit waits for a standby that is gone.
struct SilentDatabaseTests {
    private let cluster: PrivateCluster
    private let target: TargetServer

    init() throws {
        cluster = try PrivateCluster()
        target = try TargetServer()
    }

    /// A worker whose claim of one job waits for its commit.
    private func waitingWorker(_ queue: borrowing TestQueue, drain: String) throws -> RunningWorker {
        let worker = try RunningWorker(queue.database, ["--drain", drain])
        // From here on the worker knows its track, and a notification of another job leads to a claim.
        let first = try queue.insert("url", "'\(target.url)/ok/first'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.wait(until: "select exists (select from postrider_internal.idle_workers)")
        try queue.connection.execute("set synchronous_commit = local")
        try setStandbys("gone")
        // The setting takes effect a moment after the server reports it. A waiting heartbeat of the worker shows the
        // effect.
        try waitUntilCommitWaits(for: "postrider")
        // Only the claim of such a job waits for its commit.
        try queue.insert("url, method, delivery", "'\(target.url)/ok', 'POST', 'at_most_once'")
        try waitUntilCommitWaits(for: "postrider_internal.(claim|ready)")
        return worker
    }

    private func waitUntilCommitWaits(for statement: String) throws {
        let connection = try PGConnection(cluster.connectionString())
        try TestClock.wait(10, for: "a commit of \(statement) to wait") {
            try connection.query(
                "select count(*) > 0 from pg_stat_activity where wait_event = 'SyncRep' and query ~ '\(statement)'"
            ).bool(0, 0)
        }
    }

    private func setStandbys(_ names: String) throws {
        let connection = try PGConnection(cluster.connectionString())
        try connection.execute("alter system set synchronous_standby_names = '\(names)'")
        try connection.execute("select pg_reload_conf()")
        try TestClock.wait(10, for: "the setting") {
            try connection.query("select current_setting('synchronous_standby_names') = '\(names)'").bool(0, 0)
        }
    }

    @Test(arguments: [("1h", 2), ("500ms", 1)])
    func `a worker with an unanswered claim exits with 70 after its drain or a second signal`(
        drain: String, signals: Int
    ) throws {
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        let worker = try waitingWorker(queue, drain: drain)
        let past = worker.cpuSeconds
        worker.send(SIGTERM)
        try worker.wait(for: "draining")
        if signals == 2 { worker.send(SIGTERM) }
        let asked = TestClock.now
        var used = past
        try TestClock.wait(10, for: "its end") {
            used = max(used, worker.cpuSeconds)
            return !worker.isRunning
        }
        // 5 s remain to deregister, during which the worker only waits.
        #expect(TestClock.seconds(since: asked) < Soak.seconds(6.5))
        #expect(used - past < 0.5)
        #expect(worker.wait() == 70)
        #expect(target.requests.count == 1)
    }

    @Test func `jobs of a claim answered after the drain are handed back without a call`() throws {
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        let worker = try waitingWorker(queue, drain: "0s")
        worker.send(SIGTERM)
        try worker.wait(for: "draining")
        try setStandbys("")
        #expect(worker.wait() == 0)
        let states = try queue.states()
        #expect(["ready 1, succeeded 1", "scheduled 1, succeeded 1"].contains(states), "\(states)")
        #expect(try queue.number("select count(*) from postrider.job_status where attempt = 0") == 1)
        #expect(target.requests.count == 1)
        #expect(worker.count(of: "handed_back") == 1)
    }
}
