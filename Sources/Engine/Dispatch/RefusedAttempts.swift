// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Attempts that the database refused to store when each was alone in its batch. Pure. Times are monotonic nanoseconds.
///
/// They hold no slot. Each is sent again alone after its own wait, so other attempts are stored meanwhile.
///
/// If the database stores nothing at all, no single attempt causes the refusals. At the next success these attempts go
/// back to the others. An attempt that is refused for 15 minutes is given up. Only time in which others are stored
/// counts.
struct RefusedAttempts {
    /// The longest wait of one attempt: 30 s.
    static let longestWait: UInt64 = 30_000_000_000
    /// The longest wait while the worker drains: 1 s.
    static let longestWaitAtEnd: UInt64 = 1_000_000_000
    /// An attempt is given up after so much time of refusals while others are stored: 15 minutes.
    static let patience: UInt64 = 900_000_000_000

    private var waiting: [(attempt: FinishedAttempt, due: UInt64)] = []
    private(set) var sizes = AttemptSizes()

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }

    /// The leases of these attempts. They still hold.
    var leases: [Lease] { waiting.map(\.attempt.lease) }

    /// When the next attempt is to be sent, nil if none waits.
    func due(isDraining: Bool) -> UInt64? {
        waiting.lazy.map { isDraining ? min($0.due, RefusedAttempts.dueAtEnd($0.attempt)) : $0.due }.min()
    }

    private static func dueAtEnd(_ attempt: FinishedAttempt) -> UInt64 {
        (attempt.refusal?.last ?? 0) + longestWaitAtEnd
    }

    /// Takes an attempt that was refused alone.
    ///
    /// - Parameter stored: how many batches the worker has stored so far.
    /// - Returns: the attempt if it is given up, nil if it waits.
    mutating func put(_ attempt: FinishedAttempt, stored: UInt64, now: UInt64) -> FinishedAttempt? {
        var attempt = attempt
        if var refusal = attempt.refusal {
            // In a shortage many attempts take turns. The time since the last refusal may then be much longer than the
            // wait.
            let since = min(now - min(now, refusal.last), RefusedAttempts.longestWait)
            if stored > refusal.storedBefore { refusal.alone += since }
            refusal.count += 1
            refusal.last = now
            refusal.storedBefore = stored
            attempt.refusal = refusal
        } else {
            attempt.refusal = FinishedAttempt.Refusal(at: now, storedBefore: stored)
        }
        if !attempt.isReduced, let refusal = attempt.refusal, refusal.alone >= RefusedAttempts.patience {
            return attempt
        }
        let wait = StatementBackoff.wait(after: attempt.refusal?.count ?? 1, longest: RefusedAttempts.longestWait)
        waiting.append((attempt, now + wait))
        sizes.add(attempt)
        return nil
    }

    /// Removes and returns the attempt that has been due for longest, nil if none is due.
    mutating func next(isDraining: Bool, now: UInt64) -> FinishedAttempt? {
        guard let due = due(isDraining: isDraining), due <= now,
            let place = waiting.firstIndex(where: {
                (isDraining ? min($0.due, RefusedAttempts.dueAtEnd($0.attempt)) : $0.due) == due
            })
        else { return nil }
        let attempt = waiting.remove(at: place).attempt
        sizes.remove(attempt)
        return attempt
    }

    /// Removes and returns the attempts that were refused only while the database stored nothing.
    mutating func release() -> [FinishedAttempt] {
        let released = waiting.map(\.attempt).filter { !$0.goesAlone }
        for attempt in released { sizes.remove(attempt) }
        waiting.removeAll { !$0.attempt.goesAlone }
        return released
    }

    /// Drops the attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) {
        for entry in waiting where !held.contains(entry.attempt.lease.seq) { sizes.remove(entry.attempt) }
        waiting.removeAll { !held.contains($0.attempt.lease.seq) }
    }
}
