// SPDX-License-Identifier: Apache-2.0

/// The grant of the database to this worker for one lane, and the part that is in use. Times are monotonic
/// nanoseconds.
struct LaneAllowance: Sendable {
    /// Whether a grant has named the limits. Before that no call is allowed.
    private var isKnown = false
    /// How many calls may be in flight; nil: no limit.
    private var permits: Int?
    /// The most calls in flight while other workers wait for permits.
    private var share = 0
    /// Whether each call needs a rate slot.
    private var isRated = false
    /// The granted rate slots, and how much later than its slot a call may begin.
    private var slots = LaneSlots()
    private var tolerance: UInt64 = 0
    /// Calls in flight, and rows that claims under way may bring.
    private(set) var used = 0
    /// How many of them have not begun.
    private var waiting = 0
    /// When the last request was sent.
    private var requestedAt: UInt64 = 0
    /// No request for permits, or for rate slots, before these moments: the last grant had none.
    private var fullUntil: UInt64 = 0
    private var emptyUntil: UInt64 = 0
    private var lastUse: UInt64 = 0
    /// Calls that began at rate slots since the last request.
    private var begun = 0
    /// The highest value of `used` since `peakSince`. A new measurement begins after a second.
    ///
    /// A worker that has not needed its permits requests one more than it used. Otherwise a worker with an occasional
    /// job would hold half of the permits against a worker with a backlog.
    private var peak = 0
    private var peakSince: UInt64 = 0

    /// Whether no call is in flight and no permit is held.
    var isIdle: Bool { used == 0 && (permits ?? 0) == 0 && slots.isEmpty }

    /// How many rows may be claimed now, at most `wanted`.
    ///
    /// Once the next rate slot is near, jobs for the slots that follow closely are claimed with it; otherwise each
    /// would need its own claim. They wait in the worker, so they take at most half of `wanted`.
    mutating func room(_ wanted: Int, now: UInt64, lead: UInt64) -> Int {
        guard isKnown else { return 0 }
        let calls = min(wanted, permits.map { min($0, share) - used } ?? wanted)
        guard isRated, calls > 0 else { return max(0, calls) }
        dropLapsed(now)
        let near = slots.count(until: now + lead) - waiting
        guard near > 0 else { return 0 }
        let following = slots.count(until: now + lead + LanePermits.claimAhead) - waiting
        return min(calls, max(near, min(following, wanted / 2)))
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

    /// Whether a waiting job may begin. If true, its rate slot is used.
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

    /// When the next jobs begin; nil if no rate slot is left.
    ///
    /// Several slots may lie within `LanePermits.grain`. Then the result is the last of them, so the loop wakes once
    /// for all. No call begins too late for its slot.
    mutating func nextStart(pending: Int, now: UInt64) -> UInt64? {
        guard isRated else { return isKnown ? now : nil }
        dropLapsed(now)
        guard let first = slots.first else { return nil }
        let together = slots.count(until: first + min(LanePermits.grain, tolerance / 4))
        return slots[max(1, min(together, pending)) - 1]
    }

    /// When a rate slot is near enough for a claim.
    mutating func claimDue(lead: UInt64, now: UInt64) -> UInt64? {
        guard isKnown, isRated, permits.map({ min($0, share) > used }) ?? true else { return nil }
        dropLapsed(now)
        return slots[waiting].map { max($0, lead) - lead }
    }

    /// When to send a request; nil if none is needed.
    mutating func requestDue(isWanted: Bool, free: Int, now: UInt64) -> UInt64? {
        let earliest = requestedAt == 0 ? 0 : requestedAt + LanePermits.leastInterval
        guard isKnown else { return isWanted || used > 0 ? earliest : nil }
        dropLapsed(now)
        let retry = max(earliest, emptyUntil)
        // A claimed job without a rate slot waits in the worker.
        if isRated && waiting > slots.count { return retry }
        if let permits, permits > max(share, used) { return earliest }
        guard isWanted else {
            if let permits, permits > used { return max(earliest, lastUse + LanePermits.keepInterval) }
            return nil
        }
        let renew = requestedAt + LanePermits.renewInterval
        guard free > 0 else { return renew }
        let calls = permits.map { min($0, share) - used }
        if let calls, calls <= 0 { return used == 0 || share > used ? min(renew, max(earliest, fullUntil)) : renew }
        guard isRated else { return renew }
        let isEnough = slots.count - waiting >= min(free, calls ?? free) && !slots.isEmpty
        if isEnough { return renew }
        // If the slots still cover half of the horizon, the request can wait until then.
        guard let last = slots.last, slots.count > waiting else { return min(renew, retry) }
        return min(renew, max(retry, max(last, LanePermits.horizon / 2) - LanePermits.horizon / 2))
    }

    /// The next request. It counts as sent.
    mutating func nextRequest(_ lane: Int32, isWanted: Bool, free: Int, now: UInt64) -> LaneRequest {
        // The number of calls that began since the last request predicts how many will begin soon. An old request
        // predicts nothing.
        let elapsed = max(now - requestedAt, LanePermits.leastInterval)
        let pace = elapsed < LanePermits.horizon ? Int(UInt64(begun) * LanePermits.outlook / elapsed) : 0
        begun = 0
        requestedAt = now
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

    /// Takes a grant.
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
        // If the lane was unknown, the request asked for no slots.
        guard wasKnown else { return }
        if let permits, min(permits, share) <= used { fullUntil = now + LanePermits.retryInterval }
        if grant.slots == 0 {
            // Other workers have taken all slots. The next request does not aim at the very next slot, because all
            // workers would then send one for each slot.
            let half = LanePermits.horizon / 2
            emptyUntil = min(max(grant.first, half) - half, now + LanePermits.renewInterval)
        }
    }

    mutating func requestAgain() {
        isKnown = false
        permits = nil
        share = 0
        slots = LaneSlots()
        requestedAt = 0
        emptyUntil = 0
        fullUntil = 0
    }

    private mutating func dropLapsed(_ now: UInt64) {
        guard let first = slots.first, first + tolerance < now else { return }
        slots.removeFirst(slots.count(until: now - tolerance - 1))
    }
}
