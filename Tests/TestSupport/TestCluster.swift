// SPDX-License-Identifier: Apache-2.0

public import PGClient
public import PrivateCluster
internal import Synchronization

/// The PostgreSQL server of this test process: started by the first test that needs one, gone with the process.
public enum TestCluster {
    private static let started = Result { () throws(ClusterError) in
        try PrivateCluster(.init(settings: ["max_connections": "200", "synchronous_commit": "off"]))
    }
    private static let databases = Atomic<Int>(0)

    /// The server. Do not stop it; a test that stops servers makes its own.
    public static var shared: PrivateCluster {
        get throws(ClusterError) { try started.get() }
    }

    /// A new, empty database for one test; with a template, a copy of that one.
    public static func makeDatabase(template: String? = nil) throws -> PGConnectionString {
        try PGConnectionString(makeDatabaseText(template: template))
    }

    /// The same as text, for a program that is started beside the test.
    public static func makeDatabaseText(template: String? = nil) throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        let server = try PGConnection(shared.connectionString())
        try server.execute("create database \(name)" + (template.map { " template \($0)" } ?? ""))
        return try shared.connectionString(database: name)
    }
}
