// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

struct PGSessionTests {
    static let echo = PGStatement("echo", "select $1::int8")
    static let insert = PGStatement("insert", "insert into t values ($1::int8)")
    static let divide = PGStatement("divide", "select 1 / ($1::int8)")
    static let broken = PGStatement("broken", "selec $1::int8")

    static func one(_ value: Int64) -> PGParameters {
        var parameters = PGParameters()
        parameters.append(int64: value)
        return parameters
    }

    @Test(arguments: [true, false])
    func `pipelined statements are answered in the order of sending`(prepares: Bool) throws {
        var loop = try SessionLoop(TestCluster.makeDatabase(), prepares: prepares)
        #expect(try loop.runUntilReady())
        var parameters = PGParameters()
        for tag in 1...200 as ClosedRange<UInt64> {
            parameters.removeAll()
            parameters.append(int64: Int64(tag) * 10)
            try loop.session.send(Self.echo, &parameters, tag: tag)
        }
        loop.forget()
        #expect(try loop.run { $0.count == 200 })
        let told = loop.told
        #expect(told == (1...200).map { .result($0, rows: 1, value: Int64($0) * 10) })
    }

    @Test(arguments: [true, false])
    func `a failed statement aborts its whole group and no other group`(prepares: Bool) throws {
        let database = try TestCluster.makeDatabase()
        let check = try PGConnection(database)
        try check.execute("create table t (id int8)")
        var loop = try SessionLoop(database, prepares: prepares)
        #expect(try loop.runUntilReady())
        loop.forget()
        var first = Self.one(1)
        var zero = Self.one(0)
        var third = Self.one(3)
        var fourth = Self.one(4)
        try loop.session.append(Self.insert, &first, tag: 1)
        try loop.session.append(Self.divide, &zero, tag: 2)
        try loop.session.append(Self.insert, &third, tag: 3)
        loop.session.commit()
        try loop.session.append(Self.insert, &fourth, tag: 4)
        try loop.session.append(Self.divide, &fourth, tag: 5)
        loop.session.commit()
        #expect(try loop.run { $0.count == 5 })
        let told = loop.told
        #expect(
            told == [
                .aborted(1), .failed(2, SQLState(rawValue: "22012")), .aborted(3),
                .result(4, rows: 0, value: 0), .result(5, rows: 1, value: 0),
            ])
        let rows = try check.query("select array_agg(id) from t")
        let ids = rows.int64s(0, 0)
        #expect(ids == [4])
    }

    @Test(arguments: [true, false])
    func `opening statements apply to each group and are not reported`(prepares: Bool) throws {
        let limit = PGStatement(
            "limit",
            """
            select setting::int8 + $1::int8 from pg_settings
             where name = 'lock_timeout' and current_setting('transaction_isolation') = 'serializable'
            """)
        var loop = try SessionLoop(
            PGSession.Configuration(
                string: TestCluster.makeDatabase(), prepares: prepares,
                openings: [
                    "set transaction_isolation = 'serializable'", "select set_config('lock_timeout', '1234ms', true)",
                ]))
        #expect(try loop.runUntilReady())
        loop.forget()
        for tag in [1, 4] as [UInt64] {
            var one = Self.one(1)
            var zero = Self.one(0)
            try loop.session.append(limit, &zero, tag: tag)
            try loop.session.append(limit, &one, tag: tag + 1)
            loop.session.commit()
            try loop.session.send(Self.divide, &zero, tag: tag + 2)
        }
        #expect(try loop.run { $0.count == 6 })
        let told = loop.told
        let group = { (tag: UInt64) -> [Told] in
            [
                .result(tag, rows: 1, value: 1234), .result(tag + 1, rows: 1, value: 1235),
                .failed(tag + 2, SQLState(rawValue: "22012")),
            ]
        }
        #expect(told == group(1) + group(4))
    }

    @Test(arguments: [true, false])
    func `if an opening statement fails, the first statement of each group reports its error`(prepares: Bool) throws {
        var loop = try SessionLoop(
            PGSession.Configuration(string: TestCluster.makeDatabase(), prepares: prepares, openings: ["select 1 / 0"]))
        #expect(try loop.runUntilReady())
        loop.forget()
        var one = Self.one(1)
        try loop.session.append(Self.echo, &one, tag: 1)
        try loop.session.append(Self.echo, &one, tag: 2)
        loop.session.commit()
        try loop.session.send(Self.echo, &one, tag: 3)
        #expect(try loop.run { $0.count == 3 })
        let told = loop.told
        let division = SQLState(rawValue: "22012")
        #expect(told == [.failed(1, division), .aborted(2), .failed(3, division)])
    }

    @Test func `a failed commit aborts every result of its group`() throws {
        let database = try TestCluster.makeDatabase()
        try PGConnection(database).execute("create table t (id int8 unique deferrable initially deferred)")
        var loop = try SessionLoop(database)
        #expect(try loop.runUntilReady())
        loop.forget()
        var one = Self.one(1)
        try loop.session.append(Self.echo, &one, tag: 1)
        try loop.session.append(Self.insert, &one, tag: 2)
        try loop.session.append(Self.insert, &one, tag: 3)
        loop.session.commit()
        try loop.session.send(Self.insert, &one, tag: 4)
        #expect(try loop.run { $0.count == 4 })
        let told = loop.told
        #expect(told == [.aborted(1), .aborted(2), .failed(3, .uniqueViolation), .result(4, rows: 0, value: 0)])
    }

    @Test func `a statement that cannot be prepared fails alone with its error`() throws {
        var loop = try SessionLoop(TestCluster.makeDatabase())
        #expect(try loop.runUntilReady())
        loop.forget()
        var parameters = Self.one(7)
        try loop.session.send(Self.echo, &parameters, tag: 1)
        try loop.session.send(Self.broken, &parameters, tag: 2)
        try loop.session.send(Self.broken, &parameters, tag: 3)
        try loop.session.send(Self.echo, &parameters, tag: 4)
        #expect(try loop.run { $0.count == 4 })
        let told = loop.told
        let syntax = SQLState(rawValue: "42601")
        #expect(
            told == [
                .result(1, rows: 1, value: 7), .failed(2, syntax), .failed(3, syntax), .result(4, rows: 1, value: 7),
            ])
    }

    @Test func `a PREPARE that was aborted with its group is repeated later`() throws {
        var loop = try SessionLoop(TestCluster.makeDatabase())
        #expect(try loop.runUntilReady())
        loop.forget()
        var zero = Self.one(0)
        var five = Self.one(5)
        try loop.session.append(Self.divide, &zero, tag: 1)
        try loop.session.append(Self.echo, &five, tag: 2)
        loop.session.commit()
        try loop.session.send(Self.echo, &five, tag: 3)
        #expect(try loop.run { $0.count == 3 })
        try loop.session.send(Self.echo, &five, tag: 4)
        #expect(try loop.run { $0.count == 4 })
        let told = loop.told
        #expect(
            told == [
                .failed(1, SQLState(rawValue: "22012")), .aborted(2), .result(3, rows: 1, value: 5),
                .result(4, rows: 1, value: 5),
            ])
    }

    @Test func `a statement is prepared anew after its row type has changed`() throws {
        let database = try TestCluster.makeDatabase()
        let ddl = try PGConnection(database)
        try ddl.execute("create table t (id int8); insert into t values (1)")
        let all = PGStatement("all", "select * from t")
        var loop = try SessionLoop(database)
        #expect(try loop.runUntilReady())
        loop.forget()
        var none = PGParameters()
        try loop.session.send(all, &none, tag: 1)
        #expect(try loop.run { $0.count == 1 })
        try ddl.execute("alter table t add more text")
        try loop.session.send(all, &none, tag: 2)
        #expect(try loop.run { $0.count == 2 })
        try loop.session.send(all, &none, tag: 3)
        #expect(try loop.run { $0.count == 3 })
        let told = loop.told
        #expect(
            told == [.result(1, rows: 1, value: 1), .failed(2, .featureNotSupported), .result(3, rows: 1, value: 1)])
    }

    @Test func `a statement is prepared once per connection`() throws {
        var loop = try SessionLoop(TestCluster.makeDatabase())
        #expect(try loop.runUntilReady())
        loop.forget()
        let count = PGStatement("count", "select count(*) from pg_prepared_statements where name like 'echo%'")
        var parameters = Self.one(1)
        var none = PGParameters()
        for tag in 1...3 as ClosedRange<UInt64> {
            try loop.session.send(Self.echo, &parameters, tag: tag)
            #expect(try loop.run { $0.count == Int(tag) })
        }
        try loop.session.send(count, &none, tag: 4)
        #expect(try loop.run { $0.count == 4 })
        let last = loop.told.last
        #expect(last == .result(4, rows: 1, value: 1))
    }

    @Test func `notifications arrive on an idle connection`() throws {
        let database = try TestCluster.makeDatabase()
        var loop = try SessionLoop(database, setUp: ["set application_name to 'listener'", "listen jobs"])
        #expect(try loop.runUntilReady())
        let sender = try PGConnection(database)
        try sender.execute("notify jobs, 'first'")
        #expect(try loop.run { $0.contains(.notification("jobs", "first")) })
        try sender.execute("notify jobs; notify other")
        #expect(try loop.run { $0.contains(.notification("jobs", "")) })
        let turns = loop.turns
        #expect(turns < 100)
    }

    @Test func `a session refuses statements before it is ready`() throws {
        var session = PGSession(.init(string: try PGConnectionString("host=/nonexistent")))
        var parameters = Self.one(1)
        var refusal: PGError?
        do throws(PGError) { try session.send(Self.echo, &parameters, tag: 1) } catch { refusal = error }
        #expect(refusal?.code == .notReady)
        session.close()
        session.start(now: 0)
        #expect(session.state == .closed)
        #expect(session.interest == nil)
    }

    @Test func `a statement larger than the socket buffer is sent completely`() throws {
        var loop = try SessionLoop(TestCluster.makeDatabase())
        #expect(try loop.runUntilReady())
        loop.forget()
        let length = PGStatement("length", "select octet_length($1::bytea)::int8")
        var parameters = PGParameters()
        parameters.append(bytes: [UInt8](repeating: 0, count: 16 << 20))
        for tag in 1...3 as ClosedRange<UInt64> { try loop.session.send(length, &parameters, tag: tag) }
        #expect(try loop.run { $0.count == 3 })
        let told = loop.told
        #expect(told == (1...3).map { .result($0, rows: 1, value: 16 << 20) })
    }
}
