// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import PGClient

/// A server that keeps the connection open and does not answer.
struct PGSessionSilenceTests {
    private static let sleep = PGStatement("sleep", "select 1::int8 from pg_sleep($1::float8)")

    private func silenceLoop(_ database: PGConnectionString, seconds: UInt64) throws -> SessionLoop {
        var configuration = PGSession.Configuration(string: database)
        configuration.answerTimeout = seconds * 1_000_000_000
        configuration.terminationSQL = { "select pg_terminate_backend(\($0))" }
        return try SessionLoop(configuration)
    }

    private func seconds(_ value: Double) -> PGParameters {
        var parameters = PGParameters()
        parameters.append(float8: value)
        return parameters
    }

    @Test func `a session drops a silent connection, and its next connection terminates the old backend`() throws {
        let database = try TestCluster.makeDatabase()
        let check = try PGConnection(database)
        var loop = try silenceLoop(database, seconds: 1)
        #expect(try loop.runUntilReady())
        loop.forget()
        let process = loop.session.processID
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let asked = TestClock.now
        var one = PGSessionTests.one(1)
        try loop.session.send(PGSessionTests.echo, &one, tag: 1)
        try loop.session.send(PGSessionTests.echo, &one, tag: 2)
        #expect(try loop.run { $0.contains(.ready) })
        #expect(TestClock.seconds(since: asked) > 0.8)
        let told = loop.told
        #expect(told == [.lost([1, 2]), .retry, .ready])
        let error = loop.errors[0]
        #expect(error.code == .lost)
        #expect(error.message.contains("no answer from the server"))
        try loop.session.send(PGSessionTests.echo, &one, tag: 3)
        #expect(try loop.run { $0.contains(.result(3, rows: 1, value: 1)) })
        kill(process, SIGCONT)
        try TestClock.wait(10, for: "the end of the silent process") {
            try check.query("select count(*) = 0 from pg_stat_activity where pid = \(process)").bool(0, 0)
        }
    }

    @Test func `an idle session does not count as silent`() throws {
        var loop = try silenceLoop(TestCluster.makeDatabase(), seconds: 1)
        #expect(try loop.runUntilReady())
        loop.forget()
        _ = try loop.run(seconds: 2) { _ in false }
        #expect(loop.told.isEmpty)
        var one = PGSessionTests.one(1)
        try loop.session.send(PGSessionTests.echo, &one, tag: 1)
        #expect(try loop.run { $0 == [.result(1, rows: 1, value: 1)] })
        let since = loop.session.silentSince
        #expect(since == nil)
    }

    @Test func `each statement of a transaction has its own answer timeout`() throws {
        var loop = try silenceLoop(TestCluster.makeDatabase(), seconds: 4)
        #expect(try loop.runUntilReady())
        loop.forget()
        var three = seconds(3)
        try loop.session.append(Self.sleep, &three, tag: 1)
        try loop.session.append(Self.sleep, &three, tag: 2)
        loop.session.commit()
        #expect(try loop.run { !$0.isEmpty })
        #expect(try loop.run { $0 == [.result(1, rows: 1, value: 1), .result(2, rows: 1, value: 1)] })
    }

    @Test func `an answer that arrived while the process was stopped is still read`() throws {
        var loop = try silenceLoop(TestCluster.makeDatabase(), seconds: 1)
        #expect(try loop.runUntilReady())
        loop.forget()
        var one = PGSessionTests.one(1)
        try loop.session.send(PGSessionTests.echo, &one, tag: 1)
        var socket = pollfd(fd: loop.session.interest?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        let arrived = unsafe poll(&socket, 1, 20_000)
        #expect(arrived == 1)
        // The answer has arrived but is unread, and the clock has moved on by three seconds.
        loop.session.process(readable: false, writable: false, now: TestClock.now + 3_000_000_000)
        #expect(try loop.run { !$0.isEmpty })
        let told = loop.told
        #expect(told == [.result(1, rows: 1, value: 1)])
    }
}
