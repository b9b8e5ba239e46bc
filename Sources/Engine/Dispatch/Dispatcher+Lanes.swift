// SPDX-License-Identifier: Apache-2.0

internal import JobModel

// Lanes with limits: what a job holds of them goes back with its slot, its call begins when the lane allows it, and
// what is missing is drawn from the database.
extension Dispatcher {
    /// Frees a slot, and what its job held of its lane.
    @discardableResult
    mutating func free(_ slot: Int, now: UInt64) -> ClaimedJob? {
        guard let job = slots.release(slot) else { return nil }
        memory.ended(slot)
        if job.lane != 0 { lanes.released(job.lane, slot: slot, isStarted: job.isStarted, now: now) }
        return job
    }

    /// What a claim might have brought of lanes with limits, and did not.
    mutating func giveBack(_ claim: Exchange.Claim, found: [Int32: (count: Int, last: Int64)], now: UInt64) {
        for visit in claim.visits where visit.lane != 0 {
            lanes.unreserve(visit.lane, Int(visit.cap) - (found[visit.track]?.count ?? 0), now: now)
        }
    }

    /// A call is ready to begin. True: now; else `nextStart` gives its slot when its lane allows it.
    mutating func begins(_ call: HTTPCall, slot: Int, now: UInt64) -> Bool {
        guard var job = slots.job(in: slot), job.lane != 0 else { return true }
        job.isStarted = lanes.admit(job.lane, slot: slot, now: now)
        job.call = call
        slots.update(slot, job)
        return job.isStarted
    }

    /// A slot whose job begins now, and its call.
    mutating func nextStart(now: UInt64) -> (slot: Int, call: HTTPCall)? {
        guard !lanes.isEmpty, let slot = lanes.nextStart(now: now), var job = slots.job(in: slot) else { return nil }
        job.isStarted = true
        slots.update(slot, job)
        return job.call.map { (slot, $0) }
    }

    /// What to draw now; counts as sent.
    mutating func nextDraw(now: UInt64) -> [LaneRequest] {
        guard worker > 0, !lanes.isEmpty else { return [] }
        let knownTracks = knownTracks
        return lanes.draw(free: isDraining ? 0 : max(0, slots.freeCount - reserved), now: now) {
            knownTracks.isWanted($0)
        }
    }

    /// When lanes want something done.
    ///
    /// - Parameters:
    ///   - canDraw: whether the duties session can take a draw now.
    ///   - canClaim: whether the jobs session can take a claim now.
    mutating func laneDeadline(canDraw: Bool, canClaim: Bool, now: UInt64) -> UInt64? {
        guard worker > 0, !lanes.isEmpty else { return nil }
        let knownTracks = knownTracks
        let free = isDraining ? 0 : max(0, slots.freeCount - reserved)
        return lanes.deadline(
            free: free, draws: canDraw,
            claims: canClaim && exchanges.isEmpty && now >= max(restUntil, pausedUntil) && takesJobs,
            now: now
        ) { knownTracks.isWanted($0) }
    }

    /// Calls of lanes with limits. Once the worker is taken for lost others hold its permits.
    var limitedSlots: [Int] {
        lanes.isEmpty ? [] : slots.running.filter { $0.job.lane != 0 }.map(\.slot)
    }
}
