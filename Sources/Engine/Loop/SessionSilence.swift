// SPDX-License-Identifier: Apache-2.0

/// Decides when the other session asks about a session that owes an answer. Times are monotonic nanoseconds.
struct SessionSilence {
    /// After 3 s without a byte of an answer the other session asks, and again every 3 s.
    private static let limit: UInt64 = 3_000_000_000

    /// No question before this moment.
    private var questionDue: UInt64 = 0

    /// Whether the session has been silent for 3 s or longer.
    static func isSilent(since: UInt64?, now: UInt64) -> Bool { since.map { now >= $0 + limit } ?? false }

    /// When to ask about it if it stays silent. Nil if it owes no answer.
    func due(silentSince: UInt64?) -> UInt64? { silentSince.map { max($0 + SessionSilence.limit, questionDue) } }

    /// Whether to ask about it now. True counts it as asked.
    mutating func asks(silentSince: UInt64?, now: UInt64) -> Bool {
        guard SessionSilence.isSilent(since: silentSince, now: now), now >= questionDue else { return false }
        questionDue = now + SessionSilence.limit
        return true
    }
}
