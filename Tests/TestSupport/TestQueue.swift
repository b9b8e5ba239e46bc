// SPDX-License-Identifier: Apache-2.0

public import PGClient
public import PrivateCluster
internal import Synchronization

/// A database with the schema for one test, with short functions for common steps. Confined to one thread.
public struct TestQueue: ~Copyable {
    /// The connection string of the database.
    public let database: String
    /// The test's connection.
    public let connection: PGConnection
    /// Whether the database may be dropped after the value's end. A server that the test made is removed as a whole.
    private let isDroppedAtEnd: Bool

    /// The shared databases, by the name of the test.
    private static let shared = Mutex<[String: String]>([:])

    private static let template = Result { () throws -> String in
        let database = try TestCluster.makeDatabaseText()
        try migrate(database)
        return TestCluster.name(of: database)
    }

    private static func migrate(_ database: String, isFirst: Bool = true) throws {
        let outcome = try WorkerProcess.run(["migrate", "--database", database])
        guard outcome.status == 0 else { throw TestFault(description: outcome.output) }
        if isFirst { try TestRole.createAll(PGConnection(database)) }
    }

    /// Makes a database on the server of the test process. It is dropped some time after the value's end.
    public init() throws {
        let text = try TestCluster.makeDatabaseText(template: Self.template.get())
        let session = try PGConnection(text)
        try Self.adopt(session)
        connection = session
        database = text
        isDroppedAtEnd = true
    }

    /// Opens a database that all cases of a test share. The test writes nothing, or rolls back its changes.
    ///
    /// The database stays as long as the process.
    ///
    /// - Parameter inTransaction: whether the session begins a transaction. The end of the value rolls it back.
    public init(sharedBy test: String = #function, inTransaction: Bool = false) throws {
        let text = try Self.shared.withLock { known in
            let text = try known[test] ?? Self.makeDatabase()
            known[test] = text
            return text
        }
        let session = try PGConnection(text)
        if inTransaction { try session.execute("begin") }
        connection = session
        database = text
        isDroppedAtEnd = false
    }

    /// Makes a database with this locale. It is dropped some time after the value's end.
    public init(locale: TestLocale) throws {
        _ = try Self.template.get()
        let text = try TestCluster.makeDatabaseText(locale: locale)
        try Self.migrate(text, isFirst: false)
        connection = try PGConnection(text)
        database = text
        isDroppedAtEnd = true
    }

    /// Makes the schema in a database of a server that the test made.
    public init(on cluster: PrivateCluster, database name: String = "postgres") throws {
        if name != "postgres" { try PGConnection(cluster.connectionString()).execute("create database \(name)") }
        let text = cluster.connectionString(database: name)
        try Self.migrate(text)
        connection = try PGConnection(text)
        database = text
        isDroppedAtEnd = false
    }

    /// Opens an existing database on a server that the test made.
    public init(opening database: String) throws {
        connection = try PGConnection(database)
        self.database = database
        isDroppedAtEnd = false
    }

    deinit {
        if isDroppedAtEnd { TestCluster.leave(TestCluster.name(of: database)) }
    }

    /// A database with the schema for all tests of a suite. It stays as long as the test process.
    public static func makeDatabase() throws -> String {
        let database = try TestCluster.makeDatabaseText(template: template.get())
        try adopt(PGConnection(database))
        return database
    }

    /// Gives a copied database its own identity.
    ///
    /// Otherwise the first worker takes the copy for a restored database. The numbers of workers and fences then do not
    /// begin at 1.
    private static func adopt(_ connection: borrowing PGConnection) throws {
        try connection.execute(
            """
            update postrider_internal.identities i
               set (system_identifier, timeline, database_oid, workers_oid)
                 = (select r.system_identifier, r.timeline, r.database_oid, r.workers_oid
                    from postrider_internal.current_identity() r)
            """)
    }

    /// Inserts a job and returns its id.
    @discardableResult
    public func insert(_ columns: String, _ values: String) throws -> Int64 {
        try connection.query("insert into postrider.jobs (\(columns)) values (\(values)) returning id").int64(0, 0)
    }

    /// Inserts one job for each number of a range; `values` may use `i`.
    public func insert(_ count: Int, _ columns: String, _ values: String) throws {
        try connection.execute(
            "insert into postrider.jobs (\(columns)) select \(values) from generate_series(1, \(count)) as i")
    }

    /// Submits a spec in which URL stands for the target. Returns the root's id.
    public func submit(to target: TargetServer, _ spec: String) throws -> Int64 {
        try number("select postrider.submit('\(spec.split(separator: "URL").joined(separator: target.url))')")
    }

    /// Adds a service `api` with these servers at the positions from 1 on, and with more columns.
    ///
    /// `columns` and `values` begin with a comma.
    public func addService(_ urls: [String], coolDown: String = "10 min", columns: String = "", values: String = "")
        throws
    {
        try connection.execute(
            """
            insert into postrider.services (name, cool_down\(columns)) values ('api', '\(coolDown)'\(values));
            insert into postrider.servers (service, position, base_url)
            select 'api', n, u from unnest('{\(urls.joined(separator: ","))}'::text[]) with ordinality as s(u, n)
            """)
    }

    /// Starts a job whose call `other` cancels in an open transaction, and ends 20 other jobs. Returns the job.
    public func cancelOpenly(_ other: borrowing PGConnection, _ target: TargetServer) throws -> Int64 {
        let id = try insert("url, delivery", "'\(target.url)/held', 'at_most_once'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        try other.execute("begin; select postrider.cancel(\(id))")
        try insert(20, "url", "'\(target.url)/held/' || i")
        try TestClock.wait(10, for: "all calls") { target.underWay > 1 }
        target.release()
        try wait(until: "select count(*) = 20 from postrider_internal.results")
        return id
    }

    /// Keeps autovacuum away from tables of `postrider_internal`.
    ///
    /// After thousands of changed rows it would lock a range. `prune` waits 100 ms for this lock. Then it leaves the
    /// range for a minute.
    public func stopAutovacuum(of tables: [String]) throws {
        for table in tables {
            try connection.execute(
                "alter table postrider_internal.\(table) set (autovacuum_enabled = off, toast.autovacuum_enabled = off)"
            )
        }
    }

    /// Fills the overflow of results with 80 MB: 40,000 rows of ids that no range takes.
    ///
    /// That is more than the feed reads while INSERTs wait. It runs no vacuum, because a test would have to wait for
    /// the lock of a vacuum.
    public func overflow(from id: Int64) throws {
        try connection.execute(
            """
            alter table postrider_internal.results_overflow set (autovacuum_enabled = off);
            insert into postrider_internal.results_overflow (job_id, started_at, fence, attempt, state, body)
            select i, now(), 1, 1, 's', convert_to(repeat('x', 1900), 'UTF8')
              from generate_series(\(id), \(id) + 39999) as i
            """)
    }

    /// The single number that a query returns.
    public func number(_ sql: String) throws -> Int64 { try connection.query(sql).int64(0, 0) }

    /// The single text that a query returns.
    public func text(_ sql: String) throws -> String? {
        let result = try connection.query(sql)
        return result.rowCount == 0 ? nil : result.optionalText(0, 0)
    }

    /// The rows of a query whose columns are all text.
    public func rows(_ sql: String) throws -> [[String?]] {
        let result = try connection.query(sql)
        return (0..<result.rowCount).map { row in
            (0..<result.columnCount).map { result.optionalText(row, $0) }
        }
    }

    /// Makes a worker the leader for the rest of the test, however slow the machine is. Returns its epoch.
    ///
    /// The start of the leadership is set back by an hour, so the leader may already declare workers silent.
    public func lead(_ worker: Int64) throws -> Int64 {
        let epoch = try number("select postrider_internal.lead(\(worker))")
        try connection.execute(
            """
            update postrider_internal.leases set until = 'infinity';
            update postrider_internal.workers set steady_since = clock_timestamp() - interval '1 h',
              heartbeat_at = clock_timestamp()
            where id = \(worker)
            """)
        return epoch
    }

    /// The state of a job.
    public func state(_ id: Int64) throws -> String? {
        try text("select state from postrider.job_status where id = \(id)")
    }

    /// Waits until the query returns true.
    public func wait(_ seconds: Double = 20, until sql: String) throws {
        try poll(seconds, sql, for: sql) { $0.bool(0, 0) }
    }

    /// Repeats a query until its result satisfies the condition.
    ///
    /// From the second time on the query is prepared: to plan one of `job_status` takes 5 ms of CPU.
    private func poll(
        _ seconds: Double, _ sql: String, for what: @autoclosure () -> String,
        until condition: (borrowing PGResult) -> Bool
    ) throws {
        if try condition(connection.query(sql)) { return }
        try connection.execute("prepare poll as \(sql)")
        defer { try? connection.execute("deallocate poll") }
        try TestClock.wait(seconds, for: what()) { try condition(connection.query("execute poll")) }
    }

    /// Waits until a statement in this database that contains a text waits for a lock.
    public func waitUntilBlocked(_ text: String) throws {
        try wait(
            until: """
                select exists (select from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock' and query like '%\(text)%')
                """)
    }

    /// Waits until a job is in a state.
    public func wait(_ seconds: Double = 20, for id: Int64, toBe state: String) throws {
        var last: String?
        try poll(
            seconds, "select state from postrider.job_status where id = \(id)",
            for: "job \(id) \(state), it is \(last ?? "nowhere")"
        ) { result in
            last = result.rowCount == 0 ? nil : result.optionalText(0, 0)
            return last == state
        }
    }

    /// Jobs with more calls at the target than rows in `postrider.attempts`: calls that the database does not know.
    ///
    /// If a worker dies before it sends the request, its attempt has a row and no call. So more rows than calls are
    /// correct.
    public func unexplainedCalls(_ target: TargetServer) throws -> [String] {
        var seen: [String: Int] = [:]
        for request in target.requests { seen[request.path, default: 0] += 1 }
        let known = try rows(
            """
            select replace(j.url, '\(target.url)', ''), count(a.job_id)::text
            from postrider.jobs j left join postrider.attempts a on a.job_id = j.id group by j.url
            """)
        var attempts: [String: Int] = [:]
        for row in known { attempts[row[0] ?? ""] = Int(row[1] ?? "") }
        return seen.filter { $0.value > attempts[$0.key] ?? 0 }.map { "\($0.key): \($0.value) calls" }
    }

    /// Ends one session of a worker. The number selects it.
    public func cutWorkerSession(_ number: UInt64) throws {
        try connection.execute(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and usename = '\(TestRole.worker.name)'
            order by hashint8(pid + \(number)) limit 1
            """)
    }

    /// The number of jobs in each state, as in `succeeded 3, failed 1`.
    public func states() throws -> String {
        try text(
            """
            select coalesce(string_agg(state || ' ' || n, ', ' order by state), '')
            from (select state, count(*) as n from postrider.job_status group by state) s
            """) ?? ""
    }

    /// Waits until every job has ended.
    public func waitUntilDone(_ seconds: Double = 30) throws {
        let left = """
            select (select count(*) from postrider.jobs) - (select count(*) from postrider_internal.results)
            """
        try poll(seconds, left, for: "no job left; there are \((try? number(left)) ?? -1)") { $0.int64(0, 0) == 0 }
    }
}
