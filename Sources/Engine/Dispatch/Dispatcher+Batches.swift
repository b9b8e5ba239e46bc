// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Which attempts one statement writes, and what becomes of them when it fails because of one.
extension Dispatcher {
    /// The oldest attempts that one statement can write: all judged or none, since two statements would lock rows out
    /// of their order. One that was in a statement which took too long, or in two that waited for a lock, goes alone.
    mutating func nextBatch(now: UInt64) -> FinishBatch {
        if let attempt = writeThrottle.nextRefused(hasOthers: !finished.isEmpty, isDraining: isDraining, now: now) {
            return FinishBatch([attempt])
        }
        if finished[0].goesAlone { return FinishBatch([finished.removeFirst()]) }
        let isJudged = finished[0].isJudged
        let mates = finished.lazy.filter { $0.isJudged == isJudged && !$0.goesAlone }
        let count = ExchangePolicy.batch(
            of: mates.map(\.bodyBytes), limit: writeThrottle.batchLimit, bytes: memory.batchLimit)
        let batch = FinishBatch(Array(mates.prefix(count)))
        if count == finished.count {
            finished.removeAll()
        } else {
            var left = count
            finished.removeAll { attempt in
                guard left > 0, attempt.isJudged == isJudged, !attempt.goesAlone else { return false }
                left -= 1
                return true
            }
        }
        return batch
    }

    /// One attempt holds a value that the database cannot store. Smaller batches find it, and it is stored alone
    /// without its body.
    mutating func isolate(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writeThrottle.shrink(batch.attempts.count, by: 2)
            return .report
        }
        guard !batch.attempts[0].isReduced else { return refuse(batch, now: now) }
        finished.removeFirst()
        writeThrottle.shrink(1, by: 2)
        write(batch.attempts[0].reduced("the database cannot store the body of the answer"), now: now)
        return .reportJob(batch.attempts[0].lease.jobID)
    }

    /// The database has refused a batch for a reason that says nothing of its attempts, such as a shortage. Smaller
    /// batches follow, after growing waits; an attempt that is refused alone then waits apart from the others.
    mutating func refuse(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writeThrottle.refusedBatch(batch.attempts.count, now: now)
            return .report
        }
        guard let givenUp = writeThrottle.refusedAlone(finished.removeFirst(), now: now) else { return .report }
        let reason = "the database refused the result for 15 minutes while it stored others"
        write(givenUp.reduced(reason), now: now)
        return .reportJob(givenUp.lease.jobID)
    }

    /// The time limit of the session has ended a batch of judged attempts: each goes alone. If one exceeds the limit
    /// alone while others are stored, the judging session judges it. No attempt ends because of this limit.
    mutating func separate(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        for place in batch.attempts.indices where finished[place].storedBeforeOverrun == nil {
            finished[place].storedBeforeOverrun = writeThrottle.stored
        }
        guard batch.attempts.count == 1 else {
            writeThrottle.refusedBatch(batch.attempts.count, now: now)
            return .report
        }
        let attempt = finished[0]
        guard attempt.verdict.code != .tooExpensive, writeThrottle.stored > attempt.storedBeforeOverrun ?? 0 else {
            return refuse(batch, now: now)
        }
        judgeApart(finished.removeFirst(), now: now)
        return .report
    }

    /// Somebody holds a row of a batch: which, the database is asked. One that has been told to be free, and waits
    /// alone all the same, needs another lock: it comes again later, and the operator hears of it when it has waited
    /// for a quarter of a minute.
    mutating func deferBatch(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        finished.removeFirst(batch.attempts.count)
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1 {
            return deferred.putOff(batch.attempts[0], now: now) == 3 ? .report : .none
        }
        deferred.put(batch.attempts, now: now)
        return .none
    }

    /// Whether a batch waits for locks for 20 ms only: somebody is known to hold what the worker needs. One that was
    /// put off has the full second, at times: what many take in turn, as a jar's lock with a slow disk, is never free
    /// for a whole look.
    func hurries(_ batch: FinishBatch) -> Bool {
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1, batch.attempts[0].lockWaits > 0 {
            return isDraining && batch.attempts[0].lockWaits % 2 == 0
        }
        return !deferred.isEmpty || batch.attempts.contains { $0.blocks > 0 }
    }

    /// The next question for what is locked, if one is due; to be sent at once, or given up.
    mutating func nextQuestion(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, now >= restUntil, !deferred.isEmpty else { return nil }
        let number = takeNumber()
        let leases = deferred.ask(number, isDraining: isDraining, now: now)
        return leases.isEmpty ? nil : (number, leases)
    }

    /// These rows are locked; what is free is written. The operator hears of the others when one has been locked for a
    /// quarter of a minute.
    mutating func questionAnswered(_ number: UInt64, locked: Set<Int64>, now: UInt64) -> Bool {
        let answer = deferred.answered(number, locked: locked, now: now)
        for attempt in answer.free { write(attempt, now: now) }
        return answer.waits > 2
    }

    /// Whether a batch is on its way.
    var isWriting: Bool { exchanges.values.contains { $0.batch != nil } }

    /// How many of the free slots a claim may fill.
    func claimRoom(_ free: Int, now: UInt64) -> Int {
        writeThrottle.claimable(
            free, capacity: capacity, inUse: slots.inUse + reserved, finished: finished.count, now: now)
    }

    /// When a wait after a refusal is over; nil: none is under way.
    func refusalDeadline(now: UInt64) -> UInt64? {
        let write = writeThrottle.deadline(
            hasFinished: !finished.isEmpty, isUnderWay: isWriting, isDraining: isDraining, now: now)
        let claim = takesJobs ? writeThrottle.claimDeadline(now: now) : nil
        return [write, claim].lazy.compactMap { $0 }.min()
    }
}
