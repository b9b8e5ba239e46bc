// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// When a leader looks for due schedules, and where it starts. Pure.
///
/// It looks when the next known tick is due, and every second for new or changed schedules.
///
/// The schedules before the cursor are done, but their dead rows may stay for hours while an old transaction is open. A
/// look from the beginning finds schedules that were committed late or set by hand. Such looks are 1 s apart, or 50
/// times their cost, at most 10 s. The cost includes the creation of jobs.
struct TickCursor {
    /// A look starts 1 s before the cursor, because schedules that are due at one time come in any order.
    static let overlapMicroseconds: Int64 = 1_000_000
    static let interval: UInt64 = 1_000_000_000
    static let longestDistance: UInt64 = 10_000_000_000

    /// The next look, in monotonic nanoseconds.
    private(set) var due: UInt64 = 0
    /// The latest tick that was done.
    private var reached: PGTimestamp?
    /// When the next look from the beginning is due.
    private var fullAt: UInt64 = 0
    private var isFull = false
    private var begun: UInt64 = 0

    /// Begins a look.
    ///
    /// - Returns: the time at which it starts, nil for the beginning.
    mutating func begin(now: UInt64) -> PGTimestamp? {
        due = now + TickCursor.interval
        begun = now
        isFull = now >= fullAt || reached == nil
        guard !isFull, let reached else { return nil }
        return PGTimestamp(microseconds: reached.microseconds - TickCursor.overlapMicroseconds)
    }

    /// Records the end of a look.
    ///
    /// - Parameters:
    ///   - latest: the latest tick that was done; nil: none was due.
    ///   - hasMore: whether further ticks are due already. The next look is sent at once, and starts at the beginning.
    ///   - wait: milliseconds until the next tick; nil: no schedule has one.
    mutating func end(at latest: PGTimestamp?, hasMore: Bool, wait: Int64?, now: UInt64) {
        if isFull { fullAt = now + min(TickCursor.longestDistance, max(TickCursor.interval, 50 * (now - begun))) }
        if let latest { reached = PGTimestamp(microseconds: max(latest.microseconds, reached?.microseconds ?? .min)) }
        if hasMore {
            fullAt = now
            due = now
        } else if let wait, wait < 1000 {
            // One millisecond more, so that the database's clock has passed the tick.
            due = min(due, now + UInt64(max(wait, 0) + 1) * 1_000_000)
        }
    }
}
