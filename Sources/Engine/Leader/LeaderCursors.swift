// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// How far a leader has come in the tables that it processes in order. Pure.
///
/// The rows before a cursor are done, but their dead versions may stay for hours while an old transaction is open. So a
/// duty starts at its cursor, to skip them. A row that commits late stands before the cursor. So each duty also starts
/// from the beginning at intervals.
///
/// The intervals count from the last full run that has ended: 1 s for promoting, or 50 times its cost if that is
/// longer, 10 s for expiring and 60 s for folding.
struct LeaderCursors {
    /// A duty starts this far before its cursor, because rows always commit out of order by about as much.
    static let overlapMicroseconds: Int64 = 1_000_000
    static let overlapDeltas: Int64 = 10_000
    static let fullInterval: UInt64 = 1_000_000_000

    private var epoch: Int64?
    private var promoted: PGTimestamp?
    private var folded: Int64 = 0
    /// The last taken row of `unreported_ends`.
    private var takenEnd: Int64 = 0
    /// The last track that was checked for removal; 0 at the start of a round.
    var tracksReached: Int32 = 0
    /// When the next full run of each duty is due.
    private var fullPromoteAt: UInt64 = 0
    private var fullFoldAt: UInt64 = 0
    private var fullExpireAt: UInt64 = 0
    private var fullTakeAt: UInt64 = 0
    /// Whether the duty under way started at the beginning.
    private var isFullFold = false
    private var isFullExpire = false

    /// Records the epoch under which this worker leads. A new epoch resets the cursors: another worker may have led in
    /// between, even if this one did not notice that it lost the lease.
    ///
    /// - Returns: whether the epoch is new.
    mutating func lead(epoch: Int64) -> Bool {
        guard epoch != self.epoch else { return false }
        self = LeaderCursors()
        self.epoch = epoch
        return true
    }

    /// The time at which promoting starts, nil for the beginning.
    mutating func promoteFrom(now: UInt64) -> PGTimestamp? {
        guard now < fullPromoteAt, let promoted else {
            fullPromoteAt = now + LeaderCursors.fullInterval
            return nil
        }
        return PGTimestamp(microseconds: promoted.microseconds - LeaderCursors.overlapMicroseconds)
    }

    /// Records how far promoting has come.
    ///
    /// - Parameters:
    ///   - latest: the time of the last promoted job; nil: no job was due.
    ///   - wasFull: whether it started at the beginning.
    ///   - cost: how long it took. The next full run waits at least 50 times as long.
    mutating func promotedTo(_ latest: PGTimestamp?, wasFull: Bool, cost: UInt64, now: UInt64) {
        if wasFull { fullPromoteAt = now + max(LeaderCursors.fullInterval, 50 * cost) }
        guard let latest else { return }
        promoted = PGTimestamp(microseconds: max(latest.microseconds, promoted?.microseconds ?? .min))
    }

    /// Begins folding. Returns the id after which it starts.
    mutating func foldAfter(now: UInt64) -> Int64 {
        isFullFold = now >= fullFoldAt
        return isFullFold ? 0 : max(0, folded - LeaderCursors.overlapDeltas)
    }

    /// Records how far folding has come.
    mutating func foldedTo(_ id: Int64?, now: UInt64) {
        if isFullFold { fullFoldAt = now + 60 * LeaderCursors.fullInterval }
        folded = max(folded, id ?? 0)
    }

    /// Begins to take unreported ends. Returns the id after which it starts.
    mutating func takeEndsAfter(now: UInt64) -> Int64 {
        guard now < fullTakeAt else {
            fullTakeAt = now + 60 * LeaderCursors.fullInterval
            return 0
        }
        return max(0, takenEnd - LeaderCursors.overlapDeltas)
    }

    /// Records a row of `unreported_ends` that was taken.
    mutating func tookEnd(_ id: Int64) { takenEnd = max(takenEnd, id) }

    /// Begins expiring. True if it starts at the beginning.
    mutating func expiresFromStart(now: UInt64) -> Bool {
        isFullExpire = now >= fullExpireAt
        return isFullExpire
    }

    /// Records that expiring has ended.
    mutating func expired(now: UInt64) {
        if isFullExpire { fullExpireAt = now + 10 * LeaderCursors.fullInterval }
    }
}
