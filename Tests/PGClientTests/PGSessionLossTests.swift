// SPDX-License-Identifier: Apache-2.0

import Glibc
import PrivateCluster
import Reactor
import TestSupport
import Testing

@testable import PGClient

/// Lost connections. Each kind of loss leads to `lost`, a wait and a new connection.
struct PGSessionLossTests {
    @Test func `a terminated session reports its unanswered statements once and reconnects`() throws {
        let database = try TestCluster.makeDatabase()
        let killer = try PGConnection(database)
        var loop = try SessionLoop(database, setUp: ["listen jobs"])
        #expect(try loop.runUntilReady())
        loop.forget()
        let sleep = PGStatement("sleep", "select 1::int8 from pg_sleep($1::float8)")
        var parameters = PGParameters()
        parameters.append(float8: 60)
        try loop.session.send(sleep, &parameters, tag: 1)
        var one = PGSessionTests.one(1)
        try loop.session.send(PGSessionTests.echo, &one, tag: 2)
        try killer.execute("select pg_terminate_backend(\(loop.session.processID))")
        #expect(try loop.run { $0.contains(.ready) })
        let told = loop.told
        #expect(told == [.lost([1, 2]), .retry, .ready])
        let state = loop.errors[0].sqlState
        #expect(state == .adminShutdown)
        try loop.session.send(PGSessionTests.echo, &one, tag: 3)
        try killer.execute("notify jobs, 'again'")
        #expect(
            try loop.run { $0.contains(.notification("jobs", "again")) && $0.contains(.result(3, rows: 1, value: 1)) })
    }

    /// On an overloaded machine with cut sessions, a worker went into an endless busy loop over this answer.
    @Test func `a session that expects an answer unknown to libpq drops its connection`() throws {
        let database = try TestCluster.makeDatabase()
        var loop = try SessionLoop(database)
        #expect(try loop.runUntilReady())
        loop.forget()
        loop.session.stream.pipeline.append(.statement(tag: 7, PGSessionTests.echo))
        #expect(try loop.run { $0.contains(.ready) })
        let told = loop.told
        #expect(told == [.lost([7]), .retry, .ready])
    }

    @Test(arguments: [PrivateCluster.StopMode.fast, .immediate])
    func `each statement is reported exactly once while the server restarts under load`(mode: PrivateCluster.StopMode)
        throws
    {
        let cluster = try PrivateCluster()
        let string = try PGConnectionString(cluster.connectionString())
        try PGConnection(string).execute("create table t (id int8)")
        var loop = try SessionLoop(string)
        var sent: UInt64 = 0
        for round in 1...3 {
            #expect(try loop.run { told in told.count { $0 == .ready } == round })
            for _ in 0..<500 {
                sent += 1
                var parameters = PGSessionTests.one(Int64(sent))
                try loop.session.append(PGSessionTests.insert, &parameters, tag: sent)
                if sent % 3 == 0 { loop.session.commit() }
            }
            loop.session.commit()
            // Waits for some answers, so that the loss comes in the middle.
            #expect(try loop.run { $0.last != .ready })
            cluster.stop(mode)
            try cluster.start()
        }
        #expect(try loop.run { told in told.count { $0 == .ready } == 4 })
        var heard: [UInt64: Int] = [:]
        var succeeded = Set<Int64>()
        for told in loop.told {
            switch told {
            case .result(let tag, _, _):
                heard[tag, default: 0] += 1
                succeeded.insert(Int64(tag))
            case .lost(let tags): for tag in tags { heard[tag, default: 0] += 1 }
            case .failed(let tag, _), .aborted(let tag): heard[tag, default: 0] += 1
            case .ready, .notification, .retry: break
            }
        }
        #expect(heard.count == Int(sent))
        #expect(heard.values.allSatisfy { $0 == 1 })
        let rows = try PGConnection(string).query("select array_agg(id) from t")
        let stored = rows.int64s(0, 0)
        #expect(Set(stored).count == stored.count)
        // A lost statement may be stored or not. A statement reported as successful is stored.
        #expect(succeeded.subtracting(stored).isEmpty)
    }

    @Test func `a session retries a stopped server with growing waits and without a busy loop`() throws {
        let cluster = try PrivateCluster()
        var loop = try SessionLoop(try PGConnectionString(cluster.connectionString()))
        #expect(try loop.runUntilReady())
        cluster.stop(.fast)
        loop.forget()
        let turns = loop.turns - loop.staleTurns
        _ = try loop.run(seconds: 3) { _ in false }
        // The waits are 25-50, 50-100, … 800-1600 ms. After 3 s, the sixth or seventh attempt is in progress.
        let attempts = loop.session.attempts - 1
        #expect((4...9).contains(attempts))
        #expect(loop.turns - loop.staleTurns - turns < 60)
        let errors = loop.errors
        #expect(errors.allSatisfy { !$0.isConfiguration })
        try cluster.start()
        #expect(try loop.runUntilReady())
    }

    @Test func `a session retries a server that is shutting down`() throws {
        let cluster = try PrivateCluster()
        let string = try PGConnectionString(cluster.connectionString())
        let last = try PGConnection(string)
        // The smart stop waits for the test's session. Meanwhile the socket answers 57P03.
        kill(cluster.processID, SIGTERM)
        var loop = try SessionLoop(string)
        #expect(try loop.run { $0.contains(.lost([])) })
        let error = loop.errors[0]
        #expect(error.sqlState == .cannotConnectNow)
        #expect(!error.isConfiguration)
        try last.execute("select 1")
    }

    @Test func `a missing database is reported as a configuration error`() throws {
        let string = try PGConnectionString(TestCluster.shared.connectionString(database: "nowhere"))
        var loop = try SessionLoop(string)
        #expect(try loop.run { $0.contains(.retry) })
        let error = loop.errors[0]
        #expect(error.isConfiguration)
        #expect(error.sqlState == .noSuchDatabase)
        #expect(error.message.contains(#"database "nowhere" does not exist"#))
        #expect(!error.message.contains("LOCATION"))
    }

    @Test func `a wrong password is reported as a configuration error and not shown`() throws {
        let cluster = try PrivateCluster()
        let server = try PGConnection(cluster.connectionString())
        try server.execute("create role app login password 'right-one'")
        // The server writes the file itself, because the file has another owner if the test runs as root.
        try server.execute(
            "copy (select 'local all postgres trust' union all select 'local all all scram-sha-256') "
                + "to '\(cluster.directory)/data/pg_hba.conf'; select pg_reload_conf()")
        let base = cluster.connectionString().replacing("user=postgres", with: "user=app")
        var seen: PGError?
        // The reload is a signal. Until it arrives, the server accepts every login.
        try TestClock.wait(20, for: "a refusal") {
            do throws(PGError) { _ = try PGConnection("\(base) password=wrong-one") } catch { seen = error }
            return seen != nil
        }
        #expect(seen?.isConfiguration == true)
        #expect(seen?.sqlState == .invalidPassword)
        #expect(seen?.description.contains("wrong-one") == false)
        var loop = try SessionLoop(try PGConnectionString("\(base) password=wrong-one"))
        #expect(try loop.run { $0.contains(.retry) })
        let error = loop.errors[0]
        #expect(error.isConfiguration)
        var granted = try SessionLoop(try PGConnectionString("\(base) password=right-one"))
        #expect(try granted.runUntilReady())
    }

    @Test func `a set-up statement that fails is reported and tried again`() throws {
        var loop = try SessionLoop(TestCluster.makeDatabase(), setUp: ["listen jobs", "select * from missing"])
        #expect(try loop.run { $0.count >= 4 })
        let told = loop.told
        #expect(told.prefix(4) == [.lost([]), .retry, .lost([]), .retry])
        let error = loop.errors[0]
        #expect(error.code == .connect)
        #expect(error.sqlState == .undefinedTable)
    }
}
