// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Detects a pooler that assigns server sessions per transaction.
enum PoolerCheckup {
    /// The server process and its start time, which together identify a session, even across hosts.
    private enum Column: Int, PGColumn {
        case process, start

        var sql: StaticString {
            switch self {
            case .process: "pg_backend_pid() as process"
            case .start: "a.backend_start::text as start"
            }
        }
    }

    private static let question =
        "select \(Column.selectList) from pg_stat_activity a where a.pid = pg_backend_pid()"
    /// The statements on the first connection and on the second one.
    ///
    /// Together they exceed the 20 sessions of PgBouncer's default pool, in case it uses its sessions in turn.
    /// Otherwise it uses the first session again.
    private static let (statements, otherStatements) = (5, 20)

    /// The longest wait for the second session. An exhausted pool would let a new client wait for minutes.
    private static let waitSeconds = 10

    /// The finding about a pooler. Nil without a pooler, or if it gives each client its own session.
    ///
    /// The proof: one session has answered on two connections that were open at the same time. A pooler must report its
    /// own process id, to which requests to cancel are sent. If the reported id is the server's, there is no further
    /// check.
    static func finding(
        _ connection: borrowing PGConnection, _ database: PGConnectionString, usesPreparedStatements: Bool
    ) throws(PGError) -> Finding? {
        let answer = try connection.query(question)
        guard answer.rowCount == 1, answer.int32(0, Column.process) != connection.processID else { return nil }
        var first: Set<String> = []
        for _ in 0..<statements {
            if let session = try session(connection) { first.insert(session) }
        }
        do throws(PGError) {
            guard try isAnswered(by: first, database) else { return nil }
        } catch {
            // A server that accepts no writes is reported elsewhere as a fault.
            if error.foundReadOnly { return nil }
            return Finding(
                .notice, "pooler",
                "gave no second session: \(error.message); "
                    + "a worker needs several at once, so raise pool_size or see the pooler's log"
            )
        }
        return usesPreparedStatements
            ? Finding(
                .fault, "pooler",
                "each transaction may run in another session, "
                    + "so a worker's prepared statements fail (PgBouncer in transaction mode); "
                    + "give --prepare off or set POSTRIDER_PREPARE=off"
            )
            : Finding(.ok, "pooler", "each transaction may run in another session, and --prepare off is given")
    }

    /// Whether another connection, open at the same time, uses one of these sessions.
    private static func isAnswered(by sessions: Set<String>, _ database: PGConnectionString) throws(PGError) -> Bool {
        let other = try PGConnection(database, answerSeconds: waitSeconds)
        for _ in 0..<otherStatements {
            if let session = try session(other), sessions.contains(session) { return true }
        }
        return false
    }

    /// The identity of the session that answers.
    private static func session(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(question)
        guard answer.rowCount == 1, let start = answer.optionalText(0, Column.start) else { return nil }
        return "\(answer.int32(0, Column.process)) \(start)"
    }
}
