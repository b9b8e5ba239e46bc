// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Jobs with a slot whose large bodies stay in the database until the memory budget has room, the longest wait first.
/// Pure.
struct WaitingBodies {
    /// One job.
    struct Waiting {
        var entry: Preparation.Entry
        var body: MemoryBudget.Body
        var since: UInt64
    }

    private var waiting: [Waiting] = []

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }

    /// The start of the longest wait, nil if none waits.
    var oldest: UInt64? { waiting.first?.since }

    /// The start of each wait, by slot.
    var starts: [Int: UInt64] {
        Dictionary(waiting.map { ($0.entry.slot, $0.since) }, uniquingKeysWith: { first, _ in first })
    }

    /// Takes a job that has its slot.
    mutating func put(_ entry: Preparation.Entry, _ body: LargeBody, now: UInt64) {
        waiting.append(Waiting(entry: entry, body: WaitingBodies.charge(for: body), since: now))
    }

    /// The memory that a body needs. A plain body exists once, and twice while it is fetched. Parts and forms exist
    /// twice, and libpq also buffers their row while they are fetched.
    private static func charge(for body: LargeBody) -> MemoryBudget.Body {
        body.isPlain
            ? MemoryBudget.Body(cost: body.bytes, fetch: body.bytes)
            : MemoryBudget.Body(cost: 2 * body.bytes, fetch: 3 * body.bytes)
    }

    /// The end of a job whose body can never get its memory.
    static func tooLarge(_ total: Int) -> Verdict {
        Verdict(
            .failed, .tooLarge,
            "the body does not fit into this worker's memory, \(total >> 20) MiB; nothing was sent; start it with more --memory"
        )
    }

    /// Drops the jobs that have lost their slots.
    mutating func dropEnded(_ slots: SlotTable) { waiting.removeAll { !$0.entry.isHeld(in: slots) } }

    /// Removes and returns all jobs. Put those back that wait on, in the same order.
    mutating func takeAll() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    mutating func putBack(_ job: Waiting) { waiting.append(job) }
}
