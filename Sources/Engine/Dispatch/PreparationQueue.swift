// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Decides which jobs the next preparation contains, and what follows if the database refuses it. Pure.
///
/// Between claim and call, a job that needs more than its row holds a slot until the database has built its call. The
/// preparation has its own transaction, so a claim does not wait for it. Only one is under way at a time.
struct PreparationQueue {
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

    /// Jobs with a slot that wait for their preparation.
    private var waiting: [Preparation.Entry] = []
    private var underWay: Preparation?
    /// The most jobs of the next preparation. It falls after a refusal.
    private var batchLimit = PreparationQueue.limit
    /// Whether the next preparation is for a job that goes alone, if there is one.
    private var prefersAlone = false
    /// Until this moment preparations wait only 20 ms for locks, because one has waited for a lock.
    private var shortLockTimeoutUntil: UInt64 = 0
    /// The waits between preparations while these are refused.
    private var pause = StatementBackoff(longest: PreparationQueue.longestPause)
    /// How many preparations succeeded.
    private var prepared: UInt64 = 0
    /// Jobs that were handed back because their preparation alone exceeded the time limit, each with the value of
    /// `prepared` at that time.
    private var slow: [Int64: UInt64] = [:]

    /// The number of the preparation under way.
    var number: UInt64? { underWay?.number }

    /// The slots of all jobs here.
    var slots: Set<Int> { Set((waiting + (underWay?.entries ?? [])).map(\.slot)) }

    private func entries(_ number: UInt64) -> [Preparation.Entry] {
        underWay?.number == number ? underWay?.entries ?? [] : []
    }

    /// The jobs of a preparation whose bodies the database returns in slices.
    func sliced(_ number: UInt64, _ slots: SlotTable) -> [Int64] {
        entries(number).compactMap { entry in
            let job = slots.job(in: entry.slot, entry.lease)
            return job?.largeBody?.comesInSlices == true ? entry.lease.jobID : nil
        }
    }

    /// Whether the preparation with this number waits only 20 ms for locks.
    func hasShortLockTimeout(_ number: UInt64) -> Bool {
        underWay?.number == number && underWay?.hasShortLockTimeout == true
    }

    /// Takes a job that has its slot.
    mutating func put(_ entry: Preparation.Entry) { waiting.append(entry) }

    /// The next preparation, nil if none is due. It counts as sent.
    mutating func next(_ slots: SlotTable, numbers: inout StatementNumbers, now: UInt64) -> Preparation? {
        guard now >= pause.until, !waiting.isEmpty, underWay == nil else { return nil }
        waiting.removeAll { !$0.isHeld(in: slots) }
        // Single jobs and groups take turns, since a thousand of either may wait.
        let hasMates = waiting.contains { $0.due <= now && !$0.goesAlone }
        let takesAlone = (prefersAlone || !hasMates) && waiting.contains { $0.due <= now && $0.goesAlone }
        let limit = takesAlone ? 1 : batchLimit
        var entries: [Preparation.Entry] = []
        var rest: [Preparation.Entry] = []
        for entry in waiting {
            if entries.count < limit, entry.due <= now, entry.goesAlone == takesAlone {
                entries.append(entry)
            } else {
                rest.append(entry)
            }
        }
        guard !entries.isEmpty else { return nil }
        prefersAlone = !takesAlone
        waiting = rest
        underWay = Preparation(
            number: numbers.take(), entries: entries, hasShortLockTimeout: now < shortLockTimeoutUntil)
        return underWay
    }

    /// When the next deferred job is due. Nil if none is deferred, or a preparation is under way.
    func deadline(now: UInt64) -> UInt64? {
        guard underWay == nil else { return nil }
        return waiting.lazy.map { max($0.due, pause.until) }.filter { $0 > now }.min()
    }

    /// Records that a preparation has succeeded. Returns its jobs that still have their slots, by id. Nil if it is not
    /// under way.
    mutating func returned(_ number: UInt64, _ slots: SlotTable) -> [Int64: (slot: Int, job: ClaimedJob)]? {
        guard let preparation = underWay, preparation.number == number else { return nil }
        underWay = nil
        batchLimit = min(PreparationQueue.limit, batchLimit * 2)
        pause.succeeded()
        prepared += 1
        var held: [Int64: (slot: Int, job: ClaimedJob)] = [:]
        for entry in preparation.entries {
            if let job = slots.job(in: entry.slot, entry.lease) { held[entry.lease.jobID] = (entry.slot, job) }
        }
        return held
    }

    /// Takes a preparation back. Its jobs are prepared again.
    ///
    /// - Returns: how many jobs stand at the front of `waiting` because of it.
    @discardableResult
    mutating func takeBack(_ number: UInt64) -> Int {
        let entries = entries(number)
        if underWay?.number == number { underWay = nil }
        waiting.insert(contentsOf: entries, at: 0)
        return entries.count
    }

    /// Handles a refused preparation. Halving the preparations finds the one job that cannot be prepared, and fails it
    /// alone.
    mutating func failed(
        _ number: UInt64, _ cause: Rejection, slots: SlotTable, now: UInt64
    ) -> PreparationFailure {
        // The functions below find the jobs at the front of `waiting` by their count.
        let count = takeBack(number)
        switch cause {
        case .aborted: return PreparationFailure()
        case .workerLost: return PreparationFailure(recovery: .enlist)
        case .unstorable:
            batchLimit = max(1, count / 2)
            guard count == 1, let entry = waiting.first else { return PreparationFailure(recovery: .report) }
            let reason =
                "the database cannot write the job's request; check it for very long numbers and very "
                + "large values in its body_json, body_form, query and templates"
            // If the job was cancelled meanwhile, the log has nothing to report.
            var failure = PreparationFailure(
                recovery: entry.isHeld(in: slots) ? .reportJob(entry.lease.jobID) : .none)
            end(entry, Verdict(.failed, .internal, reason), &failure)
            return failure
        case .overrun: return separate(count, now: now)
        case .locked: return postpone(count, now: now)
        case .shortage, .failure: return refuse(count, now: now)
        }
    }

    /// Takes back a preparation whose connection is lost. The statement itself may have crashed the server process, and
    /// would do so each time. So it counts as refused.
    mutating func connectionLost(_ number: UInt64, now: UInt64) -> PreparationFailure {
        let count = takeBack(number)
        return count > 0 ? refuse(count, now: now) : PreparationFailure()
    }

    /// Handles a refusal that no single job has caused, such as a shortage. Smaller preparations follow.
    ///
    /// A job that is refused alone while others are prepared goes back to `scheduled`. If no preparation succeeds for
    /// 2 s, all waiting jobs go back, so that other jobs can use their slots.
    ///
    /// - Parameter count: how many jobs the preparation had. They stand at the front of `waiting`.
    private mutating func refuse(_ count: Int, now: UInt64) -> PreparationFailure {
        var failure = PreparationFailure(recovery: .report)
        pause.refused(now: now)
        batchLimit = max(1, count / 4)
        for place in 0..<count where waiting[place].preparedBefore == nil {
            waiting[place].preparedBefore = prepared
        }
        if count == 1 {
            waiting[0].refusals += 1
            if prepared > waiting[0].preparedBefore ?? prepared {
                let reason =
                    "the database refused to prepare the call of this job, and prepared others; no attempt was used"
                end(waiting[0], Verdict(.unprepared, .internal, reason), &failure)
                return failure
            }
        }
        guard let since = pause.since, now >= since + PreparationQueue.refusalPatience else { return failure }
        let wait = StatementBackoff.wait(after: pause.refusals, longest: RefusedAttempts.longestWait)
        let verdict = Verdict(
            .handedBack, .internal, "the database refused to prepare calls; no attempt was used",
            retryAfter: .nanoseconds(Int64(wait)))
        for entry in waiting { end(entry, verdict, &failure) }
        return failure
    }

    /// Handles a preparation that exceeded the time limit of the session. Each job goes alone, after the others. A job
    /// that exceeds the limit alone goes back to `scheduled`, like a refused one. No job ends because of this limit.
    private mutating func separate(_ count: Int, now: UInt64) -> PreparationFailure {
        var failure = PreparationFailure(recovery: .report)
        pause.refused(now: now)
        for place in 0..<count {
            waiting[place].overruns += 1
            let before = waiting[place].preparedBefore ?? slow[waiting[place].lease.jobID]
            waiting[place].preparedBefore = before ?? prepared
        }
        guard count == 1 else { return failure }
        if pause.refusals >= PreparationQueue.overrunLimit {
            for entry in waiting { handBackSlow(entry, &failure) }
        } else if waiting[0].preparedBefore.map({ prepared > $0 }) ?? false || waiting.count == 1 {
            handBackSlow(waiting[0], &failure)
        } else {
            waiting.append(waiting.removeFirst())
        }
        return failure
    }

    /// Hands a slow job back. If other jobs were prepared meanwhile, the database counts the refusal, and the waits of
    /// the job grow with the count.
    private mutating func handBackSlow(_ entry: Preparation.Entry, _ failure: inout PreparationFailure) {
        if let before = entry.preparedBefore, prepared > before {
            let reason =
                "preparing this job's call took the database too long, but it prepared others; no attempt was used"
            return end(entry, Verdict(.unprepared, .internal, reason), &failure)
        }
        if slow.count >= PreparationQueue.slowLimit { slow = [:] }
        if entry.overruns > 0 { slow[entry.lease.jobID] = prepared }
        let verdict = Verdict(
            .handedBack, .internal, "preparing calls took the database too long; no attempt was used",
            retryAfter: .nanoseconds(Int64(RefusedAttempts.longestWait)))
        end(entry, verdict, &failure)
    }

    /// Defers jobs whose preparation waited for a lock. An open transaction holds a row that they need, mostly the
    /// job's own row while it is cancelled.
    ///
    /// Each job goes alone, after growing pauses. After 4 s it is handed back. The hand-back waits until the row is
    /// free, and other jobs use the slot. The log reports it once a minute.
    private mutating func postpone(_ count: Int, now: UInt64) -> PreparationFailure {
        let isUnreported = now >= shortLockTimeoutUntil
        var failure = PreparationFailure(recovery: isUnreported ? .report : .none)
        if isUnreported { shortLockTimeoutUntil = now + PreparationQueue.shortLockPeriod }
        for place in 0..<count {
            if waiting[place].lockWaits == 0 { waiting[place].waitsSince = now }
            waiting[place].lockWaits += 1
        }
        guard let entry = waiting.first, count == 1 else { return failure }
        if now < entry.waitsSince + PreparationQueue.patience {
            waiting[0].due = min(
                now + StatementBackoff.wait(after: entry.lockWaits, longest: PreparationQueue.longestLockPause),
                entry.waitsSince + PreparationQueue.patience)
        } else {
            let reason = "an open transaction locked rows that the call needs; no attempt was used"
            end(entry, Verdict(.handedBack, .internal, reason), &failure)
        }
        return failure
    }

    private mutating func end(
        _ entry: Preparation.Entry, _ verdict: Verdict, _ failure: inout PreparationFailure
    ) {
        waiting.removeAll { $0.lease == entry.lease }
        failure.ended.append((entry, verdict))
    }
}
