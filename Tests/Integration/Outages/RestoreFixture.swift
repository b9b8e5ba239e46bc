// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport

@testable import PrivateCluster

/// The ways in which a database returns to an earlier state.
enum RestoreKind: String, CaseIterable {
    /// `create database … template` of a copy.
    case template
    /// `pg_dump` and `pg_restore` into a new database.
    case dump
    /// A base backup, recovered to an earlier moment.
    case recovery
    /// A base backup, started unchanged. The server takes it for its own data after a crash.
    case dataFolder
    /// The promotion of a standby that lags behind.
    case standby
}

/// A server whose database is set back to an earlier state while workers run.
final class RestoreFixture {
    private let kind: RestoreKind
    private let primary: PrivateCluster
    /// The server with the base backup, or the standby.
    private let other: PrivateCluster?
    /// The connection string of the workers.
    let workersDatabase: String
    /// The database at the moment.
    private(set) var queue: TestQueue

    init(_ kind: RestoreKind) throws {
        self.kind = kind
        primary = try PrivateCluster()
        switch kind {
        case .template, .dump:
            other = nil
            queue = try TestQueue(on: primary, database: "app")
        case .recovery, .dataFolder, .standby:
            other = try PrivateCluster()
            other?.stop()
            queue = try TestQueue(on: primary)
        }
        workersDatabase =
            kind == .standby
            ? queue.database.replacing(
                "host=\(primary.directory)", with: "host=\(primary.directory),\(other?.directory ?? "")")
            : queue.database
    }

    /// Saves the present state.
    func save() throws {
        switch kind {
        case .template: try copy("app", to: "snap")
        case .dump:
            let schemas = ["-n", "postrider", "-n", "postrider_internal"]
            try run("pg_dump", ["-Fc"] + schemas + ["-f", "\(primary.directory)/dump", queue.database])
        case .recovery, .dataFolder: try makeBackup([])
        case .standby:
            try makeBackup(["-R"])
            try other?.start()
            try queue.wait(until: "select exists (select from pg_stat_replication where state = 'streaming')")
            let standby = try PGConnection(standbyText)
            try standby.execute("alter system set primary_conninfo = ''")
            try standby.execute("select pg_reload_conf()")
            try queue.wait(until: "select not exists (select from pg_stat_replication)")
        }
    }

    /// Shows the saved state to `look`, then replaces the present state with it.
    func restore(_ look: (borrowing PGConnection) throws -> Void) throws {
        switch kind {
        case .template:
            try look(PGConnection(primary.connectionString(database: "snap")))
            try replace { try self.server("create database app template snap") }
        case .dump:
            try server("create database fresh template template0")
            let fresh = primary.connectionString(database: "fresh")
            try run("pg_restore", ["-e", "-d", fresh, "\(primary.directory)/dump"])
            try look(PGConnection(fresh))
            try replace { try self.server("alter database fresh rename to app") }
        case .recovery, .dataFolder:
            try other?.start()
            let restored = try PGConnection(standbyText)
            try TestClock.wait(20, for: "the end of recovery") {
                try !restored.query("select pg_is_in_recovery()").bool(0, 0)
            }
            try look(restored)
            other?.stop()
            primary.stop(.immediate)
            try run("rm", ["-rf", "\(primary.directory)/data"])
            try run("mv", ["\(other?.directory ?? "")/data", "\(primary.directory)/data"])
            try primary.start()
            queue = try TestQueue(opening: queue.database)
        case .standby:
            try look(PGConnection(standbyText))
            primary.kill()
            try PGConnection(standbyText).execute("select pg_promote()")
            queue = try TestQueue(opening: standbyText)
        }
    }

    /// Connects to the standby even while it is read-only.
    private var standbyText: String { (other?.connectionString() ?? "") + " target_session_attrs=any" }

    private func server(_ sql: String) throws { try PGConnection(primary.connectionString()).execute(sql) }

    private func replace(_ body: () throws -> Void) throws {
        try server("drop database app with (force)")
        try body()
        queue = try TestQueue(opening: queue.database)
    }

    /// A template may have no sessions, so the workers are kept out during the copy.
    private func copy(_ source: String, to copy: String) throws {
        let text = queue.database
        try server("alter database \(source) allow_connections false")
        try server("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '\(source)'")
        try server("create database \(copy) template \(source)")
        try server("alter database \(source) allow_connections true")
        queue = try TestQueue(opening: text)
    }

    private func makeBackup(_ words: [String]) throws {
        guard let other else { return }
        try run("rm", ["-rf", "\(other.directory)/data"])
        try run(
            "pg_basebackup",
            ["-h", primary.directory, "-U", "postgres", "-c", "fast", "-D", "\(other.directory)/data"] + words)
        guard kind == .recovery else { return }
        let settings =
            "restore_command = 'false'\\nrecovery_target = 'immediate'\\nrecovery_target_action = 'promote'\\n"
        try run(
            "sh",
            [
                "-c", "printf \"\(settings)\" >> $0/postgresql.auto.conf; touch $0/recovery.signal",
                "\(other.directory)/data",
            ])
    }

    private func run(_ program: String, _ words: [String]) throws {
        let path = program.hasPrefix("pg_") ? try ServerBinaries.find().path(program) : program
        let (status, output) = try ChildProcess.run(PrivateCluster.asServerUser() + [path] + words)
        guard status == 0 else { throw ToolFailure(description: "\(program): \(output)") }
    }

    private struct ToolFailure: Error, CustomStringConvertible {
        let description: String
    }
}
