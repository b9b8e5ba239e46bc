// SPDX-License-Identifier: Apache-2.0

/// The facts about a schema that may have changed.
struct SchemaRecheck {
    /// Minimum interval between two schema checks: 1 s.
    private static let interval: UInt64 = 1_000_000_000

    /// Whether the schema lacks the `enlist` function that this worker calls.
    var cannotEnlist = false
    /// Whether the schema no longer fits this worker.
    var hasChanged = false
    /// No schema check before this moment.
    private var lookDue: UInt64 = 0

    /// Whether a failed statement causes a schema check now.
    func wantsLook(now: UInt64) -> Bool { !hasChanged && now >= lookDue }

    /// Records that a schema check is sent.
    mutating func looks(now: UInt64) { lookDue = now + SchemaRecheck.interval }
}
