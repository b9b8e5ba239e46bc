// SPDX-License-Identifier: Apache-2.0

internal import JobModel

// Lanes with limits. A job's permit goes back with its slot. Its call begins when the lane allows it. Missing permits
// are acquired from the database.
extension Dispatcher {
    /// Frees a slot, and the permit of its job.
    @discardableResult
    mutating func free(_ slot: Int, now: UInt64) -> ClaimedJob? {
        guard let job = slots.release(slot) else { return nil }
        memory.ended(slot)
        if job.lane != 0 { lanes.released(job.lane, slot: slot, isStarted: job.isStarted, now: now) }
        return job
    }

    /// Releases the permits that a claim reserved and did not use.
    mutating func giveBack(_ claim: Exchange.Claim, found: [Int32: (count: Int, last: Int64)], now: UInt64) {
        for visit in claim.visits where visit.lane != 0 {
            lanes.unreserve(visit.lane, Int(visit.cap) - (found[visit.track]?.count ?? 0), now: now)
        }
    }

    /// Whether a call begins now. If false, its slot keeps it, and `nextStart` returns it when the lane allows it.
    mutating func admit(_ call: HTTPCall, slot: Int, now: UInt64) -> Bool {
        guard var job = slots.job(in: slot), job.lane != 0 else { return true }
        job.isStarted = lanes.admit(job.lane, slot: slot, now: now)
        job.call = call
        slots.update(slot, job)
        return job.isStarted
    }

    /// The next slot whose call may begin now, and the call.
    mutating func nextStart(now: UInt64) -> (slot: Int, call: HTTPCall)? {
        guard !lanes.isEmpty, let slot = lanes.nextStart(now: now), var job = slots.job(in: slot) else { return nil }
        job.isStarted = true
        slots.update(slot, job)
        return job.call.map { (slot, $0) }
    }

    /// The permits to request now. They count as requested.
    mutating func nextLaneRequests(now: UInt64) -> [LaneRequest] {
        guard worker > 0, !lanes.isEmpty else { return [] }
        // The closure reads a copy, because `lanes` changes while it runs.
        let knownTracks = knownTracks
        return lanes.request(free: isDraining ? 0 : max(0, slots.freeCount - reserved), now: now) {
            knownTracks.isWanted($0)
        }
    }

    /// When a lane needs a request for permits, a claim or a start.
    ///
    /// - Parameters:
    ///   - canRequest: whether the duties session can take a request for permits now.
    ///   - canClaim: whether the jobs session can take a claim now.
    mutating func laneDeadline(canRequest: Bool, canClaim: Bool, now: UInt64) -> UInt64? {
        guard worker > 0, !lanes.isEmpty else { return nil }
        let knownTracks = knownTracks
        let free = isDraining ? 0 : max(0, slots.freeCount - reserved)
        return lanes.deadline(
            free: free, canRequest: canRequest,
            claims: canClaim && exchanges.isEmpty && now >= max(restUntil, pausedUntil) && lifecycle.takesJobs,
            now: now
        ) { knownTracks.isWanted($0) }
    }

    /// The slots of calls in lanes with limits. If the other workers declare this one lost, they take its permits.
    var limitedSlots: [Int] {
        lanes.isEmpty ? [] : slots.running.filter { $0.job.lane != 0 }.map(\.slot)
    }
}
