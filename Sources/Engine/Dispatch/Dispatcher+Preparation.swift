// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Rich jobs whose calls the database is asked for in one transaction.
struct Preparation {
    /// A job by its slot; the lease tells whether the slot still holds it.
    struct Entry {
        var slot: Int
        var lease: Lease
        /// Preparations with it that the database gave up, since they took too long; it goes alone then.
        var overruns = 0
        /// Preparations with it that waited for a lock; it goes alone then, too.
        var lockWaits = 0
        /// When the first of them ended.
        var waitsSince: UInt64 = 0
        /// How often the database has refused to prepare it alone.
        var refusals = 0
        /// Preparations that had succeeded when the database first refused one with it; nil: none was refused.
        var preparedBefore: UInt64?
        /// Not before this moment.
        var due: UInt64 = 0

        var goesAlone: Bool { overruns > 0 || lockWaits > 0 || refusals > 0 }
    }

    var entries: [Entry]
    /// Whether it waits for locks for 20 ms only.
    var hurries = false
    /// Jobs of one preparation at most, as many as a claim brings.
    static let limit = ExchangePolicy.claimLimit
    /// So long preparations hurry after one that waited for a lock: a minute.
    static let haste: UInt64 = 60_000_000_000
    /// The longest wait of a job that waits alone for a lock: 2 s.
    static let longestLockPause: UInt64 = 2_000_000_000
    /// After 4 s it is handed back.
    static let patience: UInt64 = 4_000_000_000
    /// The longest wait between preparations that are refused: 4 s, since claimed jobs hold slots meanwhile.
    static let longestPause: UInt64 = 4_000_000_000
    /// After so long without a success all jobs that wait to be prepared are handed back: 2 s.
    static let refusalPatience: UInt64 = 2_000_000_000
    /// After so many preparations in a row that exceeded the time limit all jobs that wait to be prepared are handed
    /// back.
    static let overrunLimit = 4
    /// So many jobs are remembered as slow at most.
    static let slowLimit = 256
}

// Between claim and call: rich jobs hold a slot and wait for the database to say what they send. The transaction is one
// of its own, so a claim never waits for it.
extension Dispatcher {
    /// The next preparation, if one is due; to be sent at once, or taken back.
    mutating func nextPreparation(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, now >= max(restUntil, preparePause.until), !unprepared.isEmpty, preparations.isEmpty else {
            return nil
        }
        unprepared.removeAll { slots.job(in: $0.slot, $0.lease) == nil }
        // By turns, since there may be a thousand of either.
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
        preparations[number] = Preparation(entries: entries, hurries: now < hastyUntil)
        return (number, entries.map(\.lease))
    }

    /// When the next job that was put off is due; nil: none was, or an answer is waited for.
    func preparationDeadline(now: UInt64) -> UInt64? {
        guard preparations.isEmpty else { return nil }
        let pause = preparePause.until
        return unprepared.lazy.map { max($0.due, pause) }.filter { $0 > now }.min()
    }

    /// A preparation's answer is there. Its rows are completed by `callPrepared`; jobs without a row have been dealt
    /// with by the database.
    ///
    /// - Returns: the jobs that still wait for it, by id; nil if their worker's number was given up: they are
    ///   prepared again, if their leases hold.
    mutating func preparationReturned(_ number: UInt64) -> [Int64: (slot: Int, job: ClaimedJob)]? {
        guard worker > 0 else {
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

    /// A job's call is known; it is started now.
    mutating func callPrepared(slot: Int, _ job: ClaimedJob) {
        if let call = job.call { memory.bodyCame(slot, copies: call.bodyCopies, bytes: call.body.byteCount) }
        slots.update(slot, job)
    }

    /// A prepared job cannot be called with what this worker has: it ends, and its slot is free.
    mutating func callRefused(slot: Int, _ verdict: Verdict, now: UInt64) {
        guard let job = free(slot, now: now) else { return }
        write(FinishedAttempt(lease: job.lease, verdict: verdict, outcome: nil, followUp: job.followUp), now: now)
    }

    /// The database has finished a job or put it elsewhere: its slot is free.
    mutating func dealtWith(slot: Int, now: UInt64) {
        free(slot, now: now)
    }

    /// A preparation was refused. One job that cannot be prepared is found by halves, and fails alone.
    mutating func preparationFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        let entries = preparations[number]?.entries ?? []
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
        case .locked: return putOff(entries, now: now)
        case .shortage, .failure: return refusePreparation(entries.count, now: now)
        }
    }

    /// The database has refused to prepare the first jobs that wait, for a reason that says nothing of one job, such as
    /// a shortage. Smaller preparations follow. A job that is refused alone while others are prepared goes back to
    /// `scheduled`. If nothing was prepared for 2 s, all waiting jobs go back, so that others can use their slots.
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

    /// The time limit of the session has ended the preparation of the first jobs that wait: each goes alone, after the
    /// others. A job that exceeds the limit alone goes back to `scheduled`, as one that the database refuses. No job
    /// ends because of this limit.
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

    /// The refusals of a job that goes back while others are prepared are counted in the database, and its waits grow
    /// with them.
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

    /// Somebody holds a row that one of them needs, mostly its own, in a transaction that cancels the job and is not
    /// over yet. Each goes alone, those that wait again later and later. At last such a job is handed back, which is
    /// deferred until its row is free: its slot is for others. The operator hears of it once a minute.
    private mutating func putOff(_ entries: [Preparation.Entry], now: UInt64) -> ExchangeRecovery {
        let isNews = now >= hastyUntil
        if isNews { hastyUntil = now + Preparation.haste }
        for place in entries.indices {
            if unprepared[place].lockWaits == 0 { unprepared[place].waitsSince = now }
            unprepared[place].lockWaits += 1
        }
        guard let entry = unprepared.first, entries.count == 1 else { return isNews ? .report : .none }
        if now < entry.waitsSince + Preparation.patience {
            unprepared[0].due = min(
                now + StatementBackoff.wait(after: entry.lockWaits, longest: Preparation.longestLockPause),
                entry.waitsSince + Preparation.patience)
        } else {
            let reason = "an open transaction held what had to be looked up before the call; no attempt was used"
            _ = giveUp(entry, Verdict(.handedBack, .internal, reason), now: now)
        }
        return isNews ? .report : .none
    }

    private mutating func fail(_ entry: Preparation.Entry, _ reason: String, now: UInt64) -> ExchangeRecovery {
        giveUp(entry, Verdict(.failed, .internal, reason), now: now) ? .reportJob(entry.lease.jobID) : .none
    }

    /// Ends a job that is not called; false if it was cancelled meanwhile: then its slot may be another's by now.
    private mutating func giveUp(_ entry: Preparation.Entry, _ verdict: Verdict, now: UInt64) -> Bool {
        unprepared.removeAll { $0.lease == entry.lease }
        guard slots.job(in: entry.slot, entry.lease) != nil, let job = free(entry.slot, now: now) else { return false }
        end(job, verdict, now: now)
        return true
    }
}
