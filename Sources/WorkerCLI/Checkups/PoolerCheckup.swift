// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Whether a pooler shares the server's sessions out by the transaction, and the worker would know.
enum PoolerCheckup {
    /// The server's process and when it began, which nothing else has in common with it, on another host either.
    private static let question =
        "select pg_backend_pid(), a.backend_start::text from pg_stat_activity a where a.pid = pg_backend_pid()"
    /// More than the 20 sessions of a pool by PgBouncer's default, should it give them in turn; else the first is the
    /// same one.
    private static let (statements, otherStatements) = (5, 20)

    /// How long another session is waited for: a pool that is used up lets who comes then wait for minutes.
    private static let waitSeconds = 10

    /// The pooler, if there is one; nil: none, or one that gives each of its clients a session.
    ///
    /// Sure by this: of two connections that are open at once, both were answered by one session. A pooler has to
    /// announce a process of its own making, to which requests to cancel go, so without one nothing more is asked.
    static func finding(
        _ connection: borrowing PGConnection, _ database: PGConnectionString, usesPreparedStatements: Bool
    ) throws(PGError) -> Finding? {
        let answer = try connection.query(question)
        guard answer.rowCount == 1, answer.int32(0, 0) != connection.processID else { return nil }
        var first: Set<String> = []
        for _ in 0..<statements {
            if let session = try session(connection) { first.insert(session) }
        }
        do throws(PGError) {
            guard try isAnswered(by: first, database) else { return nil }
        } catch {
            // A server that takes no writes is a fault already.
            if error.foundReadOnly { return nil }
            return Finding(
                .notice, "pooler",
                "gave no second session: \(error.message); a worker takes several at once, so raise its pool_size or look at its log"
            )
        }
        return usesPreparedStatements
            ? Finding(
                .fault, "pooler",
                "each transaction may run in another session of the server, as with PgBouncer in transaction mode: a worker's prepared statements fail; give --prepare off or set POSTRIDER_PREPARE=off"
            )
            : Finding(.ok, "pooler", "each transaction may run in another session, and --prepare off is given")
    }

    /// Whether another connection, open beside the first, comes to one of these sessions.
    private static func isAnswered(by sessions: Set<String>, _ database: PGConnectionString) throws(PGError) -> Bool {
        let other = try PGConnection(database, answerSeconds: waitSeconds)
        for _ in 0..<otherStatements {
            if let session = try session(other), sessions.contains(session) { return true }
        }
        return false
    }

    /// What tells the session that answers from all others.
    private static func session(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(question)
        guard answer.rowCount == 1, let start = answer.optionalText(0, 1) else { return nil }
        return "\(answer.int32(0, 0)) \(start)"
    }
}
