// SPDX-License-Identifier: Apache-2.0

/// How far a worker has come in settling batches and chains, and when it does so next. Pure.
///
/// A worker settles what it has just finished, from the id that it had come to. The leader also looks some seconds back
/// every 100 ms, for what others left behind, and from the beginning, for what was committed late; under a transaction
/// held open for hours that walks over dead rows, so it keeps a distance of 50 times its cost, up to 10 s: what was put
/// off is found only there.
struct TreeCursor {
    static let interval: UInt64 = 100_000_000
    /// 2 ms between two looks, and 8 times what the last one took, up to 20 ms: a batch of thousands ends in hundreds
    /// of finishes a second, and a look after each of them took a fifth of its rate.
    static let pause: UInt64 = 2_000_000
    static let longestPause: UInt64 = 20_000_000
    /// 10 ms before a look at what somebody held: two workers that settle one batch take turns.
    static let patience: UInt64 = 10_000_000
    /// How far back the leader looks each time: between one and two of these.
    static let stretch: UInt64 = 1_000_000_000
    /// Between two looks from the beginning at most, and after one that took too long, 6 s, for whatever reason.
    static let longestDistance: UInt64 = 10_000_000_000

    /// When to settle next; `.max`: not before something has ended in a tree.
    private(set) var due: UInt64 = .max
    private var latest: Int64 = 0
    private var recent: Int64 = 0
    private var trailing: Int64 = 0
    private var turnAt: UInt64 = 0
    private var wholeAt: UInt64 = 0
    private var fromStartAt: UInt64 = 0
    private var began: UInt64 = 0
    private var isWhole = false
    private var isFromStart = false
    private var restUntil: UInt64 = 0
    /// A look took too long: until all is added up each one is at one tree alone, which has the time of a statement for
    /// itself.
    private var isAlone = false

    /// Something has ended in a batch or chain.
    mutating func membersEnded(now: UInt64) {
        due = min(due, max(now, restUntil))
    }

    /// Begins a look: after which delta, whether it is a whole one, at what was left behind too, and whether at one
    /// tree alone.
    mutating func begin(leads: Bool, now: UInt64) -> (after: Int64, isWhole: Bool, isAlone: Bool) {
        due = .max
        began = now
        isWhole = leads && now >= wholeAt
        isFromStart = isWhole && now >= fromStartAt
        return (isFromStart ? 0 : isWhole ? trailing : latest, isWhole, isAlone)
    }

    /// A look has failed; `isOverrun`: since it took too long.
    mutating func failed(isOverrun: Bool, leads: Bool, now: UInt64) {
        settled(to: nil, hasMore: isOverrun, leads: leads, now: now)
        isAlone = isOverrun
    }

    /// A look has come up to this delta; `hasMore`: others were there at its end, perhaps ones that somebody held.
    mutating func settled(to id: Int64?, hasMore: Bool, leads: Bool, now: UInt64) {
        latest = max(latest, id ?? 0)
        isAlone = isAlone && hasMore
        if now >= turnAt {
            (trailing, recent) = (recent, latest)
            turnAt = now + TreeCursor.stretch
        }
        let cost = now - min(now, began)
        if isWhole { wholeAt = now + TreeCursor.interval - TreeCursor.pause }
        if isFromStart {
            fromStartAt = now + min(TreeCursor.longestDistance, max(TreeCursor.interval - TreeCursor.pause, 50 * cost))
        }
        restUntil = now + min(max(TreeCursor.pause, 8 * cost), TreeCursor.longestPause)
        if due != .max { due = max(due, restUntil) }
        if hasMore { due = min(due, now + TreeCursor.patience) }
        if leads { due = min(due, now + TreeCursor.interval) }
    }

    /// This worker leads from now on.
    mutating func leads(now: UInt64) {
        due = min(due, now)
    }
}
