// SPDX-License-Identifier: Apache-2.0

/// How far the stop of a worker has come. Times are monotonic nanoseconds.
struct Shutdown {
    /// The time after the drain to write the last results and to sign off: 5 s.
    private static let leaveTime: UInt64 = 5_000_000_000
    /// The part of it that is kept for the sign-off: 1 s. Jobs that are not concluded by then are left to other
    /// workers.
    private static let signOffTime: UInt64 = 1_000_000_000

    /// Calls may run until this moment; nil: no stop was requested.
    var drainDeadline: UInt64?
    /// The worker must sign off by this moment; nil: the drain goes on.
    private(set) var leaveDeadline: UInt64?
    /// The worker's number in the sign-off that was sent.
    var leaving: Int32?

    /// Whether a stop was requested.
    var isRequested: Bool { drainDeadline != nil }

    /// Whether the drain is over, by its timeout or by a second signal.
    func isDrainOver(now: UInt64) -> Bool { drainDeadline.map { now >= $0 } ?? false }

    /// Whether the time for the sign-off is over.
    func isOverdue(now: UInt64) -> Bool { leaveDeadline.map { now >= $0 } ?? false }

    /// Records that the drain is over, or that no call is left to drain.
    mutating func drained(now: UInt64) {
        if leaveDeadline == nil { leaveDeadline = now + Shutdown.leaveTime }
    }

    /// Whether the sign-off must be sent now, although some ended jobs are not concluded.
    func mustLeaveNow(now: UInt64) -> Bool { now + Shutdown.signOffTime >= leaveDeadline ?? 0 }

    /// The next deadline of the stop, nil if none lies ahead. A moment in the past is left out: it would keep the loop
    /// awake while it waits for an answer.
    func due(now: UInt64) -> UInt64? {
        let moments = [drainDeadline, leaveDeadline.map { $0 - Shutdown.signOffTime }, leaveDeadline]
        return moments.compactMap { $0 }.filter { $0 > now }.min()
    }
}
