// SPDX-License-Identifier: Apache-2.0

/// How far a worker has come in settling batches and chains, and when it does so next. Pure.
///
/// A worker settles what it has just finished. The leader also looks from the beginning, every 100 ms, for what others
/// committed late or left behind; under a transaction held open for hours that walks over dead rows, so it keeps a distance of
/// 50 times its cost.
struct TreeMarks {
    static let interval: UInt64 = 100_000_000
    /// 2 ms between two looks: a batch of thousands ends in hundreds of finishes a second.
    static let pause: UInt64 = 2_000_000

    /// When to settle next; `.max`: not before something has ended in a tree.
    private(set) var due: UInt64 = .max
    private var latest: Int64 = 0
    private var wholeAt: UInt64 = 0
    private var began: UInt64 = 0
    private var isWhole = false
    private var restUntil: UInt64 = 0

    /// Something has ended in a batch or chain.
    mutating func membersEnded(now: UInt64) {
        due = min(due, max(now, restUntil))
    }

    /// Begins a look: after which delta, and whether it is a whole one.
    mutating func begin(leads: Bool, now: UInt64) -> (after: Int64, isWhole: Bool) {
        due = .max
        began = now
        isWhole = leads && now >= wholeAt
        return (isWhole ? 0 : latest, isWhole)
    }

    /// A look has come up to this delta.
    mutating func settled(to id: Int64?, leads: Bool, now: UInt64) {
        latest = max(latest, id ?? 0)
        if isWhole { wholeAt = now + max(TreeMarks.interval - TreeMarks.pause, 50 * (now - began)) }
        restUntil = now + TreeMarks.pause
        due = due == .max ? .max : max(due, restUntil)
        if leads { due = min(due, now + TreeMarks.interval) }
    }

    /// This worker leads from now on.
    mutating func leads(now: UInt64) {
        due = min(due, now)
    }
}
