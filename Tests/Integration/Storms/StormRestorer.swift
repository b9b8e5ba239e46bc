// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport

/// Sets a database back to an earlier state by a template, while attacks on the server go on.
struct StormRestorer: Sendable {
    private static let copy = "saved"

    let cluster: PrivateCluster
    let database: String
    let log: IsolationLog

    /// Saves the present state. Returns the time in seconds since 1970.
    func save() throws -> ClosedRange<Double> {
        try during {
            try execute("alter database \(database) allow_connections false")
            try execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '\(database)'")
            try execute("create database \(Self.copy) template \(database) strategy file_copy")
            try execute("alter database \(database) allow_connections true")
        }
    }

    /// Shows the saved state to `look`, then replaces the present state with it.
    func restore(_ look: (borrowing PGConnection) throws -> Void) throws -> ClosedRange<Double> {
        try Self.read(cluster.connectionString(database: Self.copy), look)
        return try during {
            try execute("drop database if exists \(database) with (force)")
            try execute("create database \(database) template \(Self.copy) strategy file_copy")
            try execute("drop database \(Self.copy)")
        }
    }

    /// Reads from a database. Repeats this until the server has locks for it.
    static func read<Value>(_ text: String, _ body: (borrowing PGConnection) throws -> Value) throws -> Value {
        let end = TestClock.now + 120_000_000_000
        while true {
            do {
                return try body(PGConnection(text))
            } catch {
                guard TestClock.now < end else { throw error }
                TestClock.sleep(milliseconds: 50)
            }
        }
    }

    private func during(_ body: () throws -> Void) throws -> ClosedRange<Double> {
        let began = IsolationLog.wallTime
        try body()
        let times = began...IsolationLog.wallTime
        log.disturb(times)
        return times
    }

    /// Executes a statement. Repeats it until the shortage is over.
    private func execute(_ sql: String) throws {
        let end = TestClock.now + 120_000_000_000
        while true {
            do throws(PGError) {
                return try PGConnection(cluster.connectionString()).execute(sql)
            } catch {
                guard error.sqlState?.rawValue.hasPrefix("53") == true || error.sqlState?.rawValue == "55006",
                    TestClock.now < end
                else { throw error }
                TestClock.sleep(milliseconds: 50)
            }
        }
    }
}
