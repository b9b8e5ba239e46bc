// SPDX-License-Identifier: Apache-2.0

/// The waits between statements that the database refuses. Pure. Times are monotonic nanoseconds.
///
/// The first wait is 250 ms. Each further one is twice as long, up to a limit. A success ends them.
struct StatementBackoff {
    /// The first wait: 250 ms.
    static let first: UInt64 = 250_000_000

    private let longest: UInt64
    /// How many statements were refused since the last success.
    private(set) var refusals = 0
    /// No statement is sent before this moment.
    private(set) var until: UInt64 = 0
    /// When the first of these refusals came; nil after a success.
    private(set) var since: UInt64?

    /// A backoff without refusals.
    init(longest: UInt64) { self.longest = longest }

    /// Whether the last statement was refused.
    var isOn: Bool { since != nil }

    /// The wait after so many refusals in a row.
    static func wait(after refusals: Int, longest: UInt64) -> UInt64 {
        min(longest, first << UInt64(min(max(refusals, 1) - 1, 16)))
    }

    /// Records a refused statement.
    mutating func refused(now: UInt64) {
        refusals += 1
        if since == nil { since = now }
        until = max(until, now + StatementBackoff.wait(after: refusals, longest: longest))
    }

    /// Records a successful statement.
    mutating func succeeded() {
        refusals = 0
        since = nil
        until = 0
    }

    /// The end of the wait, nil if it has passed.
    func deadline(now: UInt64) -> UInt64? { until > now ? until : nil }
}
