// SPDX-License-Identifier: Apache-2.0

/// When the other session is to ask after one that owes an answer. Monotonic nanoseconds.
struct SessionSilence {
    /// 3 s without a byte of an answer: then the other session asks, and again after each 3 s more.
    private static let limit: UInt64 = 3_000_000_000

    /// No question before.
    private var questionDue: UInt64 = 0

    /// Whether it has been silent for too long.
    static func isSilent(since: UInt64?, now: UInt64) -> Bool { since.map { now >= $0 + limit } ?? false }

    /// When it is to be asked after, if it stays silent; nil: it owes nothing.
    func due(silentSince: UInt64?) -> UInt64? { silentSince.map { max($0 + SessionSilence.limit, questionDue) } }

    /// Whether it is to be asked after now; it counts as asked.
    mutating func asks(silentSince: UInt64?, now: UInt64) -> Bool {
        guard SessionSilence.isSilent(since: silentSince, now: now), now >= questionDue else { return false }
        questionDue = now + SessionSilence.limit
        return true
    }
}
