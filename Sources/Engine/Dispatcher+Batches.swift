// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Which attempts one statement writes, and what becomes of them when it fails because of one.
extension Dispatcher {
    /// The oldest attempts that one statement can write: all judged or none, since two statements would lock rows out
    /// of their order. One that was in a statement which took too long, or in two that waited for a lock, goes alone.
    mutating func nextBatch() -> FinishBatch {
        if finished[0].goesAlone { return FinishBatch([finished.removeFirst()]) }
        let isJudged = finished[0].isJudged
        let mates = finished.lazy.filter { $0.isJudged == isJudged && !$0.goesAlone }
        let count = ExchangePolicy.batch(of: mates.map(\.bodyBytes), limit: batchLimit)
        let batch = FinishBatch(Array(mates.prefix(count)))
        if count == finished.count {
            finished.removeAll(keepingCapacity: true)
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

    /// One attempt holds what the database cannot store: find it by halves, and fail that one alone. What cannot be stored even so
    /// is not what the answer holds: it goes by itself from then on, ever later, and nothing else waits for it.
    mutating func isolate(_ batch: FinishBatch, now: UInt64) -> Remedy {
        batchLimit = max(1, batch.attempts.count / 2)
        guard batch.attempts.count == 1, let first = batch.attempts.first else { return .report }
        finished.removeFirst()
        let verdict = Verdict(
            .failed, .internal, "the answer could not be stored by the database; please report it")
        if first.outcome == nil, first.verdict == verdict {
            deferred.putOff(first, now: now)
        } else {
            write(FinishedAttempt(lease: first.lease, verdict: verdict, outcome: nil, sequel: first.sequel), now: now)
        }
        return .reportJob(first.lease.jobID)
    }

    /// A batch was too much for one statement: each of it goes alone. What is too much twice alone is written without
    /// being judged, and if even that is too much, without its answer; true then.
    mutating func separate(_ batch: FinishBatch, now: UInt64) -> Bool {
        for place in batch.attempts.indices { finished[place].overruns += 1 }
        guard var attempt = finished.first, batch.attempts.count == 1, attempt.overruns > 1, attempt.outcome != nil
        else { return false }
        finished.removeFirst()
        if attempt.verdict.kind == .succeeded {
            let reason =
                attempt.isJudged
                ? "the database gave up on what extract or validator ask of this answer; make them simpler"
                : "the answer could not be stored by the database; please report it"
            attempt.verdict = Verdict(.failed, .internal, reason)
        }
        if !attempt.isJudged { attempt.outcome = nil }
        attempt.isJudged = false
        attempt.overruns = 1
        write(attempt, now: now)
        return true
    }

    /// A batch was refused for a reason that says nothing of one attempt: a full disk stops them all, a trigger of the operator's that
    /// raises perhaps one. After 20 in a row, 5 s, each goes alone, and one that is refused goes behind the others; if any of these is
    /// stored before it is refused again, it waits apart from then on.
    mutating func suspect(_ batch: FinishBatch, storedBatches: UInt64, now: UInt64) {
        refusals += 1
        guard batch.attempts.count == 1 else {
            if refusals >= ExchangePolicy.mostRefusals {
                for place in batch.attempts.indices { finished[place].isSuspected = true }
            }
            return
        }
        var attempt = finished.removeFirst()
        if let before = attempt.storedBefore, storedBatches > before {
            deferred.putOff(attempt, now: now)
        } else {
            attempt.storedBefore = storedBatches
            finished.append(attempt)
        }
    }

    /// Somebody holds a row of a batch: which, the database is asked. One that has been told to be free, and waits alone all the same,
    /// needs another lock: it comes again later, and the operator hears of it when it has waited for a quarter of a minute.
    mutating func deferBatch(_ batch: FinishBatch, now: UInt64) -> Remedy {
        finished.removeFirst(batch.attempts.count)
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1 {
            return deferred.putOff(batch.attempts[0], now: now) == 3 ? .report : .none
        }
        deferred.put(batch.attempts, now: now)
        return .none
    }

    /// Whether a batch waits for locks for 20 ms only: somebody is known to hold what the worker needs. One that was put off has the full
    /// second, at times: what many take in turn, as a jar's lock with a slow disk, is never free for a whole look.
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

    /// These rows are locked; what is free is written. The operator hears of the others when one has been locked for a quarter of
    /// a minute.
    mutating func questionAnswered(_ number: UInt64, locked: Set<Int64>, now: UInt64) -> Bool {
        let answer = deferred.answered(number, locked: locked, now: now)
        for attempt in answer.free { write(attempt, now: now) }
        return answer.waits > 2
    }
}
