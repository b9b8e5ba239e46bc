// SPDX-License-Identifier: Apache-2.0

/// Where names without a schema are looked up: among the system's own, whatever the role's `search_path` says.
///
/// In a database from before PostgreSQL 15 everybody may create objects in `public`. A function or operator there whose
/// types fit better than those of the system's own of that name is taken instead (`format(text, name)`,
/// `nextval(text)`), and would run with the rights of who connects. Temporary tables come last.
public enum SearchPath {
    fileprivate static let system = "pg_catalog, pg_temp"

    /// A statement that sets it for the session.
    public static let session = "set search_path = \(system)"
    /// A statement that sets it for the transaction.
    public static let transaction = "set local search_path = \(system)"
    /// The same as an expression: what stands in its own statement is looked up as before.
    public static let localExpression = "pg_catalog.set_config('search_path', '\(system)', true)"
}

extension PGConnection {
    /// Looks names up among the system's own for as long as the session lasts; but not behind a pooler, where it would
    /// be another client's in the next transaction. A pooler announces a process of its own making.
    public func looksUpSystemNames() throws(PGError) {
        try execute(
            """
            select pg_catalog.set_config('search_path', '\(SearchPath.system)', false)
              where pg_catalog.pg_backend_pid() = \(processID)
            """)
    }
}
