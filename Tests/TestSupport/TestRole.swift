// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Roles of the test server that can log in. Each has only the rights of one Postrider role.
public enum TestRole: String, CaseIterable, Sendable {
    /// Runs the workers of all tests.
    case worker
    /// Inserts jobs.
    case client
    /// Inserts jobs as a second, separate client.
    case stranger
    /// Administers.
    case admin
    /// Reads.
    case reader
    /// Has no rights.
    case nobody

    /// The name to log in with.
    public var name: String { "test_\(rawValue)" }

    private var postriderRole: String? {
        switch self {
        case .stranger: "postrider_client"
        case .nobody: nil
        default: "postrider_\(rawValue)"
        }
    }

    /// Opens a session as this role.
    public func connect(_ queue: borrowing TestQueue) throws -> PGConnection {
        try PGConnection(database(queue.database))
    }

    /// The SQLSTATE with which a statement is refused; nil if it succeeds.
    public static func refusal(of sql: String, _ connection: borrowing PGConnection) -> String? {
        do throws(PGError) {
            try connection.execute(sql)
            return nil
        } catch {
            return error.sqlState?.rawValue
        }
    }

    /// Changes a connection string of the superuser to this role.
    public func database(_ superuser: String) -> String {
        superuser.replacing("user=postgres", with: "user=\(name)")
    }

    /// The program's message to a role that may not run jobs.
    ///
    /// A superuser made the roles. So the roles that may grant them depend on the PostgreSQL version.
    public var missingRight: String {
        let grantors = (try? TestCluster.version) ?? 0 >= 16 ? "a superuser" : "a role with CREATEROLE or a superuser"
        return "\(name) may not run jobs; as \(grantors): grant postrider_worker to \(name)"
    }

    /// Creates all roles on a server that has been migrated.
    static func createAll(_ connection: borrowing PGConnection) throws {
        for role in allCases {
            let membership = role.postriderRole.map { " in role \($0)" } ?? ""
            try connection.execute("create role \(role.name) login\(membership)")
        }
    }
}
