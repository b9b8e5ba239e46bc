// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// When a leader looks for due schedules, and from where on. Pure.
///
/// It looks when the next tick it has heard of is due, and every second for what was inserted or changed since. What
/// was done lies behind a mark, where dead rows may stay for hours while an old transaction is open; a look from the
/// beginning finds what was committed late or set by hand, every second or 50 times its own cost apart, 10 s at most:
/// the making of jobs is a part of that cost.
struct TickCursor {
    /// Starts a little before the mark: schedules that are due at one time come in any order.
    static let overlapMicroseconds: Int64 = 1_000_000
    static let interval: UInt64 = 1_000_000_000
    static let longestDistance: UInt64 = 10_000_000_000

    /// The next look, in monotonic nanoseconds.
    private(set) var due: UInt64 = 0
    private var reached: PGTimestamp?
    private var fullAt: UInt64 = 0
    private var isFull = false
    private var begun: UInt64 = 0

    /// A look begins.
    ///
    /// - Returns: where it starts; nil: at the beginning.
    mutating func begin(now: UInt64) -> PGTimestamp? {
        due = now + TickCursor.interval
        begun = now
        isFull = now >= fullAt || reached == nil
        guard !isFull, let reached else { return nil }
        return PGTimestamp(microseconds: reached.microseconds - TickCursor.overlapMicroseconds)
    }

    /// The look has ended.
    ///
    /// - Parameters:
    ///   - latest: the latest tick done; nil: none was due.
    ///   - hasMore: whether others are due already; they are looked for at once and from the beginning.
    ///   - wait: milliseconds until the next tick; nil: there is none.
    mutating func end(at latest: PGTimestamp?, hasMore: Bool, wait: Int64?, now: UInt64) {
        if isFull { fullAt = now + min(TickCursor.longestDistance, max(TickCursor.interval, 50 * (now - begun))) }
        if let latest { reached = PGTimestamp(microseconds: max(latest.microseconds, reached?.microseconds ?? .min)) }
        if hasMore {
            fullAt = now
            due = now
        } else if let wait, wait < 1000 {
            // A millisecond more, so that the database's clock has passed it.
            due = min(due, now + UInt64(max(wait, 0) + 1) * 1_000_000)
        }
    }
}
