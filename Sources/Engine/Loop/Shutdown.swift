// SPDX-License-Identifier: Apache-2.0

/// How far the end of a worker has come. Monotonic nanoseconds.
struct Shutdown {
    /// Time to write what is left and to say goodbye, after the drain.
    private static let goodbyeTime: UInt64 = 5_000_000_000
    /// Of which this much is kept for the goodbye: ends that are not concluded by then are left to others.
    private static let timeToSay: UInt64 = 1_000_000_000

    /// Calls under way may end until then; nil: nobody has asked for the end.
    var drainDeadline: UInt64?
    /// The goodbye must be said by then; nil: the drain goes on.
    private(set) var leaveDeadline: UInt64?
    /// The number that the goodbye was said for.
    var leaving: Int32?

    /// Whether somebody has asked for the end.
    var isRequested: Bool { drainDeadline != nil }

    /// Whether the time of the drain is over, by itself or by a second signal.
    func isDrainOver(now: UInt64) -> Bool { drainDeadline.map { now >= $0 } ?? false }

    /// Whether the time of the goodbye is over.
    func isOverdue(now: UInt64) -> Bool { leaveDeadline.map { now >= $0 } ?? false }

    /// The drain is over, or nothing is left to drain.
    mutating func drained(now: UInt64) {
        if leaveDeadline == nil { leaveDeadline = now + Shutdown.goodbyeTime }
    }

    /// Whether the goodbye waits no longer for ends that are not concluded.
    func goodbyePresses(now: UInt64) -> Bool { now + Shutdown.timeToSay >= leaveDeadline ?? 0 }

    /// When the end is to be looked at next; nil: when something has happened. A moment gone by is no reason: it would
    /// keep the loop awake for as long as an answer is waited for.
    func due(now: UInt64) -> UInt64? {
        let moments = [drainDeadline, leaveDeadline.map { $0 - Shutdown.timeToSay }, leaveDeadline]
        return moments.compactMap { $0 }.filter { $0 > now }.min()
    }
}
