// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The report of `worker doctor` on a real database, and its exit status.
struct DoctorCommandTests {
    private func doctor(_ database: String, _ words: [String] = [], _ environment: [String: String] = [:]) throws
        -> WorkerProcess.Outcome
    {
        try WorkerProcess.run(["doctor", "--database", database] + words, environment)
    }

    /// The line about a subject, with its grade first.
    private func line(_ subject: String, _ outcome: WorkerProcess.Outcome) -> String {
        outcome.output.split(separator: "\n").map(String.init).first { $0.dropFirst(8).hasPrefix("\(subject) ") } ?? ""
    }

    @Test func `doctor reports ok while a worker runs`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider_internal.leases where until > now())")
        let outcome = try doctor(queue.database)
        #expect(outcome.status == 0)
        for subject in [
            "libcurl", "descriptors", "database", "clocks", "autovacuum", "connections", "schema", "workers",
        ] {
            #expect(line(subject, outcome).hasPrefix("ok "), "\(subject) in \(outcome.output)")
        }
        // The test's server trades durability for speed, and the doctor reports it.
        #expect(line("durability", outcome).hasPrefix("notice "))
        #expect(line("durability", outcome).contains("switch both on"))
    }

    @Test func `doctor names pauses, missing workers and missing secrets with their remedies`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            select postrider.pause_queue('mail');
            select postrider.pause_lane('api', 'infinity');
            insert into postrider.credentials (name, kind) values ('shop', 'bearer')
            """)
        let outcome = try doctor(queue.database)
        #expect(outcome.status == 0)
        #expect(line("workers", outcome).contains("none is running, so no job is called; start one with: worker run"))
        #expect(line("queues", outcome).contains("paused: 'mail'; resume with: worker queue resume NAME"))
        #expect(line("lanes", outcome).contains("1 paused until resumed"))
        #expect(line("secrets", outcome).contains("set POSTRIDER_SECRET_KEY"))
        #expect(line("credentials", outcome).contains("logged off: 'shop'"))
        let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(line("secrets", try doctor(queue.database, [], ["POSTRIDER_SECRET_KEY": key])).hasPrefix("ok "))
        // The secret is sealed with this key. The doctor gets another key, alone and before this one.
        let folder = try TestFolder()
        try folder.write("key", key)
        let set = ["credential", "set", "shop", "--secret-key-file", folder.path("key"), "--database", queue.database]
        #expect(try WorkerProcess.run(set, input: "token").status == 0)
        let other = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="
        let shut = try doctor(queue.database, [], ["POSTRIDER_SECRET_KEY": other])
        #expect(shut.status == 1)
        #expect(line("secrets", shut).hasPrefix("fault "))
        #expect(line("secrets", shut).contains("no key here opens the secrets of 1 of 1 credentials, like \"shop\""))
        let both = try doctor(queue.database, [], ["POSTRIDER_SECRET_KEY": "\(other) \(key)"])
        #expect(line("secrets", both).hasPrefix("ok "), "\(both)")
    }

    private final class Held {
        private let connection: PGConnection

        init(_ database: String) throws { connection = try PGConnection(database) }
    }

    @Test func `doctor counts connections for a limited role and names its missing right`() throws {
        let queue = try TestQueue()
        let database = TestRole.worker.database(queue.database)
        let sessions = try (0..<40).map { _ in try Held(queue.database) }
        defer { withExtendedLifetime(sessions) {} }
        let seen = line("connections", try doctor(database)), all = line("connections", try doctor(queue.database))
        let free = [seen, all].map { Int($0.split(separator: " ").first { Int($0) != nil } ?? "") ?? 0 }
        // Other tests open and close sessions at the same time.
        #expect(abs(free[0] - free[1]) < 30, "\(seen) \(all)")
        let reads = line("transaction", try doctor(database))
        #expect(reads.hasPrefix("notice "))
        let remedy =
            "as a superuser or with ADMIN OPTION on pg_read_all_stats: grant pg_read_all_stats to test_worker"
        #expect(reads.contains(remedy))
    }

    @Test func `doctor counts connections against the limits of the login and the database`() throws {
        let queue = try TestQueue()
        let name = TestCluster.name(of: queue.database)
        let database = queue.database.replacing("user=postgres", with: "user=test_limited")
        try queue.connection.execute("create role test_limited login connection limit 5 in role postrider_worker")
        func connections() throws -> String {
            let words = line("connections", try doctor(database)).split(separator: " ")
            return words.joined(separator: " ")
        }
        let takes = "a worker takes up to 5, with --http 7"
        let ofRole = "free of the CONNECTION LIMIT of role test_limited, \(takes)"
        #expect(try connections() == "ok connections 5 \(ofRole)")
        let held = try Held(database)
        defer { withExtendedLifetime(held) {} }
        let raised = "raise it with: alter role test_limited connection limit NUMBER"
        #expect(try connections() == "fault connections 4 \(ofRole); \(raised)")
        // The test's session and the held session use this database.
        try queue.connection.execute("alter database \(name) connection limit 5")
        let ofDatabase =
            "fault connections 3 free of the CONNECTION LIMIT of database \(name), \(takes); raise it with: "
        #expect(try connections() == "\(ofDatabase)alter database \(name) connection limit NUMBER")
        // Neither limit holds for superusers.
        #expect(!line("connections", try doctor(queue.database)).contains("CONNECTION LIMIT"))
        try queue.connection.execute(
            "alter role test_limited connection limit -1; alter database \(name) connection limit -1")
        #expect(try !connections().contains("CONNECTION LIMIT"))
    }

    @Test(.enabled(if: try TestCluster.version >= 16, "reserved_connections came with PostgreSQL 16"))
    func `doctor counts reserved connections as free only for a login with the right`() throws {
        let cluster = try PrivateCluster(.init(settings: ["max_connections": "20", "reserved_connections": "12"]))
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        func connections() throws -> String {
            line("connections", try doctor(TestRole.worker.database(queue.database)))
        }
        // Three connections are reserved for superusers, and the test's session is open.
        #expect(try connections().contains(" 4 free"))
        let held = try Held(queue.database)
        defer { withExtendedLifetime(held) {} }
        let short = try connections()
        #expect(short.hasPrefix("fault ") && short.contains(" 3 free"), "\(short)")
        try queue.connection.execute("grant pg_use_reserved_connections to test_worker")
        #expect(try connections().contains(" 15 free"))
    }

    @Test(arguments: [TestRole.nobody, .client])
    func `a login that cannot run jobs is a fault with its remedy in doctor and run`(role: TestRole) throws {
        let queue = try TestQueue()
        let database = role.database(queue.database)
        let reason = role.missingRight
        let outcome = try doctor(database)
        #expect(outcome.status == 1)
        #expect(line("rights", outcome).hasPrefix("fault ") && line("rights", outcome).hasSuffix(reason), "\(outcome)")
        #expect(!outcome.output.contains("permission denied"))
        let run = try WorkerProcess.run(["run", "--database", database])
        #expect(run == WorkerProcess.Outcome(status: 64, output: "worker: --database: \(reason)\n"))
    }

    @Test func `doctor reports a limit of open files that is too low as a fault`() throws {
        let queue = try TestQueue()
        let outcome = try WorkerProcess.run(
            ["doctor", "--database", queue.database, "--concurrency", "10000"], openFiles: 1024)
        #expect(outcome.status == 1)
        #expect(line("descriptors", outcome).hasPrefix("fault "))
        #expect(line("descriptors", outcome).contains("start the worker with ulimit -n 20064"))
        #expect(line("descriptors", outcome).hasSuffix("it would make only 480 calls at once"))
        let enough = try WorkerProcess.run(
            ["doctor", "--database", queue.database, "--concurrency", "480"], openFiles: 1024)
        #expect(line("descriptors", enough).hasPrefix("ok "))
    }

    @Test func `doctor ends with 69 for an unreachable database and with 78 without a schema`() throws {
        #expect(try doctor("host=/nowhere").status == 69)
        let bare = try doctor(TestCluster.makeDatabaseText())
        #expect(bare.status == 78)
        #expect(bare.output.contains("run: worker migrate"))
        #expect(try doctor("host=/nowhere", ["--concurrency", "0"]).status == 64)
    }
}
