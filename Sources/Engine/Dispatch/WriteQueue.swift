// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Decides which ended attempts the next statement writes, and when a few of them wait for more. Pure.
///
/// The attempts of a failed batch come back to the front. `FailureBackoff` handles the failure and finds them there.
struct WriteQueue {
    /// Attempts to be written.
    private(set) var finished = FinishedAttempts()
    /// Attempts to be written when their rows are no longer locked.
    private var deferred = DeferredAttempts()
    /// When the oldest attempt arrived after the last batch.
    private var since: UInt64 = 0
    /// Until this moment a few finished attempts wait for more, since many have ended just before.
    private(set) var pausedUntil: UInt64 = 0

    /// Whether all attempts are written or under way.
    var isEmpty: Bool { finished.isEmpty && deferred.isEmpty }

    /// How many attempts are not under way.
    var count: Int { finished.count + deferred.leases.count }

    /// Adds the sizes of all attempts here.
    func add(to sum: inout MemoryBudget.Unwritten) {
        sum.add(finished.sizes)
        sum.add(deferred.sizes)
    }

    /// The leases of attempts in locked rows.
    var deferredLeases: [Lease] { deferred.leases }

    /// How long the oldest attempt has waited to be written.
    func waited(now: UInt64) -> UInt64 { finished.isEmpty ? 0 : now - min(now, since) }

    /// Adds an attempt to the attempts to be written.
    mutating func put(_ attempt: consuming FinishedAttempt, now: UInt64) {
        if finished.isEmpty { since = now }
        finished.append(attempt)
    }

    /// Adds attempts that were refused only while the database stored nothing.
    mutating func put(released attempts: [FinishedAttempt]) { finished.append(contentsOf: attempts) }

    /// Takes the attempts of a batch back, to the front.
    mutating func takeBack(_ batch: FinishBatch, now: UInt64) {
        if finished.isEmpty { since = now }
        finished.insertFirst(batch.attempts)
    }

    /// The oldest attempts that one statement can write.
    ///
    /// Either all of them need judging, or none: two statements would lock rows out of order. An attempt goes alone if
    /// its statement exceeded the time limit, or if two of its statements waited for a lock.
    ///
    /// - Parameters:
    ///   - refused: an attempt that goes alone now, because the database has refused it before.
    ///   - limit: the most attempts.
    ///   - bytes: the most bytes of bodies.
    mutating func nextBatch(refused: FinishedAttempt?, limit: Int, bytes: Int, now: UInt64) -> FinishBatch {
        let batch = refused.map { FinishBatch([$0]) } ?? oldest(limit: limit, bytes: bytes)
        pausedUntil = batch.attempts.count >= ExchangePolicy.density ? now + ExchangePolicy.pause : 0
        since = now
        return batch
    }

    private mutating func oldest(limit: Int, bytes: Int) -> FinishBatch {
        if finished[0].goesAlone { return FinishBatch([finished.removeFirst()]) }
        let isJudged = finished[0].isJudged
        let mates = finished.indices.lazy.filter { [finished] place in
            finished[place].isJudged == isJudged && !finished[place].goesAlone
        }
        let count = ExchangePolicy.batch(
            of: mates.map { [finished] place in finished[place].bodyBytes }, limit: limit, bytes: bytes)
        if count == finished.count { return FinishBatch(finished.takeAll()) }
        let batch = FinishBatch(mates.prefix(count).map { finished[$0] })
        var left = count
        finished.removeAll { attempt in
            guard left > 0, attempt.isJudged == isJudged, !attempt.goesAlone else { return false }
            left -= 1
            return true
        }
        return batch
    }

    /// When the next batch is due. Nil if only an answer allows it: a moment in the past would keep the loop awake.
    ///
    /// - Parameters:
    ///   - underWay: exchanges without an answer.
    ///   - mayAct: whether a batch or a claim may follow at the end of a pause.
    ///   - isRefused: whether the last batch was refused. Then `FailureBackoff` decides about the next one.
    func deadline(underWay: Int, mayAct: Bool, isRefused: Bool, now: UInt64) -> UInt64? {
        guard underWay < ExchangePolicy.depth, mayAct else { return nil }
        if underWay == 0 { return pausedUntil > now ? pausedUntil : nil }
        return finished.isEmpty || isRefused ? nil : since + ExchangePolicy.patience
    }

    /// Removes the first attempt, after its batch has failed.
    mutating func removeFirst() -> FinishedAttempt { finished.removeFirst() }

    /// Records that the batch whose attempts stand at the front exceeded the time limit of the session.
    ///
    /// - Parameter stored: how many batches the worker has stored so far.
    mutating func noteOverrun(_ count: Int, stored: UInt64) {
        for place in 0..<count where finished[place].storedBeforeOverrun == nil {
            finished[place].storedBeforeOverrun = stored
        }
    }

    // MARK: locked rows

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
    func hasShortLockTimeout(_ batch: FinishBatch, isDraining: Bool) -> Bool {
        if batch.attempts.count == 1, batch.attempts[0].blocks > 1, batch.attempts[0].lockWaits > 0 {
            return isDraining && batch.attempts[0].lockWaits % 2 == 0
        }
        return !deferred.isEmpty || batch.attempts.contains { $0.blocks > 0 }
    }

    /// The next question about locked rows, nil if none is due. Send it at once, or take it back.
    mutating func nextQuestion(
        numbers: inout StatementNumbers, isDraining: Bool, now: UInt64
    ) -> (number: UInt64, leases: [Lease])? {
        guard !deferred.isEmpty else { return nil }
        let number = numbers.take()
        let leases = deferred.ask(number, isDraining: isDraining, now: now)
        return leases.isEmpty ? nil : (number, leases)
    }

    /// When to ask the next question.
    func questionDue(isDraining: Bool) -> UInt64? { deferred.due(isDraining: isDraining) }

    /// Writes the attempts whose rows are free. True if one attempt was locked for about 15 s, so that the log reports
    /// it.
    mutating func questionAnswered(_ number: UInt64, locked: Set<Int64>, now: UInt64) -> Bool {
        let answer = deferred.answered(number, locked: locked, now: now)
        for attempt in answer.free { put(attempt, now: now) }
        return answer.waits > 2
    }

    /// Records that a question has failed, or could not be sent.
    mutating func questionFailed(_ number: UInt64, now: UInt64) { deferred.askingFailed(number, now: now) }

    /// Records that the session is lost, and its question with it.
    mutating func connectionLost() { deferred.connectionLost() }

    /// Drops the attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) {
        finished.removeAll { !held.contains($0.lease.seq) }
        deferred.keep(held)
    }
}
