// SPDX-License-Identifier: Apache-2.0

/// How much memory request bodies, answers and unwritten results take, and which of them may take more. Pure.
///
/// ```
/// total ─┬─ small share   bodies up to 64 KiB and the first bytes of each answer: granted without asking
///        ├─ first steps   up to 1 MiB of an answer
///        └─ the rest      bodies, whole answers, results, copies during a fetch or write
/// ```
/// A larger answer is granted as a whole or not at all. So each granted answer can end without more memory. A larger
/// body is granted only if the largest answer of a running call still fits as well. So some call can always end, and
/// its memory is freed once its result is written.
struct MemoryBudget: Equatable {
    /// The whole budget, in bytes.
    let total: Int
    /// The bytes of an answer that each call keeps without asking.
    let allowance: Int
    private let smallShare: Int
    private let stepShare: Int
    /// Bodies up to 64 KiB come with the claim.
    static let smallBody = 64 << 10
    /// The first grant for a larger answer: 1 MiB.
    static let step = 1 << 20
    /// A body or answer that has waited for 5 s goes first, and the others wait behind it. Answers of calls that hold a
    /// large body are an exception: only their end frees that memory.
    static let patience: UInt64 = 5_000_000_000

    /// The memory of one call.
    private struct Charge: Equatable {
        /// The small body and the allowance.
        var small = 0
        /// The large body with its copies.
        var body = 0
        /// The bytes that libpq holds while a large body is fetched.
        var fetch = 0
        var step = 0
        /// The answer that is granted as a whole.
        var answer = 0
        /// The largest answer that the call may ask for.
        var mostAnswer = 0
        /// Whether its answer was granted when the call began.
        var isMultiplexed = false
    }

    private var charges: [Charge]
    private var small = 0
    private var steps = 0
    /// Large bodies, fetches and whole answers.
    private var large = 0
    /// Answers that were granted when their calls began.
    private var multiplexed = 0
    /// The largest statement that was written. libpq keeps a buffer of that size.
    private var written = 0
    /// The start of the longest wait, if it is longer than `patience`.
    private(set) var overdueSince: UInt64?

    /// A budget for a worker with this many slots.
    init(total: Int, slots: Int) {
        self.total = total
        allowance = max(16 << 10, min(64 << 10, total / 4 / max(1, slots)))
        smallShare = min(total / 4, slots * (allowance + MemoryBudget.smallBody))
        stepShare = total / 16
        charges = Array(repeating: Charge(), count: slots)
    }

    /// The most bytes of results in one statement, unless a single result is larger.
    var batchLimit: Int { min(ExchangePolicy.bodyLimit, total / 32) }

    /// The memory for large bodies, answers and results while the small ones stay within their share.
    private var most: Int { total - smallShare - stepShare }
    /// The same at this moment. It is less if the small ones exceed their share.
    private var room: Int { total - max(smallShare, small) - stepShare }

    /// The memory for writing results whose largest has this size: the parameters and libpq's buffer.
    private func writing(_ largest: Int) -> Int { max(largest, batchLimit) + max(largest, batchLimit, written) }

    // MARK: claims

    /// How many of `free` slots a claim may fill while these results are unwritten.
    func claimable(_ free: Int, unwritten: Int) -> Int {
        var left = total - stepShare - large - unwritten - small
        // The body or answer that has waited longest may need all memory except the small share.
        if overdueSince != nil { left = min(left, smallShare - small) }
        return max(0, min(free, left / (allowance + MemoryBudget.smallBody / 4)))
    }

    /// The bytes that attempts may take while they wait for the judging session: a quarter of the budget.
    var judgingShare: Int { total / 4 }

    // MARK: calls

    /// Charges a job that gets a slot.
    mutating func began(_ slot: Int, smallBody bytes: Int) {
        charges[slot].small = allowance + bytes
        small += allowance + bytes
    }

    /// Frees the memory of a job that leaves its slot.
    mutating func ended(_ slot: Int) {
        let charge = charges[slot]
        small -= charge.small
        steps -= charge.step
        large -= charge.body + charge.fetch + charge.answer
        if charge.isMultiplexed { multiplexed -= charge.answer }
        charges[slot] = Charge()
    }

    /// Records that a statement of this size is written.
    mutating func wrote(_ bytes: Int) { written = max(written, bytes) }

    // MARK: bodies

    /// A large body to be fetched.
    struct Body: Equatable {
        /// The bytes while its call runs.
        var cost: Int
        /// The additional bytes while it is fetched.
        var fetch: Int
    }

    /// Whether a large body fits into an otherwise empty budget.
    func fits(_ body: Body) -> Bool { body.cost + body.fetch + 2 * batchLimit <= most }

    /// Grants a large body if there is room. The grant lasts until the slot is free.
    mutating func admitBody(_ slot: Int, _ body: Body, since: UInt64, unwritten: Unwritten) -> Bool {
        if let overdueSince, since > overdueSince { return false }
        let used = large + unwritten.bytes
        let answer = largestAnswer
        // If no other body or answer holds memory, a body may take the room for answers. Answers are granted after it
        // has ended.
        guard used == 0 || used + body.cost + body.fetch + answer + writing(max(answer, unwritten.largest)) <= room
        else { return false }
        charges[slot].body = body.cost
        charges[slot].fetch = body.fetch
        large += body.cost + body.fetch
        return true
    }

    /// Records that the body has arrived, and in how many copies it is kept.
    mutating func bodyCame(_ slot: Int, copies: Int, bytes: Int) {
        let isLarge = bytes > MemoryBudget.smallBody
        let (body, rest) = isLarge ? (bytes * copies, 0) : (0, bytes)
        large += body - charges[slot].body - charges[slot].fetch
        small += rest + allowance - charges[slot].small
        charges[slot].body = body
        charges[slot].fetch = 0
        charges[slot].small = rest + allowance
    }

    /// The room that bodies leave for an answer. So the answer of any call can be granted after the granted ones have
    /// ended.
    private var largestAnswer: Int {
        charges.reduce(min(MemoryBudget.usualAnswer, most / 4)) { max($0, $1.mostAnswer) }
    }

    /// The default of `max_response`: 10 MiB.
    private static let usualAnswer = 10 << 20

    // MARK: answers

    /// The largest answer that a call can be granted, at most `limit`. It is kept once and written with two copies, one
    /// of which libpq keeps.
    func mostAnswer(_ limit: Int, _ slot: Int) -> Int {
        let free = most - charges[slot].body
        let fitting = free / 3 >= written ? free / 3 : (free - written) / 2
        return min(limit, max(allowance, fitting))
    }

    /// Charges a call that begins, whose answer may have `bytes`.
    ///
    /// True if the answer is granted now. Then the call may share an HTTP/2 connection. An answer that waits for memory
    /// would stop the other answers on that connection.
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

    /// How many bytes of an answer may be kept from now on, in all. Nil if it must wait.
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
        // The answer that has waited longest gets all that is left, if no other call holds memory. It fits, since the
        // call was bounded by the budget when it began.
        let isLast = overdueSince == answer.since && others == 0 && unwritten.bytes == 0
        guard isLast || admits(answer.wanted - charge.answer, unwritten) else { return nil }
        steps -= charge.step
        large += answer.wanted - charge.answer
        charges[answer.slot].step = 0
        charges[answer.slot].answer = answer.wanted
        return answer.wanted
    }

    /// Begins a look at all waiting bodies and answers. `oldest` is the start of the longest wait, nil if none waits.
    mutating func looks(oldest: UInt64?, now: UInt64) {
        overdueSince = oldest.flatMap { now >= $0 + MemoryBudget.patience ? $0 : nil }
    }

    /// Records that no body or answer waits.
    mutating func nothingWaits() { overdueSince = nil }

    /// An answer without room for its next bytes.
    struct Waiting: Equatable {
        var slot: Int
        /// The bytes that it has in all, or may have.
        var wanted: Int
        /// The start of its wait.
        var since: UInt64
    }

    /// Results that are not written yet.
    struct Unwritten: Equatable {
        var bytes = 0
        /// The size of the largest result.
        var largest = 0

        mutating func add(_ sizes: AttemptSizes) { add(sizes.bytes, largest: sizes.largest) }

        mutating func add(_ bytes: Int, largest: Int) {
            self.bytes += bytes
            self.largest = max(self.largest, largest)
        }
    }
}
