// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The pace of a worker's writes: while the database refuses results, batches get smaller and waits longer. Pure.
struct WriteThrottle {
    /// The most attempts of one batch. It falls after a refusal.
    private(set) var batchLimit = ExchangePolicy.finishLimit
    /// How many batches were stored.
    private(set) var stored: UInt64 = 0
    /// The waits between batches while all are refused.
    private(set) var pause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// Attempts that were refused alone.
    private(set) var refused = RefusedAttempts()
    private var lastRefusal: UInt64 = 0
    /// Whether the last batch was an attempt that had been refused alone.
    private var wroteRefused = false
    /// While results are refused, jobs beyond twice the slots are claimed one at a time, and not before this moment.
    private var nextProbe: UInt64 = 0

    /// Since when the first of the refused results waits.
    private var waitsSince: UInt64?

    /// How many results wait because the database has refused them, and since when. Nil if none waits.
    func waiting(_ finished: FinishedAttempts) -> (count: Int, since: UInt64)? {
        let count = refused.count + (pause.isOn ? finished.count : 0)
        guard count > 0, let waitsSince else { return nil }
        return (count, waitsSince)
    }

    /// The leases of these results, at most `limit`.
    func waitingLeases(_ finished: FinishedAttempts, limit: Int) -> [Lease] {
        Array((refused.leases + (pause.isOn ? finished.prefix(limit).map(\.lease) : [])).prefix(limit))
    }

    /// How many attempts the next batch may choose from; 0 while it has to wait.
    ///
    /// - Parameter isUnderWay: whether a batch is under way. While batches are refused, one is sent at a time;
    ///   otherwise two refusals would count for one cause.
    func writable(finished: Int, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> Int {
        guard !pause.isOn || !isUnderWay && now >= due(isDraining: isDraining) else { return 0 }
        if finished > 0 { return finished }
        return (refused.due(isDraining: isDraining) ?? .max) <= now ? 1 : 0
    }

    /// The refused attempt to write alone next, nil if none is due. It takes turns with the other attempts.
    mutating func nextRefused(hasOthers: Bool, isDraining: Bool, now: UInt64) -> FinishedAttempt? {
        guard !wroteRefused || !hasOthers, let attempt = refused.next(isDraining: isDraining, now: now) else {
            wroteRefused = false
            return nil
        }
        wroteRefused = true
        return attempt
    }

    /// When the next batch may be sent. Nil if none waits, or if it may be sent now.
    func deadline(hasFinished: Bool, isUnderWay: Bool, isDraining: Bool, now: UInt64) -> UInt64? {
        guard !pause.isOn || !isUnderWay else { return nil }
        let moments = [hasFinished ? 0 : nil, refused.due(isDraining: isDraining)]
        guard let first = moments.compactMap({ $0 }).min() else { return nil }
        let moment = max(first, pause.isOn ? due(isDraining: isDraining) : 0)
        return moment > now ? moment : nil
    }

    /// The end of the wait. While the worker drains, it waits for a second at most.
    private func due(isDraining: Bool) -> UInt64 {
        isDraining ? min(pause.until, lastRefusal + RefusedAttempts.longestWaitAtEnd) : pause.until
    }

    /// How many jobs may be claimed. While results are refused, waiting results and running calls together are at most
    /// twice the slots. Beyond that, one job in 30 s tests whether its result is stored.
    func claimable(_ free: Int, capacity: Int, inUse: Int, finished: Int, now: UInt64) -> Int {
        guard pause.isOn, free > 0 else { return free }
        let room = 2 * capacity - inUse - finished - refused.count
        return room > 0 ? min(free, room) : now >= nextProbe ? 1 : 0
    }

    /// Records that a claim is sent.
    mutating func claims(now: UInt64) {
        if pause.isOn { nextProbe = now + RefusedAttempts.longestWait }
    }

    /// When a delayed claim may be sent again, nil if none is delayed.
    func claimDeadline(now: UInt64) -> UInt64? { pause.isOn && nextProbe > now ? nextProbe : nil }

    /// Records that a batch was stored. Returns the attempts that were refused only while the database stored nothing.
    mutating func succeeded() -> [FinishedAttempt] {
        stored += 1
        batchLimit = min(ExchangePolicy.finishLimit, batchLimit * 2)
        defer { if refused.isEmpty { waitsSince = nil } }
        guard pause.isOn else { return [] }
        pause.succeeded()
        nextProbe = 0
        return refused.release()
    }

    /// Makes the next batch smaller, after a batch of several attempts that cannot be stored.
    mutating func shrink(_ count: Int, by divisor: Int) { batchLimit = max(1, count / divisor) }

    /// Records that the database has refused a batch of several attempts.
    mutating func refusedBatch(_ count: Int, now: UInt64) {
        shrink(count, by: 4)
        if waitsSince == nil { waitsSince = now }
        lastRefusal = now
        pause.refused(now: now)
    }

    /// Records that the database has refused an attempt alone. Returns it if it is to be given up.
    mutating func refusedAlone(_ attempt: FinishedAttempt, now: UInt64) -> FinishedAttempt? {
        if waitsSince == nil { waitsSince = now }
        // An attempt that is refused while others are stored says nothing about the others.
        if !attempt.isRefusedAlone {
            batchLimit = 1
            lastRefusal = now
            pause.refused(now: now)
        }
        return refused.put(attempt, stored: stored, now: now)
    }

    /// Drops the attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) { refused.keep(held) }
}
