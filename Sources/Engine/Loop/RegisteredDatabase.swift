// SPDX-License-Identifier: Apache-2.0

/// The database that gave the worker its number, with the facts that reveal a restore. Pure.
struct RegisteredDatabase {
    /// The identity of the newest row in `identities`; nil before the first enlisting.
    private(set) var identity: String?
    /// The end of the WAL on disk at the last confirmed heartbeat; 0 if unknown.
    private(set) var wal: Int64 = 0

    /// Records a confirmed heartbeat.
    mutating func heard(wal: Int64) { self.wal = max(self.wal, wal) }

    /// Records that the worker has a number in a database with this identity.
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

/// Random identifiers as text without hyphens, which PostgreSQL's type `uuid` reads.
enum UUIDText {
    /// A random UUID of version 4 (RFC 9562).
    static func random() -> String {
        var digits = Array("0123456789abcdef".utf8)
        let alphabet = digits
        digits = (0..<32).map { _ in alphabet[Int.random(in: 0..<16)] }
        digits[12] = UInt8(ascii: "4")
        digits[16] = alphabet[Int.random(in: 8...11)]
        return String(decoding: digits, as: UTF8.self)
    }
}
