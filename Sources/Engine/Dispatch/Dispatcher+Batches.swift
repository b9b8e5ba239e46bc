// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Chooses the attempts that one statement writes, and splits a batch that fails because of one attempt.
//
// `takeBack` puts a failed batch at the front of `finished`. The functions that handle the failure rely on this.
extension Dispatcher {
    /// The oldest attempts that one statement can write.
    ///
    /// Either all of them need judging, or none: two statements would lock rows out of order. An attempt goes alone if
    /// its statement exceeded the time limit, or if two of its statements waited for a lock.
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

    /// Searches for the attempt with a value that the database cannot store. Smaller batches find it. It is stored
    /// alone, without its body.
    mutating func isolate(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writeThrottle.shrink(batch.attempts.count, by: 2)
            return .report
        }
        guard !batch.attempts[0].isReduced else { return refuse(batch, now: now) }
        finished.removeFirst()
        writeThrottle.shrink(1, by: 2)
        enqueue(batch.attempts[0].reduced("the database cannot store the body of the answer"), now: now)
        return .reportJob(batch.attempts[0].lease.jobID)
    }

    /// Handles a refusal that no single attempt has caused, such as a shortage. Smaller batches follow after growing
    /// waits. An attempt that is refused alone then waits apart from the others.
    mutating func refuse(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        guard batch.attempts.count == 1 else {
            writeThrottle.refusedBatch(batch.attempts.count, now: now)
            return .report
        }
        guard let givenUp = writeThrottle.refusedAlone(finished.removeFirst(), now: now) else { return .report }
        let reason = "the database refused the result for 15 minutes while it stored others"
        enqueue(givenUp.reduced(reason), now: now)
        return .reportJob(givenUp.lease.jobID)
    }

    /// Handles a batch of judged attempts that exceeded the time limit of the session. Each attempt goes alone. If one
    /// exceeds the limit alone while others are stored, it moves to the judging session. No attempt ends because of
    /// this limit.
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

    /// Defers a batch that waited for a locked row. The worker then asks the database which rows are locked.
    ///
    /// An attempt whose row is free, and which still waits alone, needs another lock. It is sent again later. The third
    /// wait is reported in the log, after about 15 s.
    mutating func deferBatch(_ batch: FinishBatch, now: UInt64) -> ExchangeRecovery {
        finished.removeFirst(batch.attempts.count)
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1 {
            return deferred.postpone(batch.attempts[0], now: now) == 3 ? .report : .none
        }
        deferred.put(batch.attempts, now: now)
        return .none
    }

    /// Whether a batch waits only 20 ms for locks, because a transaction is known to hold a lock that the worker needs.
    ///
    /// An attempt that waits alone although its row is free gets the full second again, during a drain every other
    /// time. Its lock may be free only for moments, such as the lock of a cookie jar on a slow disk.
    func hasShortLockTimeout(_ batch: FinishBatch) -> Bool {
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1, batch.attempts[0].lockWaits > 0 {
            return isDraining && batch.attempts[0].lockWaits % 2 == 0
        }
        return !deferred.isEmpty || batch.attempts.contains { $0.blocks > 0 }
    }

    /// The next question about locked rows, nil if none is due. Send it at once, or take it back.
    mutating func nextQuestion(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, now >= restUntil, !deferred.isEmpty else { return nil }
        let number = numbers.take()
        let leases = deferred.ask(number, isDraining: isDraining, now: now)
        return leases.isEmpty ? nil : (number, leases)
    }

    /// Writes the attempts whose rows are free. True if one attempt was locked for about 15 s, so that the log reports
    /// it.
    mutating func questionAnswered(_ number: UInt64, locked: Set<Int64>, now: UInt64) -> Bool {
        let answer = deferred.answered(number, locked: locked, now: now)
        for attempt in answer.free { enqueue(attempt, now: now) }
        return answer.waits > 2
    }

    /// Whether a batch is on its way.
    var isWriting: Bool { exchanges.values.contains { $0.batch != nil } }

    /// How many of the free slots a claim may fill.
    func claimRoom(_ free: Int, now: UInt64) -> Int {
        writeThrottle.claimable(
            free, capacity: capacity, inUse: slots.inUse + reserved, finished: finished.count, now: now)
    }

    /// When a wait after a refusal ends, nil if none is under way.
    func refusalDeadline(now: UInt64) -> UInt64? {
        let write = writeThrottle.deadline(
            hasFinished: !finished.isEmpty, isUnderWay: isWriting, isDraining: isDraining, now: now)
        let claim = lifecycle.takesJobs ? writeThrottle.claimDeadline(now: now) : nil
        return [write, claim].lazy.compactMap { $0 }.min()
    }
}
