// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// PostgreSQL stops and starts under load. No user helps the worker.
struct DatabaseOutageTests {
    @Test(arguments: [PrivateCluster.StopMode.fast, .immediate])
    func `a restart of PostgreSQL under load loses no job, and workers use little CPU meanwhile`(
        mode: PrivateCluster.StopMode
    ) throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let workers: [RunningWorker]
        do {
            let queue = try TestQueue(on: cluster)
            workers = [
                try RunningWorker(queue.database, concurrency: 32), try RunningWorker(queue.database, concurrency: 32),
            ]
        }
        for round in 1...Soak.count(5, reduced: 1) {
            let before = target.requests.count
            do {
                let connection = try PGConnection(cluster.connectionString())
                try connection.execute(
                    """
                    insert into postrider.jobs (method, url)
                    select 'POST', '\(target.url)/wait/50/\(round)/' || i from generate_series(1, 3000) i
                    """)
            }
            try TestClock.wait(20, for: "calls") { target.requests.count > before + 500 }
            let stopped = TestClock.now
            let failures = workers.map(Self.failures)
            cluster.stop(mode)
            let cpu = workers.map(\.cpuSeconds)
            try TestClock.wait(20, for: "five attempts to connect behind the loss") {
                zip(workers, failures).allSatisfy { Self.failures($0) >= $1 + 6 }
            }
            // The waits before the tries are at least 25, 50, 100, 200 and 400 ms.
            #expect(TestClock.seconds(since: stopped) > 0.77)
            for (worker, past) in zip(workers, cpu) {
                #expect(worker.isRunning)
                #expect(worker.cpuSeconds - past < 0.5)
            }
            try cluster.start()
            let started = TestClock.now
            let after = target.requests.count
            try TestClock.wait(10, for: "calls after the start") { target.requests.count > after }
            #expect(TestClock.seconds(since: started) < Soak.seconds(10))
            let connection = try PGConnection(cluster.connectionString())
            let left =
                "select (select count(*) from postrider.jobs) - (select count(*) from postrider_internal.results)"
            try TestClock.wait(60, for: "no job left") { try connection.query(left).int64(0, 0) == 0 }
            #expect(
                try connection.query("select count(*) from postrider_internal.results where state <> 's'").int64(0, 0)
                    == 0)
            #expect(
                try connection.query("select count(*) from postrider_internal.results").int64(0, 0) == Int64(round)
                    * 3000)
        }
        try TestQueue(opening: cluster.connectionString()).report(
            .final, attack: "PostgreSQL is stopped and started under load (fast, immediate)",
            rounds: Soak.count(5, reduced: 1), calls: target.requests.count)
        let made = Set(target.requests.map(\.path)).count
        #expect(made == 3000 * Soak.count(5, reduced: 1))
        for worker in workers { #expect(worker.end(15) == 0) }
    }

    /// The number of times that the session for duties was lost or could not connect.
    private static func failures(_ worker: RunningWorker) -> Int {
        worker.output.split(separator: "\n").count {
            $0.contains("\"event\":\"connection_lost\"") && $0.contains("\"session\":\"duties\"")
        }
    }

    @Test func `repeated termination of a worker's sessions loses no job and makes no unexplained call`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 32)
        // A worker ends if its first check of the schema fails.
        try worker.wait(for: "enlisted")
        let rounds = Soak.count(30, reduced: 6)
        let started = TestClock.now
        var thirds = 0
        for round in 1...rounds {
            try queue.insert(300, "method, url", "'POST', '\(target.url)/wait/30/\(round)/' || i")
            try TestClock.wait(20, for: "a call of round \(round)") {
                target.requests.contains { $0.path.hasPrefix("/wait/30/\(round)/") }
            }
            try worker.wait(for: "connected", times: 2 * round)
            let ended = try queue.number(
                """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                """)
            #expect(ended <= 3)
            thirds += ended == 3 ? 1 : 0
        }
        // One session claims, one does the duties, and a third one prunes. The third exists only for a moment, at least
        // 10 s after its worker became the leader.
        #expect(thirds <= Int(TestClock.seconds(since: started) / 10))
        try queue.waitUntilDone(30)
        let unexplained = try queue.unexplainedCalls(target)
        try queue.report(
            .final, attack: "all sessions of a worker are terminated again and again", rounds: rounds,
            calls: target.requests.count, unexplained: unexplained.count)
        #expect(try queue.states() == "succeeded \(rounds * 300)")
        #expect(unexplained == [])
        #expect(worker.count(of: "enlisted") >= rounds)
        // Two sessions, each with one loss per round. More would mean tries without a wait.
        #expect(worker.count(of: "connected") <= 2 * (rounds + 1))
        #expect(worker.end(15) == 0)
    }

    @Test func `a worker stopped while the database is away exits with 69 and logs the reason`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let worker: RunningWorker
        do {
            let queue = try TestQueue(on: cluster)
            worker = try RunningWorker(queue.database, ["--drain", "1s"])
            try queue.insert("url", "'\(target.url)/held'")
            try TestClock.wait(20, for: "the call") { target.underWay == 1 }
        }
        cluster.stop(.fast)
        #expect(worker.end(SIGTERM) == 69)
        #expect(worker.output.contains("the database could not be reached at the end"))
    }
}
