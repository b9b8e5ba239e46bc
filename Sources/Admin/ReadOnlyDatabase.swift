// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PGClient
internal import Synchronization

/// A connection that only reads, opened when first needed and kept. One reader at a time.
///
/// A reader who would have to wait for another one gives up early, so a database that does not answer holds one thread
/// and no more.
final class ReadOnlyDatabase: Sendable {
    private let database: PGConnectionString
    private let connection = Mutex<PGConnection?>(nil)

    /// A statement ends after so long: 5 s. Times are shown in UTC. Views of many parts would have their expressions
    /// compiled, for longer than they take.
    private static let begin = """
        begin read only; \(SearchPath.transaction); set local statement_timeout = '5s';
        select \(TransactionTimeout.off(isLocal: true));
        set local timezone = 'UTC'; set local jit = off
        """
    /// Beyond which nothing of a server that goes on is to be expected: 10 s.
    private static let answerSeconds = 10
    /// How often a reader that waits looks again: 10 ms.
    private static let look: UInt32 = 10_000

    /// Nothing is opened yet.
    init(_ database: PGConnectionString) {
        self.database = database
    }

    /// What a reader finds in a transaction of its own; nil: the last reader was not done after so many waits, 10 ms
    /// each.
    ///
    /// - Throws: not connected, or a statement failed. The next reader opens another connection.
    func read<Value: Sendable>(
        waits: Int = 0, _ body: @Sendable (borrowing PGConnection) throws(PGError) -> Value
    ) throws(PGError) -> Value? {
        for attempt in 0...waits {
            if attempt > 0 { usleep(ReadOnlyDatabase.look) }
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
            // The one that was kept may have been cut meanwhile.
            open = try PGConnection(database, answerSeconds: ReadOnlyDatabase.answerSeconds)
            try open.execute(ReadOnlyDatabase.begin)
        }
        let value = try body(open)
        try open.execute("commit")
        connection = consume open
        return value
    }
}
