// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// What the callbacks session has to do: hooks before calls, and the ends of jobs that set off functions. Pure.
///
/// Ends are not listed here: they lie in the database, and the desk only knows that some may be there. So nothing is lost
/// with a connection, or with this worker.
struct CallbackDesk {
    /// Jobs of one conclusion at most, if none of them has functions.
    static let limit: Int32 = 256
    /// 250 ms: after a failure.
    static let rest: UInt64 = 250_000_000

    /// Whether ends may wait in the database.
    private(set) var isOwed = false
    /// Whether a conclusion is under way.
    private(set) var isConcluding = false
    /// No conclusion before this moment, after one failed.
    private(set) var restUntil: UInt64 = 0
    /// Whether the last conclusion failed as a whole: what it began with is to be put off.
    private(set) var hasFailed = false
    /// Prepared jobs whose hooks are to run before their calls.
    private var waiting: [Preparation.Entry] = []
    /// Those whose hooks run, by number.
    private var beginning: [UInt64: Preparation.Entry] = [:]
    private var nextNumber: UInt64 = 1

    /// Whether a connection is needed at all.
    var hasWork: Bool { isOwed || isConcluding || !waiting.isEmpty || !beginning.isEmpty }

    /// Whether all ends that this worker knows of are concluded.
    var isQuiet: Bool { !isOwed && !isConcluding }

    /// Ends may wait in the database.
    mutating func endsWait() { isOwed = true }

    /// Whether to conclude now; it counts as begun.
    mutating func concludes(now: UInt64) -> Bool {
        guard isOwed, !isConcluding, now >= restUntil else { return false }
        isOwed = false
        hasFailed = false
        isConcluding = true
        return true
    }

    /// When to conclude again after a failure; nil if nothing is owed.
    func deadline(now: UInt64) -> UInt64? {
        isOwed && !isConcluding && now < restUntil ? restUntil : nil
    }

    /// A conclusion is stored; there may be more to do.
    mutating func concluded(more: Bool) {
        isConcluding = false
        if more { isOwed = true }
    }

    /// A conclusion was refused; it is tried again after a rest.
    mutating func conclusionFailed(now: UInt64) {
        isConcluding = false
        isOwed = true
        hasFailed = true
        restUntil = now + CallbackDesk.rest
    }

    /// A prepared job whose hooks are to run before its call.
    mutating func hooksWait(slot: Int, _ lease: Lease) {
        waiting.append(Preparation.Entry(slot: slot, lease: lease))
    }

    /// The next job whose hooks are to run; they count as begun.
    mutating func nextBeginning() -> (number: UInt64, jobID: Int64)? {
        guard !waiting.isEmpty else { return nil }
        let entry = waiting.removeFirst()
        defer { nextNumber += 1 }
        beginning[nextNumber] = entry
        return (nextNumber, entry.lease.jobID)
    }

    /// A job's hooks have run, or cannot: it is to be called now, if it still has its slot.
    mutating func begun(_ number: UInt64) -> Preparation.Entry? { beginning.removeValue(forKey: number) }

    /// The connection is gone: all of it is asked for again. Hooks that did run do not run twice.
    mutating func connectionLost() {
        if isConcluding { isOwed = true }
        isConcluding = false
        waiting = beginning.sorted { $0.key < $1.key }.map(\.value) + waiting
        beginning.removeAll()
    }
}
