// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
internal import Synchronization

/// A read-only connection, opened when it is needed and then kept. Only one reader uses it at a time.
///
/// A reader that must wait for another one gives up early. So a database that does not answer blocks one thread only.
final class ReadOnlyDatabase: Sendable {
    private let database: PGConnectionString
    private let connection = Mutex<PGConnection?>(nil)

    /// The settings of a transaction. A statement ends after 5 s. Times are in UTC. JIT is off: to compile the
    /// expressions of large views takes longer than to run them.
    private static let begin = """
        begin read only; \(SearchPath.transaction); set local statement_timeout = '5s';
        select \(TransactionTimeout.off(isLocal: true));
        set local timezone = 'UTC'; set local jit = off
        """
    /// If the server does not answer for 10 s, the connection is given up.
    private static let answerSeconds = 10
    /// The interval at which a waiting reader checks again, in microseconds: 10 ms.
    private static let checkInterval: UInt32 = 10_000

    /// No connection is opened yet.
    init(_ database: PGConnectionString) {
        self.database = database
    }

    /// Runs a reader in its own transaction. Nil if the previous reader has not finished after `waits` checks, 10 ms
    /// each.
    ///
    /// - Throws: an error if the connection or a statement fails. The next reader opens another connection.
    func read<Value: Sendable>(
        waits: Int = 0, _ body: @Sendable (borrowing PGConnection) throws(PGError) -> Value
    ) throws(PGError) -> Value? {
        for attempt in 0...waits {
            if attempt > 0 { usleep(ReadOnlyDatabase.checkInterval) }
            let found = connection.withLockIfAvailable { connection in
                Result<Value, PGError> { () throws(PGError) in try read(&connection, body) }
            }
            if let found { return try found.get() }
        }
        return nil
    }

    private func read<Value>(
        _ connection: inout PGConnection?, _ body: @Sendable (borrowing PGConnection) throws(PGError) -> Value
    ) throws(PGError) -> Value {
        let open: PGConnection
        if let kept = connection.take(), (try? kept.execute(ReadOnlyDatabase.begin)) != nil {
            open = kept
        } else {
            // The kept connection may have been closed meanwhile, so a new one is tried.
            open = try PGConnection(database, answerSeconds: ReadOnlyDatabase.answerSeconds)
            try open.execute(ReadOnlyDatabase.begin)
        }
        let value = try body(open)
        try open.execute("commit")
        connection = consume open
        return value
    }
}
