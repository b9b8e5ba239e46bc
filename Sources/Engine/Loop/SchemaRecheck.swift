// SPDX-License-Identifier: Apache-2.0

/// What a worker knows of a schema that may be its own no more.
struct SchemaRecheck {
    /// No more often does a worker whose statements fail look at the history: 1 s.
    private static let interval: UInt64 = 1_000_000_000

    /// The schema has no enlisting that this worker knows.
    var cannotEnlist = false
    /// What to do about the schema, which is not this worker's any more.
    var advice: String?
    /// No look before.
    private var lookDue: UInt64 = 0

    /// Whether a failed statement is a reason to look now.
    func wantsLook(now: UInt64) -> Bool { advice == nil && now >= lookDue }

    /// A look at the history goes out.
    mutating func looks(now: UInt64) { lookDue = now + SchemaRecheck.interval }
}
