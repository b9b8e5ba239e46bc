// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Attempts whose rows somebody has locked, in a transaction that cancels or reschedules their jobs and is not over yet. Pure.
///
/// Each is written again by itself after a while, and waits for the lock for a second at most: what else the worker has to write
/// does not wait with it. Nothing is lost meanwhile, since the lease holds as long as the worker lives.
struct Aside {
    /// Before the first further try: 5 s. Then each pause is twice the one before, up to 40 s.
    static let pause: UInt64 = 5_000_000_000

    private var waiting: [(attempt: FinishedAttempt, due: UInt64)] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// When the next one is to be tried; nil without any.
    var due: UInt64? { waiting.map(\.due).min() }

    /// They still hold.
    var leases: [Lease] { waiting.map(\.attempt.lease) }

    /// Takes one that had to wait for a lock by itself.
    mutating func put(_ attempt: FinishedAttempt, now: UInt64) {
        waiting.append((attempt, now + Aside.pause << UInt64(min(max(attempt.lockWaits - 2, 0), 3))))
    }

    /// Those that are due; all at the end of a worker.
    mutating func take(now: UInt64, all: Bool) -> [FinishedAttempt] {
        let due = waiting.filter { all || $0.due <= now }.map(\.attempt)
        if !due.isEmpty { waiting.removeAll { all || $0.due <= now } }
        return due
    }

    /// Forgets those whose lease no longer holds.
    mutating func keep(_ held: Set<Int64>) {
        waiting.removeAll { !held.contains($0.attempt.lease.seq) }
    }
}
