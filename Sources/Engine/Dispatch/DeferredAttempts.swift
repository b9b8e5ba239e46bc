// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Finished attempts whose job rows may be locked by an open transaction, such as one that cancels the job. Pure.
///
/// A batch that had to wait for a lock comes here. The worker asks the database which of its rows are free, and writes
/// those at once. It asks for the others again later. So locked rows do not delay the other results, however many there
/// are. The lease holds as long as the worker lives, so no result is lost.
///
/// An attempt that waits for a lock on another row waits here in the same way.
struct DeferredAttempts {
    /// The pause before the second question: 5 s. It doubles each time, up to 40 s.
    static let pause: UInt64 = 5_000_000_000
    /// The pause while the worker drains, and after a failed question: 1 s.
    static let shortPause: UInt64 = 1_000_000_000
    /// The most rows of one question.
    static let limit = ExchangePolicy.finishLimit

    private var waiting: [(attempt: FinishedAttempt, due: UInt64)] = []
    private(set) var sizes = AttemptSizes()
    /// The question that is not answered yet.
    private var underWay: (number: UInt64, seqs: Set<Int64>)?
    /// No question is sent before this moment.
    private var restUntil: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// The leases of the waiting attempts. They still hold.
    var leases: [Lease] { waiting.map(\.attempt.lease) }

    /// When to ask next. Nil if no attempt waits, or a question is under way.
    func due(isDraining: Bool) -> UInt64? {
        guard underWay == nil, let first = waiting.lazy.map(\.due).min() else { return nil }
        return isDraining ? restUntil : max(first, restUntil)
    }

    /// Takes a batch that has waited for a lock. The question about it is due at once.
    mutating func put(_ attempts: [FinishedAttempt], now: UInt64) {
        for attempt in attempts {
            waiting.append((attempt, now))
            sizes.add(attempt)
        }
        restUntil = min(restUntil, now)
    }

    /// Takes an attempt that waits alone for a lock although its own row is free. It is sent again, alone, after a
    /// pause that doubles each time.
    ///
    /// - Returns: how often it has waited.
    @discardableResult
    mutating func postpone(_ attempt: FinishedAttempt, now: UInt64) -> Int {
        var attempt = attempt
        let due = DeferredAttempts.nextDue(&attempt, now: now)
        waiting.append((attempt, due))
        sizes.add(attempt)
        restUntil = max(restUntil, now + DeferredAttempts.shortPause)
        return attempt.lockWaits
    }

    /// The next moment to ask for an attempt that waits again. The pause doubles with each wait.
    private static func nextDue(_ attempt: inout FinishedAttempt, now: UInt64) -> UInt64 {
        defer { attempt.lockWaits += 1 }
        return now + pause << UInt64(min(attempt.lockWaits, 3))
    }

    /// The leases of the attempts that have waited longest. Empty if no question is due.
    mutating func ask(_ number: UInt64, isDraining: Bool, now: UInt64) -> [Lease] {
        guard let due = due(isDraining: isDraining), now >= due else { return [] }
        let first = waiting.filter { isDraining || $0.due <= now }.sorted { $0.due < $1.due }.prefix(
            DeferredAttempts.limit)
        let leases = first.map(\.attempt.lease)
        underWay = (number, Set(leases.map(\.seq)))
        return leases
    }

    /// Records which rows are locked.
    ///
    /// - Returns: the free attempts, which are to be written, and the highest count of waits of a locked attempt.
    mutating func answered(
        _ number: UInt64, locked: Set<Int64>, now: UInt64
    ) -> (free: [FinishedAttempt], waits: Int) {
        guard let question = underWay, question.number == number else { return ([], 0) }
        underWay = nil
        var free: [FinishedAttempt] = []
        var still: [(attempt: FinishedAttempt, due: UInt64)] = []
        var waits = 0
        for var entry in waiting {
            if !question.seqs.contains(entry.attempt.lease.seq) {
                still.append(entry)
            } else if locked.contains(entry.attempt.lease.seq) {
                entry.due = DeferredAttempts.nextDue(&entry.attempt, now: now)
                waits = max(waits, entry.attempt.lockWaits)
                still.append(entry)
            } else {
                entry.attempt.blocks += 1
                sizes.remove(entry.attempt)
                free.append(entry.attempt)
            }
        }
        waiting = still
        if waits > 0 { restUntil = now + DeferredAttempts.shortPause }
        return (free, waits)
    }

    /// Records that a question has failed, or could not be sent.
    mutating func askingFailed(_ number: UInt64, now: UInt64) {
        guard underWay?.number == number else { return }
        underWay = nil
        restUntil = now + DeferredAttempts.shortPause
    }

    /// Records that the session is lost, and its question with it.
    mutating func connectionLost() {
        underWay = nil
    }

    /// Drops the attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) {
        for entry in waiting where !held.contains(entry.attempt.lease.seq) { sizes.remove(entry.attempt) }
        waiting.removeAll { !held.contains($0.attempt.lease.seq) }
    }
}
