// SPDX-License-Identifier: Apache-2.0

/// How much memory request bodies, answers and unwritten results take, and who may take more. Pure.
///
/// ```
/// total ─┬─ small share   bodies up to 64 KiB and the first bytes of each answer: granted without asking
///        ├─ first steps   up to 1 MiB of an answer
///        └─ the rest      bodies, whole answers, results, what a fetch and a write copy
/// ``` A larger answer is granted as a whole or not at all, so each that is granted can end without more. A larger body
/// is granted only if the largest answer that a running call may get still fits beside it. So something can always end,
/// and what has ended is written and freed.
struct MemoryBudget: Equatable {
    /// Bytes in all.
    let total: Int
    /// Bytes of an answer that each call keeps without asking.
    let allowance: Int
    private let smallShare: Int
    private let stepShare: Int
    /// Bodies up to this size come with the claim.
    static let smallBody = 64 << 10
    /// The first step of a larger answer.
    static let step = 1 << 20
    /// A body or answer that has waited this long goes first: 5 s. Others wait behind it, except answers of calls that
    /// hold a large body: only their end frees that memory.
    static let patience: UInt64 = 5_000_000_000

    /// The memory of one call.
    private struct Charge: Equatable {
        /// A small body and the allowance.
        var small = 0
        /// A large body with its copies.
        var body = 0
        /// Bytes that libpq holds while a large body is fetched.
        var fetch = 0
        var step = 0
        /// An answer that is granted as a whole.
        var answer = 0
        /// The largest answer that it may ask for.
        var mostAnswer = 0
        /// Its answer was granted when the call began.
        var isMultiplexed = false
    }

    private var charges: [Charge]
    private var small = 0
    private var steps = 0
    /// Large bodies, fetches and whole answers.
    private var large = 0
    private var multiplexed = 0
    /// The largest statement that was written: libpq keeps a buffer of that size.
    private var written = 0
    /// The body or answer that has waited for longer than `patience` since this moment.
    private(set) var overdueSince: UInt64?

    /// A budget for a worker with so many slots.
    init(total: Int, slots: Int) {
        self.total = total
        allowance = max(16 << 10, min(64 << 10, total / 4 / max(1, slots)))
        smallShare = min(total / 4, slots * (allowance + MemoryBudget.smallBody))
        stepShare = total / 16
        charges = Array(repeating: Charge(), count: slots)
    }

    /// Bytes of the results that one statement writes, unless a single one has more.
    var batchLimit: Int { min(ExchangePolicy.bodyLimit, total / 32) }

    /// Memory for large bodies, answers and results while small ones stay within their share.
    private var most: Int { total - smallShare - stepShare }
    /// The same now: less, if small ones take more than their share.
    private var room: Int { total - max(smallShare, small) - stepShare }

    /// Memory for writing results whose largest has this size: the parameters, and libpq's buffer.
    private func writing(_ largest: Int) -> Int { max(largest, batchLimit) + max(largest, batchLimit, written) }

    // MARK: claims

    /// How many of `free` slots a claim may fill while these results wait to be written.
    func claimable(_ free: Int, unwritten: Int) -> Int {
        var left = total - stepShare - large - unwritten - small
        // The oldest waiting body or answer may need all but the small share.
        if overdueSince != nil { left = min(left, smallShare - small) }
        return max(0, min(free, left / (allowance + MemoryBudget.smallBody / 4)))
    }

    /// Bytes that attempts may take while they wait for the judging session: a quarter.
    var judgingShare: Int { total / 4 }

    // MARK: calls

    /// A job has a slot.
    mutating func began(_ slot: Int, smallBody bytes: Int) {
        charges[slot].small = allowance + bytes
        small += allowance + bytes
    }

    /// The job has left its slot.
    mutating func ended(_ slot: Int) {
        let charge = charges[slot]
        small -= charge.small
        steps -= charge.step
        large -= charge.body + charge.fetch + charge.answer
        if charge.isMultiplexed { multiplexed -= charge.answer }
        charges[slot] = Charge()
    }

    /// A statement with this much in it is being written.
    mutating func wrote(_ bytes: Int) { written = max(written, bytes) }

    // MARK: bodies

    /// A large body that is to be fetched.
    struct Body: Equatable {
        /// Bytes while its call runs.
        var cost: Int
        /// Additional bytes while it is fetched.
        var fetch: Int
    }

    /// Whether a large body fits at all.
    func fits(_ body: Body) -> Bool { body.cost + body.fetch + 2 * batchLimit <= most }

    /// Grants a large body if there is room, until the slot is free.
    mutating func admitBody(_ slot: Int, _ body: Body, since: UInt64, unwritten: Unwritten) -> Bool {
        if let overdueSince, since > overdueSince { return false }
        let used = large + unwritten.bytes
        let answer = largestAnswer
        // Alone it may take what answers could need: those are granted when it is gone.
        guard used == 0 || used + body.cost + body.fetch + answer + writing(max(answer, unwritten.largest)) <= room
        else { return false }
        charges[slot].body = body.cost
        charges[slot].fetch = body.fetch
        large += body.cost + body.fetch
        return true
    }

    /// The body is there, and is kept so many times.
    mutating func bodyCame(_ slot: Int, copies: Int, bytes: Int) {
        let isLarge = bytes > MemoryBudget.smallBody
        let (body, rest) = isLarge ? (bytes * copies, 0) : (0, bytes)
        large += body - charges[slot].body - charges[slot].fetch
        small += rest + allowance - charges[slot].small
        charges[slot].body = body
        charges[slot].fetch = 0
        charges[slot].small = rest + allowance
    }

    /// Room that bodies leave for an answer, so that any call's answer can be granted after the granted ones have
    /// ended.
    private var largestAnswer: Int {
        charges.reduce(min(MemoryBudget.usualAnswer, most / 4)) { max($0, $1.mostAnswer) }
    }

    /// The default of `max_response`: 10 MiB.
    private static let usualAnswer = 10 << 20

    // MARK: answers

    /// The largest answer that a call can ever be granted, at most `limit`: it is kept once, and written with two
    /// copies, one of which libpq keeps.
    func mostAnswer(_ limit: Int, _ slot: Int) -> Int {
        let free = most - charges[slot].body
        let fitting = free / 3 >= written ? free / 3 : (free - written) / 2
        return min(limit, max(allowance, fitting))
    }

    /// A call begins whose answer may have `bytes`. True: they are granted, so it may share a connection of HTTP/2,
    /// where an answer that waits would stop the others.
    mutating func callStarts(_ slot: Int, mostAnswer bytes: Int, mayMultiplex: Bool, unwritten: Unwritten) -> Bool {
        charges[slot].mostAnswer = bytes
        guard mayMultiplex else { return false }
        if bytes <= allowance { return true }
        guard overdueSince == nil, multiplexed + bytes <= most / 2, admits(bytes, unwritten) else { return false }
        charges[slot].answer = bytes
        charges[slot].isMultiplexed = true
        multiplexed += bytes
        large += bytes
        return true
    }

    private func admits(_ bytes: Int, _ unwritten: Unwritten) -> Bool {
        large + unwritten.bytes + bytes + writing(max(bytes, unwritten.largest)) <= room
    }

    /// How much of an answer may be kept from now on, in all; nil: it waits.
    mutating func grant(_ answer: Waiting, unwritten: Unwritten) -> Int? {
        let charge = charges[answer.slot]
        if charge.step == 0, charge.answer == 0 {
            let bytes = min(MemoryBudget.step, answer.wanted, stepShare)
            if bytes > allowance, steps + bytes <= stepShare {
                charges[answer.slot].step = bytes
                steps += bytes
                return bytes
            }
        }
        if let overdueSince, answer.since > overdueSince, charge.body == 0 { return nil }
        let others = large - charge.body - charge.answer
        // The oldest may have all that is left when no other holds anything: it was measured when its call began.
        let isLast = overdueSince == answer.since && others == 0 && unwritten.bytes == 0
        guard isLast || admits(answer.wanted - charge.answer, unwritten) else { return nil }
        steps -= charge.step
        large += answer.wanted - charge.answer
        charges[answer.slot].step = 0
        charges[answer.slot].answer = answer.wanted
        return answer.wanted
    }

    /// A look at all that waits begins; the oldest has waited since this moment, nil if nothing waits.
    mutating func looks(oldest: UInt64?, now: UInt64) {
        overdueSince = oldest.flatMap { now >= $0 + MemoryBudget.patience ? $0 : nil }
    }

    /// Nothing waits.
    mutating func nothingWaits() { overdueSince = nil }

    /// An answer that has no room for its next bytes.
    struct Waiting: Equatable {
        var slot: Int
        /// Bytes that it has in all, or may have.
        var wanted: Int
        /// Since when it has waited.
        var since: UInt64
    }

    /// Results that wait to be written.
    struct Unwritten: Equatable {
        var bytes = 0
        /// The largest of them.
        var largest = 0

        mutating func add(_ sizes: AttemptSizes) { add(sizes.bytes, largest: sizes.largest) }

        mutating func add(_ bytes: Int, largest: Int) {
            self.bytes += bytes
            self.largest = max(self.largest, largest)
        }
    }
}
