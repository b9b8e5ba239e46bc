// SPDX-License-Identifier: Apache-2.0

/// What a worker has drawn of one lane, and what of it is in use. Times are monotonic nanoseconds.
struct LaneAllowance: Sendable {
    /// Whether a draw has told what limits there are; before that nothing is allowed.
    private var isKnown = false
    /// Calls that may be under way; nil: no limit.
    private var permits: Int?
    private var share = 0
    /// Whether calls begin at slots only.
    private var isRated = false
    private var slots = LaneSlots()
    private var tolerance: UInt64 = 0
    /// Calls under way, and rows that claims under way may bring.
    private(set) var used = 0
    /// Of those, what has not begun.
    private var waiting = 0
    private var drawnAt: UInt64 = 0
    /// No draw for permits, and none for slots before: the last one has told that there are none.
    private var fullUntil: UInt64 = 0
    private var emptyUntil: UInt64 = 0
    private var lastUse: UInt64 = 0
    /// Calls that began at slots since the last draw.
    private var begun = 0
    /// The most that was in use since a moment, within a second. A worker that has not needed its permits asks for one
    /// more than it did; or one with a job now and then would hold half of them against one with a backlog.
    private var peak = 0
    private var peakSince: UInt64 = 0

    /// Whether nothing is in use and nothing held.
    var isIdle: Bool { used == 0 && (permits ?? 0) == 0 && slots.isEmpty }

    /// Rows that may be claimed now, `wanted` at most.
    ///
    /// Once the next slot is near, those that follow it closely come along, or each would need a claim of its own. They
    /// wait in the worker, so they take no more than half of what is wanted.
    mutating func room(_ wanted: Int, now: UInt64, lead: UInt64) -> Int {
        guard isKnown else { return 0 }
        let calls = min(wanted, permits.map { min($0, share) - used } ?? wanted)
        guard isRated, calls > 0 else { return max(0, calls) }
        dropLapsed(now)
        let near = slots.count(until: now + lead) - waiting
        guard near > 0 else { return 0 }
        let company = slots.count(until: now + lead + LanePermits.company) - waiting
        return min(calls, max(near, min(company, wanted / 2)))
    }

    mutating func reserve(_ count: Int) {
        used += count
        waiting += count
        peak = max(peak, used)
    }

    mutating func unreserve(_ count: Int, now: UInt64) {
        used -= count
        waiting -= count
        if used > 0 { lastUse = now }
    }

    /// Whether a waiting job may begin; its slot is taken.
    mutating func start(now: UInt64) -> Bool {
        if isRated {
            dropLapsed(now)
            guard let first = slots.first, first <= now else { return false }
            slots.removeFirst()
            begun += 1
        } else if !isKnown {
            return false
        }
        waiting -= 1
        lastUse = now
        return true
    }

    mutating func release(isStarted: Bool, now: UInt64) {
        used -= 1
        if !isStarted { waiting -= 1 }
        lastUse = now
    }

    /// When the next jobs are to begin; nil if no slot is left.
    ///
    /// Of slots that follow each other closely, that of the last one within `LanePermits.grain`: the loop wakes once
    /// for all of them, and none begins too late for its slot.
    mutating func nextStart(pending: Int, now: UInt64) -> UInt64? {
        guard isRated else { return isKnown ? now : nil }
        dropLapsed(now)
        guard let first = slots.first else { return nil }
        let together = slots.count(until: first + min(LanePermits.grain, tolerance / 4))
        return slots[max(1, min(together, pending)) - 1]
    }

    /// When a slot comes near enough for a claim.
    mutating func claimDue(lead: UInt64, now: UInt64) -> UInt64? {
        guard isKnown, isRated, permits.map({ min($0, share) > used }) ?? true else { return nil }
        dropLapsed(now)
        return slots[waiting].map { max($0, lead) - lead }
    }

    /// When to draw; nil: nothing to draw for.
    mutating func drawDue(isWanted: Bool, free: Int, now: UInt64) -> UInt64? {
        let earliest = drawnAt == 0 ? 0 : drawnAt + LanePermits.leastInterval
        guard isKnown else { return isWanted || used > 0 ? earliest : nil }
        dropLapsed(now)
        let retry = max(earliest, emptyUntil)
        // A claimed job without a slot waits in the worker.
        if isRated && waiting > slots.count { return retry }
        if let permits, permits > max(share, used) { return earliest }
        guard isWanted else {
            if let permits, permits > used { return max(earliest, lastUse + LanePermits.keepInterval) }
            return nil
        }
        let renew = drawnAt + LanePermits.renewInterval
        guard free > 0 else { return renew }
        let calls = permits.map { min($0, share) - used }
        if let calls, calls <= 0 { return used == 0 || share > used ? min(renew, max(earliest, fullUntil)) : renew }
        guard isRated else { return renew }
        let isEnough = slots.count - waiting >= min(free, calls ?? free) && !slots.isEmpty
        if isEnough { return renew }
        // Half of the horizon is still covered: then it can wait until it is not.
        guard let last = slots.last, slots.count > waiting else { return min(renew, retry) }
        return min(renew, max(retry, max(last, LanePermits.horizon / 2) - LanePermits.horizon / 2))
    }

    /// What to ask for; counts as asked.
    mutating func wish(_ lane: Int32, isWanted: Bool, free: Int, now: UInt64) -> LaneRequest {
        // How many will begin soon, by how many did since the last draw; one long ago says nothing of that.
        let elapsed = max(now - drawnAt, LanePermits.leastInterval)
        let pace = elapsed < LanePermits.horizon ? Int(UInt64(begun) * LanePermits.outlook / elapsed) : 0
        begun = 0
        drawnAt = now
        var more = isWanted ? free : 0
        var wanted = 0
        if let permits, isKnown, !isRated, now >= peakSince + LanePermits.renewInterval {
            if peakSince > 0, peak < permits { more = min(more, max(0, peak + 1 - used)) }
            peak = used
            peakSince = now
        }
        if isKnown && isRated {
            let calls = permits.map { max(0, min($0, share) - used) } ?? Int(Int32.max)
            wanted = max(0, waiting + min(isWanted ? max(more, pace) : more, calls) - slots.count)
        }
        return LaneRequest(
            lane: lane, used: Int32(clamping: used), hold: Int32(clamping: used + more), slots: Int32(clamping: wanted))
    }

    /// What was granted.
    mutating func take(_ grant: LaneGrant, now: UInt64) {
        let wasKnown = isKnown && (permits == nil) == (grant.permits == nil) && isRated == (grant.slots != nil)
        isKnown = true
        permits = grant.permits.map { Int($0) }
        share = Int(grant.share)
        isRated = grant.slots != nil
        tolerance = grant.tolerance
        if !isRated { slots = LaneSlots() }
        slots.append(first: grant.first, spacing: grant.spacing, count: Int(grant.slots ?? 0))
        emptyUntil = 0
        fullUntil = 0
        // Of a lane that was not known no slots were asked for.
        guard wasKnown else { return }
        if let permits, min(permits, share) <= used { fullUntil = now + LanePermits.retryInterval }
        if grant.slots == 0 {
            // Others have drawn all; not back for the very next slot, or all workers would draw for each.
            let half = LanePermits.horizon / 2
            emptyUntil = min(max(grant.first, half) - half, now + LanePermits.renewInterval)
        }
    }

    mutating func drawAnew() {
        isKnown = false
        permits = nil
        share = 0
        slots = LaneSlots()
        drawnAt = 0
        emptyUntil = 0
        fullUntil = 0
    }

    private mutating func dropLapsed(_ now: UInt64) {
        guard let first = slots.first, first + tolerance < now else { return }
        slots.removeFirst(slots.count(until: now - tolerance - 1))
    }
}
