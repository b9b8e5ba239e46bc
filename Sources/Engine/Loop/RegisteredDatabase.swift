// SPDX-License-Identifier: Apache-2.0

/// The database that a worker has its number from, as far as needed to recognise a restore. Pure.
struct RegisteredDatabase {
    /// Of its newest row in `identities`; nil before the first enlisting.
    private(set) var identity: String?
    /// Where its WAL ended on disk at the last confirmed heartbeat; 0: unknown.
    private(set) var wal: Int64 = 0

    /// A heartbeat was confirmed.
    mutating func heard(wal: Int64) { self.wal = max(self.wal, wal) }

    /// The worker has a number in a database with this identity.
    ///
    /// - Returns: true if it is another database than before. Then all jobs, tracks and leases that the worker
    ///   remembers are void.
    mutating func enlisted(in identity: String) -> Bool {
        guard identity != self.identity else { return false }
        let isFirst = self.identity == nil
        self.identity = identity
        wal = 0
        return !isFirst
    }
}

/// Random identifiers in the text form of PostgreSQL's type `uuid`.
enum UUIDText {
    /// One of version 4.
    static func random() -> String {
        var digits = Array("0123456789abcdef".utf8)
        let alphabet = digits
        digits = (0..<32).map { _ in alphabet[Int.random(in: 0..<16)] }
        digits[12] = UInt8(ascii: "4")
        digits[16] = alphabet[Int.random(in: 8...11)]
        return String(decoding: digits, as: UTF8.self)
    }
}
