// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
internal import Synchronization

/// A connection for acts, apart from the ones that only read. It is opened when it is needed and then kept.
///
/// Each transaction runs as `postrider_admin`. So an act has the rights of an admin, even if the login itself has more.
final class ActDatabase: Sendable {
    private let database: PGConnectionString
    private let connection = Mutex<PGConnection?>(nil)

    /// The settings of a transaction. Times are in UTC. An act gives up if it waits 5 s for a lock.
    private static let begin = """
        begin; \(SearchPath.transaction); set local role postrider_admin; set local statement_timeout = '30s';
        set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = 0;
        select \(TransactionTimeout.off(isLocal: true));
        set local timezone = 'UTC'; set local jit = off
        """
    /// If the server does not answer for 40 s, the connection is given up.
    private static let answerSeconds = 40

    /// No connection is opened yet.
    init(_ database: PGConnectionString) {
        self.database = database
    }

    /// Runs an act in its own transaction. It commits if the act returns a value, and rolls back for nil.
    ///
    /// Nil too if another act has not finished within a second, because threads are few.
    ///
    /// - Throws: an error if the connection or a statement fails. Nothing was done then, unless the connection was lost
    ///   during the commit.
    func run<Value: Sendable>(
        _ act: @Sendable (borrowing PGConnection) throws(PGError) -> Value?
    ) throws(PGError) -> Value? {
        for _ in 0..<100 {
            let result = connection.withLockIfAvailable { connection in
                Result<Value?, PGError> { () throws(PGError) in try run(&connection, act) }
            }
            if let result { return try result.get() }
            usleep(10_000)
        }
        throw PGError(.notReady, operation: "act", "another act has not finished yet; try again")
    }

    private func run<Value>(
        _ connection: inout PGConnection?, _ act: @Sendable (borrowing PGConnection) throws(PGError) -> Value?
    ) throws(PGError) -> Value? {
        let open: PGConnection
        if let kept = connection.take(), (try? kept.execute(ActDatabase.begin)) != nil {
            open = kept
        } else {
            // The kept connection may have been closed meanwhile, so a new one is tried.
            open = try PGConnection(database, answerSeconds: ActDatabase.answerSeconds)
            try open.execute(ActDatabase.begin)
        }
        let value = try act(open)
        try open.execute(value == nil ? "rollback" : "commit")
        connection = consume open
        return value
    }
}
