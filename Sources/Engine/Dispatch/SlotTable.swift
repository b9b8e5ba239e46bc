// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The running calls by their slot number, which the agent also uses.
struct SlotTable {
    private var jobs: [ClaimedJob?]
    private var free: [Int]
    /// When the job of each slot was claimed: monotonic nanoseconds.
    private var claimedAt: [UInt64]
    /// How many calls run, by track. Tracks without calls are left out.
    private(set) var inFlight: [Int32: Int] = [:]

    /// A table with all slots free.
    init(count: Int) {
        jobs = Array(repeating: nil, count: count)
        claimedAt = Array(repeating: 0, count: count)
        free = Array((0..<count).reversed())
    }

    /// The most calls in flight.
    var capacity: Int { jobs.count }

    /// How many calls run.
    var inUse: Int { jobs.count - free.count }

    /// How many more calls could run.
    var freeCount: Int { free.count }

    /// The running jobs with their slots. The order is undefined.
    var running: [(slot: Int, job: ClaimedJob)] {
        jobs.enumerated().compactMap { slot, job in job.map { (slot, $0) } }
    }

    /// The slots of calls in lanes with limits. If the other workers declare this one lost, they take its permits.
    var limited: [Int] { running.filter { $0.job.lane != 0 }.map(\.slot) }

    /// The jobs that were claimed at this moment or before, with their slots.
    func jobs(claimedBy moment: UInt64) -> [(slot: Int, job: ClaimedJob, claimedAt: UInt64)] {
        jobs.indices.compactMap { slot in
            guard claimedAt[slot] <= moment, let job = jobs[slot] else { return nil }
            return (slot, job, claimedAt[slot])
        }
    }

    /// Puts a job into a free slot. Nil if no slot is free.
    mutating func take(_ job: ClaimedJob, claimedAt moment: UInt64) -> Int? {
        guard let slot = free.popLast() else { return nil }
        jobs[slot] = job
        claimedAt[slot] = moment
        inFlight[job.lease.track, default: 0] += 1
        return slot
    }

    /// Frees a slot. Nil if it was free already.
    mutating func release(_ slot: Int) -> ClaimedJob? {
        guard let job = jobs[slot].take() else { return nil }
        free.append(slot)
        let left = inFlight[job.lease.track, default: 1] - 1
        inFlight[job.lease.track] = left > 0 ? left : nil
        return job
    }

    func job(in slot: Int) -> ClaimedJob? { jobs[slot] }

    /// Whether the job in a slot is in a lane with limits.
    func hasLimits(_ slot: Int) -> Bool { (jobs[slot]?.lane ?? 0) != 0 }

    /// The job in a slot, nil if its lease is another one.
    func job(in slot: Int, _ lease: Lease) -> ClaimedJob? {
        jobs[slot].flatMap { $0.lease == lease ? $0 : nil }
    }

    /// The trace of the job in a slot, and when the job was claimed. Nil without a trace.
    func trace(in slot: Int) -> (trace: JobTrace, claimedAt: UInt64)? {
        jobs[slot]?.trace.map { ($0, claimedAt[slot]) }
    }

    /// Replaces the job in a slot by a more complete copy.
    mutating func update(_ slot: Int, _ job: ClaimedJob) {
        jobs[slot] = job
    }

    /// The slot of a running call by its job and fence.
    func slot(jobID: Int64, fence: Int64) -> Int? {
        jobs.firstIndex { $0?.lease.jobID == jobID && $0?.lease.fence == fence }
    }
}
