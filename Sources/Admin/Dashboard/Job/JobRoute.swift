// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The pages below `/jobs/`: a job, the body of its answer, and its members.
enum JobRoute {
    /// The page of a path like `/jobs/5`, `/jobs/5/body` or `/jobs/5/members/101`. Nil for other paths.
    static func page(
        _ path: String, acts: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) -> (any DashboardPage)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)
        guard let first = parts.first, let id = Int64(first) else { return nil }
        switch parts.dropFirst().map(String.init) {
        case []: return try JobPage(id, connection, acts: acts)
        case ["body"]: return try JobBody(id, connection)
        case ["members"]: return try MembersPage(id, from: 0, acts: acts, connection)
        case let rest where rest.count == 2 && rest[0] == "members":
            return try Int32(rest[1]).map { position throws(PGError) in
                try MembersPage(id, from: position, acts: acts, connection)
            }
        default: return nil
        }
    }
}
