// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Attempts whose rows somebody may have locked, in a transaction that cancels or reschedules their jobs and is not
/// over yet. Pure.
///
/// A batch that had to wait for a lock comes here, and the database is asked which of its rows are free: those are
/// written at once. The others are asked for again after a while. So what else the worker has to write does not wait
/// with them, however many there are. Nothing is lost meanwhile, since the lease holds as long as the worker lives.
///
/// One that waits for a lock on another row waits here in the same way.
struct DeferredAttempts {
    /// Before they are asked for again: 5 s. Then each pause is twice the one before, up to 40 s.
    static let pause: UInt64 = 5_000_000_000
    /// The same at the end of a worker, which waits for nothing else, and after a question that failed: 1 s.
    static let shortPause: UInt64 = 1_000_000_000
    /// Rows of one question at most.
    static let limit = ExchangePolicy.finishLimit

    private var waiting: [(attempt: FinishedAttempt, due: UInt64)] = []
    private(set) var sizes = AttemptSizes()
    /// The question that has no answer yet.
    private var underWay: (number: UInt64, seqs: Set<Int64>)?
    private var restUntil: UInt64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// They still hold.
    var leases: [Lease] { waiting.map(\.attempt.lease) }

    /// When to ask next; nil: nothing waits, or an answer is waited for.
    func due(isDraining: Bool) -> UInt64? {
        guard underWay == nil, let first = waiting.lazy.map(\.due).min() else { return nil }
        return isDraining ? restUntil : max(first, restUntil)
    }

    /// Takes a batch that has waited for a lock.
    mutating func put(_ attempts: [FinishedAttempt], now: UInt64) {
        for attempt in attempts {
            waiting.append((attempt, now))
            sizes.add(attempt)
        }
        restUntil = min(restUntil, now)
    }

    /// Takes one that waits alone for a lock though its row is free: it goes out again after a pause, twice as long
    /// each time, and alone.
    ///
    /// - Returns: how often it has had to wait.
    @discardableResult
    mutating func putOff(_ attempt: FinishedAttempt, now: UInt64) -> Int {
        var attempt = attempt
        let due = DeferredAttempts.nextDue(&attempt, now: now)
        waiting.append((attempt, due))
        sizes.add(attempt)
        restUntil = max(restUntil, now + DeferredAttempts.shortPause)
        return attempt.lockWaits
    }

    /// When one that waits once more is to be asked for.
    private static func nextDue(_ attempt: inout FinishedAttempt, now: UInt64) -> UInt64 {
        defer { attempt.lockWaits += 1 }
        return now + pause << UInt64(min(attempt.lockWaits, 3))
    }

    /// Asks for those that have waited longest; empty if none is due.
    mutating func ask(_ number: UInt64, isDraining: Bool, now: UInt64) -> [Lease] {
        guard let due = due(isDraining: isDraining), now >= due else { return [] }
        let first = waiting.filter { isDraining || $0.due <= now }.sorted { $0.due < $1.due }.prefix(
            DeferredAttempts.limit)
        let leases = first.map(\.attempt.lease)
        underWay = (number, Set(leases.map(\.seq)))
        return leases
    }

    /// These rows are locked: gives the others back, to be written, and how often at most one of the locked has been
    /// found so.
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

    /// A question has failed, or could not be sent.
    mutating func askingFailed(_ number: UInt64, now: UInt64) {
        guard underWay?.number == number else { return }
        underWay = nil
        restUntil = now + DeferredAttempts.shortPause
    }

    /// The session is gone, and with it what was asked for.
    mutating func connectionLost() {
        underWay = nil
    }

    /// Forgets those whose lease no longer holds.
    mutating func keep(_ held: Set<Int64>) {
        for entry in waiting where !held.contains(entry.attempt.lease.seq) { sizes.remove(entry.attempt) }
        waiting.removeAll { !held.contains($0.attempt.lease.seq) }
    }
}
