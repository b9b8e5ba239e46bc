// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Lanes with limits: their permits, and the moments at which their calls may begin.
extension ClaimPlanner {
    var hasLanes: Bool { !lanes.isEmpty }
    /// Whether such lanes have calls in flight or claims under way.
    var usesLanes: Bool { lanes.isInUse }

    /// Puts tracks back into their lines if their lanes have permits.
    mutating func unpark(now: UInt64) {
        if !lanes.isEmpty, tracks.unpark(&lanes, now: now) { widen() }
    }

    /// Whether a claimed job may be called now. If false, `nextStart` returns its slot later.
    mutating func admit(_ lane: Int32, slot: Int, now: UInt64) -> Bool { lanes.admit(lane, slot: slot, now: now) }

    /// The next slot whose call may begin now.
    mutating func nextStart(now: UInt64) -> Int? { lanes.isEmpty ? nil : lanes.nextStart(now: now) }

    /// Releases the permit of a job that leaves its slot.
    mutating func released(_ job: ClaimedJob, slot: Int, now: UInt64) {
        if job.lane != 0 { lanes.released(job.lane, slot: slot, isStarted: job.isStarted, now: now) }
    }

    /// The permits to request now, for so many free slots. They count as requested.
    mutating func laneRequests(free: Int, now: UInt64) -> [LaneRequest] {
        // The closure reads a copy, because `lanes` changes while it runs.
        let tracks = tracks
        return lanes.request(free: free, now: now) { tracks.isWanted($0) }
    }

    /// When a lane needs a request for permits, a claim or a start.
    mutating func laneDeadline(free: Int, canRequest: Bool, claims: Bool, now: UInt64) -> UInt64? {
        let tracks = tracks
        return lanes.deadline(free: free, canRequest: canRequest, claims: claims, now: now) { tracks.isWanted($0) }
    }

    /// Takes the answer to the requests.
    mutating func lanesGranted(_ grants: [LaneGrant], now: UInt64) { lanes.granted(grants, now: now) }

    /// Records that the requests failed. They are due again.
    mutating func laneRequestFailed() { lanes.requestFailed() }
    /// Drops all grants, because the database may have given them to other workers. They are requested again.
    mutating func requestLanesAgain() { lanes.requestAgain() }
}
