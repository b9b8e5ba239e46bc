// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// Roles of the test server that log in: each with the rights of one role of Postrider and no more.
public enum TestRole: String, CaseIterable, Sendable {
    /// Runs the workers of all tests.
    case worker
    /// Inserts jobs.
    case client
    /// Inserts jobs too, others.
    case stranger
    /// Administers.
    case admin
    /// Reads.
    case reader
    /// Has no right at all.
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

    /// A session of it.
    public func connect(_ queue: borrowing TestQueue) throws -> PGConnection {
        try PGConnection(database(queue.database))
    }

    /// The SQLSTATE with which a statement is refused; nil if it is not.
    public static func refusal(of sql: String, _ connection: borrowing PGConnection) -> String? {
        do throws(PGError) {
            try connection.execute(sql)
            return nil
        } catch {
            return error.sqlState?.rawValue
        }
    }

    /// A connection string of the superuser, changed to this role.
    public func database(_ superuser: String) -> String {
        superuser.replacing("user=postgres", with: "user=\(name)")
    }

    /// What the program says to a role that may not run jobs: a superuser made the roles, so who may grant them goes by
    /// the version.
    public var missingRight: String {
        let grantors = (try? TestCluster.version) ?? 0 >= 16 ? "a superuser" : "a role with CREATEROLE or a superuser"
        return "\(name) may not run jobs; as \(grantors): grant postrider_worker to \(name)"
    }

    /// Creates all of them on a server that has been migrated.
    static func createAll(_ connection: borrowing PGConnection) throws {
        for role in allCases {
            let membership = role.postriderRole.map { " in role \($0)" } ?? ""
            try connection.execute("create role \(role.name) login\(membership)")
        }
    }
}
