// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The jobs whose calls one transaction builds.
struct Preparation {
    /// A job by its slot. The lease shows whether the slot still holds it.
    struct Entry {
        var slot: Int
        var lease: Lease
        /// How many preparations with this job exceeded the time limit. Above 0 it goes alone.
        var overruns = 0
        /// How many preparations with this job waited for a lock. Above 0 it goes alone.
        var lockWaits = 0
        /// When the first wait for a lock ended.
        var waitsSince: UInt64 = 0
        /// How often the database has refused to prepare it alone.
        var refusals = 0
        /// The number of successful preparations when the database first refused this job; nil: it was not refused.
        var preparedBefore: UInt64?
        /// It is not prepared before this moment.
        var due: UInt64 = 0

        var goesAlone: Bool { overruns > 0 || lockWaits > 0 || refusals > 0 }
    }

    var entries: [Entry]
    /// Whether the statement waits only 20 ms for locks.
    var hasShortLockTimeout = false
    /// The most jobs of one preparation, as many as a claim brings.
    static let limit = ExchangePolicy.claimLimit
    /// After a wait for a lock, preparations use the short lock timeout for this time: a minute.
    static let shortLockPeriod: UInt64 = 60_000_000_000
    /// The longest pause before a job that waits alone for a lock is prepared again: 2 s.
    static let longestLockPause: UInt64 = 2_000_000_000
    /// A job that waits for a lock is handed back after 4 s.
    static let patience: UInt64 = 4_000_000_000
    /// The longest wait between preparations that are refused: 4 s, since claimed jobs hold slots meanwhile.
    static let longestPause: UInt64 = 4_000_000_000
    /// If no preparation succeeds for 2 s, all jobs that wait to be prepared are handed back.
    static let refusalPatience: UInt64 = 2_000_000_000
    /// If so many preparations in a row exceed the time limit, all jobs that wait to be prepared are handed back.
    static let overrunLimit = 4
    /// The most jobs that are remembered as slow.
    static let slowLimit = 256
}

// Between claim and call: a job that needs more than its row holds a slot until the database has built its call. The
// preparation has its own transaction, so a claim does not wait for it.
extension Dispatcher {
    /// The next preparation, nil if none is due. Send it at once, or take it back.
    mutating func nextPreparation(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, now >= max(restUntil, preparePause.until), !unprepared.isEmpty, preparations.isEmpty else {
            return nil
        }
        unprepared.removeAll { slots.job(in: $0.slot, $0.lease) == nil }
        // Single jobs and groups take turns, since a thousand of either may wait.
        let hasMates = unprepared.contains { $0.due <= now && !$0.goesAlone }
        let takesAlone = (preparesAlone || !hasMates) && unprepared.contains { $0.due <= now && $0.goesAlone }
        let limit = takesAlone ? 1 : preparationLimit
        var entries: [Preparation.Entry] = []
        var rest: [Preparation.Entry] = []
        for entry in unprepared {
            if entries.count < limit, entry.due <= now, entry.goesAlone == takesAlone {
                entries.append(entry)
            } else {
                rest.append(entry)
            }
        }
        guard !entries.isEmpty else { return nil }
        preparesAlone = !takesAlone
        unprepared = rest
        let number = takeNumber()
        preparations[number] = Preparation(entries: entries, hasShortLockTimeout: now < shortLockTimeoutUntil)
        return (number, entries.map(\.lease))
    }

    /// When the next deferred job is due. Nil if none is deferred, or a preparation is under way.
    func preparationDeadline(now: UInt64) -> UInt64? {
        guard preparations.isEmpty else { return nil }
        let pause = preparePause.until
        return unprepared.lazy.map { max($0.due, pause) }.filter { $0 > now }.min()
    }

    /// Records the answer of a preparation. `callPrepared` completes its rows. The database itself has finished or
    /// moved the jobs without a row.
    ///
    /// - Returns: the jobs that still wait for the preparation, by id. Nil if the worker has given up its number: then
    ///   jobs whose leases hold are prepared again.
    mutating func preparationReturned(_ number: UInt64) -> [Int64: (slot: Int, job: ClaimedJob)]? {
        guard worker > 0 else {
            // A preparation has no results and no permits, so the time does not matter.
            takeBack(number, now: 0)
            return nil
        }
        guard let preparation = preparations.removeValue(forKey: number) else { return nil }
        preparationLimit = min(Preparation.limit, preparationLimit * 2)
        preparePause.succeeded()
        prepared += 1
        var waiting: [Int64: (slot: Int, job: ClaimedJob)] = [:]
        for entry in preparation.entries {
            guard let job = slots.job(in: entry.slot, entry.lease) else { continue }
            waiting[entry.lease.jobID] = (entry.slot, job)
        }
        return waiting
    }

    /// Stores the call of a prepared job, which the caller starts now.
    mutating func callPrepared(slot: Int, _ job: ClaimedJob) {
        if let call = job.call { memory.bodyCame(slot, copies: call.bodyCopies, bytes: call.body.byteCount) }
        slots.update(slot, job)
    }

    /// Ends a prepared job that this worker cannot call, for example without the key or the memory. Its slot is free.
    mutating func callRefused(slot: Int, _ verdict: Verdict, now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        enqueue(FinishedAttempt(lease: job.lease, verdict: verdict, outcome: nil, followUp: job.followUp), now: now)
    }

    /// Frees the slot of a job that the database has finished or moved.
    mutating func releaseSlot(_ slot: Int, now: UInt64) {
        free(slot, now: now)
    }

    /// Handles a refused preparation. Halving the preparations finds the one job that cannot be prepared, and fails it
    /// alone.
    mutating func preparationFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        let entries = preparations[number]?.entries ?? []
        // The jobs go to the front of `unprepared`. The functions below find them there by their count.
        takeBack(number, now: now)
        switch cause {
        case .aborted: return .none
        case .workerLost: return .enlist
        case .unstorable:
            preparationLimit = max(1, entries.count / 2)
            guard entries.count == 1, let entry = entries.first else { return .report }
            return fail(
                entry,
                "the database cannot write out what the job is to send; look for numbers of many digits and for very "
                    + "large values in its body_json, body_form, query and templates", now: now)
        case .overrun: return separatePreparation(entries.count, now: now)
        case .locked: return postpone(entries, now: now)
        case .shortage, .failure: return refusePreparation(entries.count, now: now)
        }
    }

    /// Handles a refusal that no single job has caused, such as a shortage. Smaller preparations follow.
    ///
    /// A job that is refused alone while others are prepared goes back to `scheduled`. If no preparation succeeds for
    /// 2 s, all waiting jobs go back, so that other jobs can use their slots.
    ///
    /// - Parameter count: how many jobs the preparation had. They stand at the front of `unprepared`.
    mutating func refusePreparation(_ count: Int, now: UInt64) -> ExchangeRecovery {
        preparePause.refused(now: now)
        preparationLimit = max(1, count / 4)
        for place in 0..<count where unprepared[place].preparedBefore == nil {
            unprepared[place].preparedBefore = prepared
        }
        if count == 1 {
            unprepared[0].refusals += 1
            if prepared > unprepared[0].preparedBefore ?? prepared {
                let reason =
                    "the database refused to prepare the call of this job, and prepared others; no attempt was used"
                _ = giveUp(unprepared[0], Verdict(.unprepared, .internal, reason), now: now)
                return .report
            }
        }
        guard let since = preparePause.since, now >= since + Preparation.refusalPatience else { return .report }
        let wait = StatementBackoff.wait(after: preparePause.refusals, longest: RefusedAttempts.longestWait)
        let verdict = Verdict(
            .handedBack, .internal, "the database refused to prepare calls; no attempt was used",
            retryAfter: .nanoseconds(Int64(wait)))
        for entry in unprepared { _ = giveUp(entry, verdict, now: now) }
        return .report
    }

    /// Handles a preparation that exceeded the time limit of the session. Each job goes alone, after the others. A job
    /// that exceeds the limit alone goes back to `scheduled`, like a refused one. No job ends because of this limit.
    private mutating func separatePreparation(_ count: Int, now: UInt64) -> ExchangeRecovery {
        preparePause.refused(now: now)
        for place in 0..<count {
            unprepared[place].overruns += 1
            let before = unprepared[place].preparedBefore ?? slowPreparations[unprepared[place].lease.jobID]
            unprepared[place].preparedBefore = before ?? prepared
        }
        guard count == 1 else { return .report }
        if preparePause.refusals >= Preparation.overrunLimit {
            for entry in unprepared { handBackSlow(entry, now: now) }
        } else if unprepared[0].preparedBefore.map({ prepared > $0 }) ?? false || unprepared.count == 1 {
            handBackSlow(unprepared[0], now: now)
        } else {
            unprepared.append(unprepared.removeFirst())
        }
        return .report
    }

    /// Hands a slow job back. If other jobs were prepared meanwhile, the database counts the refusal, and the waits of
    /// the job grow with the count.
    private mutating func handBackSlow(_ entry: Preparation.Entry, now: UInt64) {
        if let before = entry.preparedBefore, prepared > before {
            let reason =
                "to prepare the call of this job took the database too long, and it prepared others; no attempt was used"
            _ = giveUp(entry, Verdict(.unprepared, .internal, reason), now: now)
            return
        }
        if slowPreparations.count >= Preparation.slowLimit { slowPreparations = [:] }
        if entry.overruns > 0 { slowPreparations[entry.lease.jobID] = prepared }
        let verdict = Verdict(
            .handedBack, .internal, "to prepare calls took the database too long; no attempt was used",
            retryAfter: .nanoseconds(Int64(RefusedAttempts.longestWait)))
        _ = giveUp(entry, verdict, now: now)
    }

    /// Defers jobs whose preparation waited for a lock. An open transaction holds a row that they need, mostly the
    /// job's own row while it is cancelled.
    ///
    /// Each job goes alone, after growing pauses. After 4 s it is handed back. The hand-back waits until the row is
    /// free, and other jobs use the slot. The log reports it once a minute.
    private mutating func postpone(_ entries: [Preparation.Entry], now: UInt64) -> ExchangeRecovery {
        let isUnreported = now >= shortLockTimeoutUntil
        if isUnreported { shortLockTimeoutUntil = now + Preparation.shortLockPeriod }
        for place in entries.indices {
            if unprepared[place].lockWaits == 0 { unprepared[place].waitsSince = now }
            unprepared[place].lockWaits += 1
        }
        guard let entry = unprepared.first, entries.count == 1 else { return isUnreported ? .report : .none }
        if now < entry.waitsSince + Preparation.patience {
            unprepared[0].due = min(
                now + StatementBackoff.wait(after: entry.lockWaits, longest: Preparation.longestLockPause),
                entry.waitsSince + Preparation.patience)
        } else {
            let reason = "an open transaction held what had to be looked up before the call; no attempt was used"
            _ = giveUp(entry, Verdict(.handedBack, .internal, reason), now: now)
        }
        return isUnreported ? .report : .none
    }

    private mutating func fail(_ entry: Preparation.Entry, _ reason: String, now: UInt64) -> ExchangeRecovery {
        giveUp(entry, Verdict(.failed, .internal, reason), now: now) ? .reportJob(entry.lease.jobID) : .none
    }

    /// Ends a job that is not called. False if it was cancelled meanwhile: then another job may have its slot.
    private mutating func giveUp(_ entry: Preparation.Entry, _ verdict: Verdict, now: UInt64) -> Bool {
        unprepared.removeAll { $0.lease == entry.lease }
        guard slots.job(in: entry.slot, entry.lease) != nil, let job = free(entry.slot, now: now) else { return false }
        end(job, verdict, now: now)
        return true
    }
}
