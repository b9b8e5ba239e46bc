// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// How far a leader has come in the tables that it works off in order. Pure.
///
/// Work behind a mark is done, but its dead rows may stay for hours while an old transaction is open; so a duty starts
/// at its mark. What was committed late lies before it: every second, or 50 times its own cost apart, it starts from
/// the beginning: promoting a second, expiring ten seconds and folding a minute after the last time that came to its
/// end.
struct LeaderCursors {
    /// Starts again a little before the mark: rows commit out of order by this much all the time.
    static let overlapMicroseconds: Int64 = 1_000_000
    static let overlapTallies: Int64 = 10_000
    static let fullInterval: UInt64 = 1_000_000_000

    private var epoch: Int64?
    private var promoted: PGTimestamp?
    private var folded: Int64 = 0
    /// The last track that was looked at for removal; 0: none of this round.
    var tracksReached: Int32 = 0
    private var fullTendAt: UInt64 = 0
    private var fullFoldAt: UInt64 = 0
    private var fullExpireAt: UInt64 = 0
    /// Whether what is under way started at the beginning.
    private var isFullFold = false
    private var isFullExpire = false

    /// This worker leads under this epoch; a new one forgets what was done under the one before, since another worker
    /// may have led in between, even when the lease was not seen to be gone.
    ///
    /// - Returns: whether it is a new one.
    mutating func lead(epoch: Int64) -> Bool {
        guard epoch != self.epoch else { return false }
        self = LeaderCursors()
        self.epoch = epoch
        return true
    }

    /// Where promoting starts; nil: at the beginning.
    mutating func promoteFrom(now: UInt64) -> PGTimestamp? {
        guard now < fullTendAt, let promoted else {
            fullTendAt = now + LeaderCursors.fullInterval
            return nil
        }
        return PGTimestamp(microseconds: promoted.microseconds - LeaderCursors.overlapMicroseconds)
    }

    /// Promoting has come this far.
    ///
    /// - Parameter cost: how long it took; after a start from the beginning the next one keeps its distance.
    mutating func promotedTo(_ latest: PGTimestamp?, wasFull: Bool, cost: UInt64, now: UInt64) {
        if wasFull { fullTendAt = now + max(LeaderCursors.fullInterval, 50 * cost) }
        guard let latest else { return }
        promoted = PGTimestamp(microseconds: max(latest.microseconds, promoted?.microseconds ?? .min))
    }

    /// Folding begins, and takes what is above this id.
    mutating func foldAfter(now: UInt64) -> Int64 {
        isFullFold = now >= fullFoldAt
        return isFullFold ? 0 : max(0, folded - LeaderCursors.overlapTallies)
    }

    /// Folding has come this far.
    mutating func foldedTo(_ id: Int64?, now: UInt64) {
        if isFullFold { fullFoldAt = now + 60 * LeaderCursors.fullInterval }
        folded = max(folded, id ?? 0)
    }

    /// Expiring begins; whether it starts at the beginning.
    mutating func expiresFromStart(now: UInt64) -> Bool {
        isFullExpire = now >= fullExpireAt
        return isFullExpire
    }

    /// Expiring has ended.
    mutating func expired(now: UInt64) {
        if isFullExpire { fullExpireAt = now + 10 * LeaderCursors.fullInterval }
    }
}
