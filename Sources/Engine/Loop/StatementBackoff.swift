// SPDX-License-Identifier: Apache-2.0

/// Waits between statements that the database refuses: 250 ms, then twice as long each time, up to a limit. A success
/// ends them. Pure. Monotonic nanoseconds.
struct StatementBackoff {
    /// 250 ms.
    static let first: UInt64 = 250_000_000

    private let longest: UInt64
    /// Refusals since the last success.
    private(set) var refusals = 0
    /// Nothing is sent before.
    private(set) var until: UInt64 = 0
    /// When the first of these refusals came; nil: the last statement succeeded.
    private(set) var since: UInt64?

    /// Nothing was refused yet.
    init(longest: UInt64) { self.longest = longest }

    /// Whether the last statement was refused.
    var isOn: Bool { since != nil }

    /// The wait after so many refusals in a row.
    static func wait(after refusals: Int, longest: UInt64) -> UInt64 {
        min(longest, first << UInt64(min(max(refusals, 1) - 1, 16)))
    }

    /// A statement was refused.
    mutating func refused(now: UInt64) {
        refusals += 1
        if since == nil { since = now }
        until = max(until, now + StatementBackoff.wait(after: refusals, longest: longest))
    }

    /// A statement succeeded.
    mutating func succeeded() {
        refusals = 0
        since = nil
        until = 0
    }

    /// The end of the wait, if that lies ahead.
    func deadline(now: UInt64) -> UInt64? { until > now ? until : nil }
}
