// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import PGClient
public import PrivateCluster
internal import Synchronization

/// The PostgreSQL server of this test process. The first test that needs it starts it; it ends with the process.
public enum TestCluster {
    private static let started = Result { () throws(ClusterError) in
        // Sessions of the worker turn JIT off. In a test's session, JIT took a second for each query without an index.
        let cluster = try PrivateCluster(
            .init(settings: ["max_connections": "200", "synchronous_commit": "off", "jit": "off"]))
        // Without this call, the cluster's watchdog would delete a gigabyte after the end of the test run.
        atexit { try? TestCluster.shared.remove() }
        return cluster
    }
    private static let databases = Atomic<Int>(0)
    /// The databases to drop when they have no sessions.
    private static let unused = Mutex<[String]>([])

    /// The server. Do not stop it: a test that stops servers makes its own.
    public static var shared: PrivateCluster {
        get throws(ClusterError) { try started.get() }
    }

    /// The server's major version, for example 15.
    public static var version: Int {
        get throws { try found.get().version }
    }

    /// Whether the server was built with ICU.
    public static var hasICU: Bool {
        get throws { try found.get().hasICU }
    }

    private static let found = Result {
        let server = try PGConnection(shared.connectionString()).query(
            """
            select current_setting('server_version_num')::int / 10000,
              exists (select from pg_collation where collname = 'tr-x-icu')
            """)
        return (version: Int(server.int32(0, 0)), hasICU: server.bool(0, 1))
    }

    /// Makes a database for one test: an empty one, or a copy of a template.
    public static func makeDatabase(template: String? = nil) throws -> PGConnectionString {
        try PGConnectionString(makeDatabaseText(template: template))
    }

    /// Makes a database and returns its connection string, for a program that runs during the test.
    ///
    /// With a locale, the database is empty and has that locale.
    public static func makeDatabaseText(template: String? = nil, locale: TestLocale? = nil) throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        let server = try PGConnection(shared.connectionString())
        try dropUnused(server)
        let options =
            template.map { " template \($0) strategy file_copy" }
            ?? locale.map { " template template0 locale 'C.UTF-8' \($0.rawValue)" }
        try server.execute("create database \(name)" + (options ?? ""))
        return try shared.connectionString(database: name)
    }

    /// The database name in a connection string of `makeDatabaseText`.
    public static func name(of database: String) -> String {
        String(database.split(separator: "=").last ?? "")
    }

    /// Marks a database as unused. It is dropped later, when its sessions have ended.
    ///
    /// A thousand databases took 17 GB and, at the end, two minutes to delete.
    static func leave(_ name: String) {
        unused.withLock { $0.append(name) }
    }

    /// Drops 32 or more databases at once. Each drop makes a checkpoint. In a row, the later ones have little to write.
    private static func dropUnused(_ server: borrowing PGConnection) throws {
        let names = unused.withLock { names -> [String] in
            guard names.count >= 32 else { return [] }
            defer { names = [] }
            return names
        }
        for name in names {
            let sessions = try server.query(
                "select count(*) from pg_stat_activity where datname = '\(name)' and backend_type = 'client backend'")
            if sessions.int64(0, 0) == 0 {
                try server.execute("drop database \(name)")
            } else {
                leave(name)
            }
        }
    }
}
