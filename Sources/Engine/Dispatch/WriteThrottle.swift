// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// How the database takes the results of a worker: batches get smaller and waits longer while it refuses them. Pure.
struct WriteThrottle {
    /// Attempts of one batch, fewer after a refusal.
    private(set) var batchLimit = ExchangePolicy.finishLimit
    /// Batches that were stored.
    private(set) var stored: UInt64 = 0
    /// The waits between batches while all are refused.
    private(set) var pause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// Attempts that were refused alone.
    var refused = RefusedAttempts()
    private var lastRefusal: UInt64 = 0
    /// Whether the last batch was one that had been refused alone.
    private var wroteRefused = false
    /// While results are refused, jobs beyond twice the slots are claimed one at a time and not before this moment.
    private var nextProbe: UInt64 = 0

    /// Since when some result has been refused and not been stored.
    private var waitsSince: UInt64?

    /// The results that wait because the database has refused them, and since when; nil: none does.
    func waiting(_ finished: FinishedAttempts) -> (count: Int, since: UInt64)? {
        let count = refused.count + (pause.isOn ? finished.count : 0)
        guard count > 0, let waitsSince else { return nil }
        return (count, waitsSince)
    }

    /// The jobs of these results, as many as asked for at most.
    func waitingJobs(_ finished: FinishedAttempts, limit: Int) -> [Int64] {
        waitingLeases(finished, limit: limit).map(\.jobID)
    }

    /// The leases of these results, as many as asked for at most.
    func waitingLeases(_ finished: FinishedAttempts, limit: Int) -> [Lease] {
        Array((refused.leases + (pause.isOn ? finished.prefix(limit).map(\.lease) : [])).prefix(limit))
    }

    /// How many attempts the next batch may take from; 0 while it has to wait.
    ///
    /// - Parameter isUnderWay: whether a batch is. While batches are refused there is one at a time, or each of two
    ///   would count.
    func writable(finished: Int, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> Int {
        guard !pause.isOn || !isUnderWay && now >= due(isDraining: isDraining) else { return 0 }
        if finished > 0 { return finished }
        return (refused.due(isDraining: isDraining) ?? .max) <= now ? 1 : 0
    }

    /// The attempt to write alone next, if one is due; in turn with the others.
    mutating func nextRefused(hasOthers: Bool, isDraining: Bool, now: UInt64) -> FinishedAttempt? {
        guard !wroteRefused || !hasOthers, let attempt = refused.next(isDraining: isDraining, now: now) else {
            wroteRefused = false
            return nil
        }
        wroteRefused = true
        return attempt
    }

    /// When the next batch may go; nil: no batch waits, or it may go now.
    func deadline(hasFinished: Bool, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> UInt64? {
        guard !pause.isOn || !isUnderWay else { return nil }
        let moments = [hasFinished ? 0 : nil, refused.due(isDraining: isDraining)]
        guard let first = moments.compactMap({ $0 }).min() else { return nil }
        let moment = max(first, pause.isOn ? due(isDraining: isDraining) : 0)
        return moment > now ? moment : nil
    }

    /// The end of a worker waits for nothing longer than a second.
    private func due(isDraining: Bool) -> UInt64 {
        isDraining ? min(pause.until, lastRefusal + RefusedAttempts.longestWaitAtEnd) : pause.until
    }

    /// How many jobs may be claimed. While results are refused, waiting results and running calls together are at most
    /// twice the slots. Beyond that, one job in 30 s shows whether its result is stored.
    func claimable(_ free: Int, capacity: Int, inUse: Int, finished: Int, now: UInt64) -> Int {
        guard pause.isOn, free > 0 else { return free }
        let room = 2 * capacity - inUse - finished - refused.count
        return room > 0 ? min(free, room) : now >= nextProbe ? 1 : 0
    }

    /// A claim goes out.
    mutating func claims(now: UInt64) {
        if pause.isOn { nextProbe = now + RefusedAttempts.longestWait }
    }

    /// When a claim may go out again that has to wait; nil: none has to.
    func claimDeadline(now: UInt64) -> UInt64? { pause.isOn && nextProbe > now ? nextProbe : nil }

    /// A batch was stored. Returns attempts that were refused only while nothing was stored.
    mutating func succeeded() -> [FinishedAttempt] {
        stored += 1
        batchLimit = min(ExchangePolicy.finishLimit, batchLimit * 2)
        defer { if refused.isEmpty { waitsSince = nil } }
        guard pause.isOn else { return [] }
        pause.succeeded()
        nextProbe = 0
        return refused.release()
    }

    /// A batch of several attempts cannot be stored: the next one is smaller.
    mutating func shrink(_ count: Int, by divisor: Int) { batchLimit = max(1, count / divisor) }

    /// The database has refused a batch of several.
    mutating func refusedBatch(_ count: Int, now: UInt64) {
        shrink(count, by: 4)
        if waitsSince == nil { waitsSince = now }
        lastRefusal = now
        pause.refused(now: now)
    }

    /// The database has refused an attempt alone. Returns it, if it is to be given up.
    mutating func refusedAlone(_ attempt: FinishedAttempt, now: UInt64) -> FinishedAttempt? {
        if waitsSince == nil { waitsSince = now }
        // One that is known to be refused while others are stored says nothing of these.
        if !attempt.isRefusedAlone {
            batchLimit = 1
            lastRefusal = now
            pause.refused(now: now)
        }
        return refused.put(attempt, stored: stored, now: now)
    }
}
