// SPDX-License-Identifier: Apache-2.0

import JobStore
import Migrations
import PGClient
import Synchronization
import TestSupport
import Testing

struct MigratorTests {
    private static func file(_ name: String, _ sql: String) -> MigrationFile {
        MigrationFile(name: name, bytes: Array(sql.utf8))
    }

    private static let table = file("0001_table.sql", "create table postrider.first (id int);")
    private static let function = file(
        "functions/one.sql",
        "create or replace function postrider.one() returns int language sql as 'select 1';")
    private static let view = file("views/ones.sql", "create or replace view postrider.ones as select postrider.one();")

    /// The single value that an expression returns.
    private static func text(_ sql: String, _ connection: borrowing PGConnection) throws -> String {
        try connection.query("select (\(sql))::text").text(0, 0)
    }

    @Test func `a fresh database gets every file once and is current`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        #expect(try SchemaCheck(connection).state(connection) == .missing)
        let applied = try Migrator().migrate(connection).applied
        #expect(Set(applied) == Set(Migrations.all.map(\.name)))
        #expect(try SchemaCheck(connection).state(connection) == .current)
        #expect(try Migrator().migrate(connection).applied == [])
    }

    @Test func `two migrators at once apply each file once`() throws {
        let database = try TestCluster.makeDatabase()
        let slow = Self.file("0002_slow.sql", "select pg_sleep(0.3);")
        let migrator = Migrator(files: [Self.table, slow, Self.function, Self.view])
        let elsewhere = Mutex<Int?>(nil)
        let second = BackgroundThread {
            let applied = try? migrator.migrate(PGConnection(database)).applied.count
            elsewhere.withLock { $0 = applied }
        }
        let applied = try migrator.migrate(PGConnection(database)).applied.count
        second.join()
        let other = try #require(elsewhere.withLock { $0 })
        #expect([applied, other].sorted() == [0, 4])
    }

    @Test func `a failing file rolls back the whole run`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let bad = Self.file("views/wrong.sql", "create table postrider.half (id int); select nonsense();")
        let error = #expect(throws: StoreError.self) {
            _ = try Migrator(files: [Self.table, Self.function, bad]).migrate(connection)
        }
        #expect(error?.code == .database)
        #expect(error?.message.hasPrefix("views/wrong.sql: ") == true)
        #expect(try Self.text("select count(*) from pg_namespace where nspname like 'postrider%'", connection) == "0")
        #expect(try Migrator(files: [Self.table, Self.function]).migrate(connection).applied.count == 2)
    }

    @Test func `a migration whose session is terminated leaves nothing behind`() throws {
        let database = try TestCluster.makeDatabase()
        let observer = try PGConnection(database)
        let connection = try PGConnection(database)
        let endless = Self.file("0002_endless.sql", "select pg_sleep(60);")
        let process = connection.processID
        let isOver = Atomic(false)
        // A separate thread: a task might wait for the thread that the migration blocks.
        let killer = BackgroundThread {
            let sleeping = "select 1 from pg_stat_activity where pid = \(process) and wait_event = 'PgSleep'"
            guard let watcher = try? PGConnection(database) else { return }
            while !isOver.load(ordering: .acquiring) {
                guard let rows = try? watcher.query(sleeping).rowCount, rows > 0 else { continue }
                try? watcher.execute("select pg_terminate_backend(\(process))")
                return
            }
        }
        #expect(throws: StoreError.self) {
            _ = try Migrator(files: [Self.table, endless]).migrate(connection)
        }
        isOver.store(true, ordering: .releasing)
        killer.join()
        #expect(try Self.text("select count(*) from pg_namespace where nspname like 'postrider%'", observer) == "0")
        #expect(try Migrator(files: [Self.table]).migrate(observer).applied == ["0001_table.sql"])
    }

    @Test func `a numbered file that changed after it was applied is refused`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        _ = try Migrator(files: [Self.table]).migrate(connection)
        let changed = Self.file("0001_table.sql", "create table postrider.other (id int);")
        let error = #expect(throws: StoreError.self) {
            _ = try Migrator(files: [changed, Self.function]).migrate(connection)
        }
        #expect(error?.code == .changed)
        #expect(error?.message.contains("0001_table.sql") == true)
        #expect(try Self.text("to_regprocedure('postrider.one()') is null", connection) == "true")
    }

    @Test func `a schema of an unreleased version is refused and stays unchanged`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let former = Self.file("0001_schema.sql", "create table postrider.former (id int);")
        _ = try Migrator(files: [former]).migrate(connection)
        let baseline = [Self.file("0001_settings.sql", ""), Self.table, Self.function]
        let error = #expect(throws: StoreError.self) { _ = try Migrator(files: baseline).migrate(connection) }
        #expect(error?.code == .unreleased)
        let names = "select string_agg(name, ' ') from postrider.migrations"
        #expect(try Self.text(names, connection) == "0001_schema.sql")
        #expect(try Self.text("to_regprocedure('postrider.one()') is null", connection) == "true")
    }

    @Test func `a schema of a newer worker is refused`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let next = Self.file("0002_next.sql", "create table postrider.next (id int);")
        _ = try Migrator(files: [Self.table, next], version: "9.0.0").migrate(connection)
        let error = #expect(throws: StoreError.self) { _ = try Migrator(files: [Self.table]).migrate(connection) }
        #expect(error?.code == .newer)
        #expect(error?.message.contains("0002_next.sql") == true)
    }

    @Test func `an older worker does not replace a newer function`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let newer = Self.file("functions/one.sql", String(decoding: Self.function.bytes, as: UTF8.self) + "-- newer")
        _ = try Migrator(files: [Self.table, newer], version: "9.0.0").migrate(connection)
        let error = #expect(throws: StoreError.self) {
            _ = try Migrator(files: [Self.table, Self.function]).migrate(connection)
        }
        #expect(error?.code == .newer)
    }

    @Test func `only a changed function is applied again`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        _ = try Migrator(files: [Self.table, Self.function, Self.view]).migrate(connection)
        let two = Self.file(
            "functions/one.sql",
            "create or replace function postrider.one() returns int language sql as 'select 2';")
        #expect(try Migrator(files: [Self.table, two, Self.view]).migrate(connection).applied == ["functions/one.sql"])
        #expect(try Self.text("select one from postrider.ones", connection) == "2")
    }

    @Test func `after a new numbered file, functions and views are applied again`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        _ = try Migrator(files: [Self.table, Self.function, Self.view]).migrate(connection)
        let drop = Self.file("0002_drop.sql", "drop function postrider.one() cascade;")
        let applied = try Migrator(files: [Self.table, drop, Self.function, Self.view]).migrate(connection).applied
        #expect(applied == ["0002_drop.sql", "functions/one.sql", "views/ones.sql"])
    }

    @Test func `files are applied by number, kind, name and after header`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let early = Self.file("views/a.sql", "-- after: ones.sql\ncreate view postrider.a as table postrider.ones;")
        let applied = try Migrator(files: [early, Self.view, Self.function, Self.table]).migrate(connection).applied
        #expect(applied == ["0001_table.sql", "functions/one.sql", "views/ones.sql", "views/a.sql"])
    }

    @Test(arguments: ["-- after: b.sql", "-- after: nothing.sql"])
    func `an after header with a cycle or an unknown file is refused`(header: String) throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        let files = [Self.file("views/a.sql", header), Self.file("views/b.sql", "-- after: a.sql")]
        let error = #expect(throws: StoreError.self) { _ = try Migrator(files: files).migrate(connection) }
        #expect(error?.code == .files)
    }

    @Test func `the error of a migrator that cannot get its lock names the holding session`() throws {
        let database = try TestCluster.makeDatabase()
        let holder = try PGConnection(database)
        try holder.execute("begin; set local application_name = 'slow one'")
        try holder.execute("select pg_advisory_xact_lock(x'506F737472696465'::bigint)")
        let connection = try PGConnection(database)
        let migrator = Migrator(files: [Self.table], lockWaitMilliseconds: 100)
        let error = #expect(throws: StoreError.self) { _ = try migrator.migrate(connection) }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(holder.processID), slow one, since ") == true)
        try holder.execute("rollback")
        #expect(try migrator.migrate(connection).applied == ["0001_table.sql"])
    }

    private static let change = file("0002_change.sql", "alter table postrider.first add column b int;")

    @Test func `a migrator that waits for a table lock lets other statements in and then continues`() throws {
        let database = try TestCluster.makeDatabase()
        let holder = try PGConnection(database)
        _ = try Migrator(files: [Self.table]).migrate(holder)
        try holder.execute("begin; select from postrider.first")
        let migrator = BackgroundThread {
            _ = try? Migrator(files: [Self.table, Self.change]).migrate(PGConnection(database))
        }
        let other = try PGConnection(database)
        try TestClock.wait(20, for: "the migrator to wait") {
            try other.query("select exists (select from pg_locks where not granted)").bool(0, 0)
        }
        // The statement waits behind the migrator, but only as long as one try of the migrator.
        try other.execute("set lock_timeout = '10s'; select from postrider.first")
        try holder.execute("commit")
        migrator.join()
        #expect(try other.query("select count(*) from postrider.migrations").int64(0, 0) == 2)
    }

    @Test func `the error of a migrator that cannot lock a table names the holding session`() throws {
        let database = try TestCluster.makeDatabase()
        let holder = try PGConnection(database)
        _ = try Migrator(files: [Self.table]).migrate(holder)
        try holder.execute("begin; set local application_name = 'slow one'; select from postrider.first")
        let connection = try PGConnection(database)
        let migrator = Migrator(files: [Self.table, Self.change], lockWaitMilliseconds: 1500)
        let error = #expect(throws: StoreError.self) { _ = try migrator.migrate(connection) }
        #expect(error?.code == .locked)
        #expect(error?.message.hasPrefix("0002_change.sql: ") == true)
        #expect(error?.message.contains("process \(holder.processID), slow one, since ") == true)
        try holder.execute("rollback")
        #expect(try migrator.migrate(connection).applied == ["0002_change.sql"])
    }
}
