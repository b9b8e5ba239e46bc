// SPDX-License-Identifier: Apache-2.0

/// How far a worker has come in settling batches and chains, and when it settles next. Pure.
///
/// A *look* is one call of `postrider_internal.settle`. A worker settles the members that it has just finished, from
/// the last settled delta on.
///
/// The leader also looks one to two seconds back every 100 ms, for members that other workers left behind. And it looks
/// from the beginning, for members that were committed late or deferred. While an old transaction is open, such a look
/// walks over dead rows. So these looks are 50 times their cost apart, up to 10 s.
struct TreeCursor {
    static let interval: UInt64 = 100_000_000
    /// The pause between two looks: 2 ms, or 8 times the duration of the last one, up to 20 ms.
    ///
    /// A batch of thousands ends in hundreds of finishes a second. A look after each of them took a fifth of its rate.
    static let pause: UInt64 = 2_000_000
    static let longestPause: UInt64 = 20_000_000
    /// 10 ms before a second look at locked trees: two workers that settle one batch take turns.
    static let patience: UInt64 = 10_000_000
    /// The leader looks back between one and two of these: 1 s.
    static let stretch: UInt64 = 1_000_000_000
    /// The longest distance between two looks from the beginning: 10 s. It also follows a look that reached its time
    /// limit of 6 s, for any reason.
    static let longestDistance: UInt64 = 10_000_000_000

    /// When to settle next. `.max` if no member has ended.
    private(set) var due: UInt64 = .max
    /// The last settled delta.
    private var latest: Int64 = 0
    /// The last settled delta at the start of this stretch, and at the start of the stretch before.
    private var recent: Int64 = 0
    private var trailing: Int64 = 0
    /// When the next stretch begins.
    private var turnAt: UInt64 = 0
    /// When the leader looks back again, and when it looks from the beginning.
    private var lookBackAt: UInt64 = 0
    private var fromStartAt: UInt64 = 0
    private var began: UInt64 = 0
    /// Whether the look under way is one of the leader, further back than its own members.
    private var looksBack = false
    private var isFromStart = false
    private var restUntil: UInt64 = 0
    /// True after a look that took too long. Until all changes are added up, each look settles one tree, which then has
    /// the time limit of a statement for itself.
    private var settlesOneTree = false

    /// Records that a member of a batch or chain has ended.
    mutating func membersEnded(now: UInt64) {
        due = min(due, max(now, restUntil))
    }

    /// Begins a look.
    ///
    /// - Returns: the parameters of `settle`. The look starts behind the delta `after`.
    mutating func begin(leads: Bool, now: UInt64) -> (after: Int64, endsOrphans: Bool, oneTree: Bool) {
        due = .max
        began = now
        looksBack = leads && now >= lookBackAt
        isFromStart = looksBack && now >= fromStartAt
        return (isFromStart ? 0 : looksBack ? trailing : latest, looksBack, settlesOneTree)
    }

    /// Records a failed look. `isOverrun` is true if it took too long.
    mutating func failed(isOverrun: Bool, leads: Bool, now: UInt64) {
        settled(to: nil, hasMore: isOverrun, leads: leads, now: now)
        settlesOneTree = isOverrun
    }

    /// Records how far a look has come. `hasMore` is true if further changes were left, perhaps in locked trees.
    mutating func settled(to id: Int64?, hasMore: Bool, leads: Bool, now: UInt64) {
        latest = max(latest, id ?? 0)
        settlesOneTree = settlesOneTree && hasMore
        if now >= turnAt {
            (trailing, recent) = (recent, latest)
            turnAt = now + TreeCursor.stretch
        }
        let cost = now - min(now, began)
        if looksBack { lookBackAt = now + TreeCursor.interval - TreeCursor.pause }
        if isFromStart {
            fromStartAt = now + min(TreeCursor.longestDistance, max(TreeCursor.interval - TreeCursor.pause, 50 * cost))
        }
        restUntil = now + min(max(TreeCursor.pause, 8 * cost), TreeCursor.longestPause)
        if due != .max { due = max(due, restUntil) }
        if hasMore { due = min(due, now + TreeCursor.patience) }
        if leads { due = min(due, now + TreeCursor.interval) }
    }

    /// Records that this worker leads from now on.
    mutating func leads(now: UInt64) {
        due = min(due, now)
    }
}
