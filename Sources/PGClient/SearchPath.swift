// SPDX-License-Identifier: Apache-2.0

/// The search_path of this program: the system's schema only, whichever `search_path` the role has.
///
/// In a database from before PostgreSQL 15 every user may create objects in `public`. PostgreSQL prefers a function or
/// operator there if its types fit better than the system's (`format(text, name)`, `nextval(text)`). It would then run
/// with the rights of the connected role. Temporary tables come last.
public enum SearchPath {
    fileprivate static let system = "pg_catalog, pg_temp"

    /// A statement that sets it for the session.
    public static let session = "set search_path = \(system)"
    /// A statement that sets it for the transaction.
    public static let transaction = "set local search_path = \(system)"
    /// An expression that sets it for the transaction. It does not affect names in its own statement.
    public static let localExpression = "pg_catalog.set_config('search_path', '\(system)', true)"
}

extension PGConnection {
    /// Sets the search_path for the session, except behind a pooler.
    ///
    /// Behind a pooler the setting would apply to another client in the next transaction. A pooler reports a process id
    /// of its own.
    public func useSystemSearchPath() throws(PGError) {
        try execute(
            """
            select pg_catalog.set_config('search_path', '\(SearchPath.system)', false)
              where pg_catalog.pg_backend_pid() = \(processID)
            """)
    }
}
