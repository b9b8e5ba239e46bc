// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Between claim and call: a job that needs more than its row holds a slot until the database has built its call.
extension Dispatcher {
    /// The next preparation, nil if none is due. Send it at once, or take it back.
    mutating func nextPreparation(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, now >= restUntil else { return nil }
        return preparations.next(slots, numbers: &numbers, now: now).map { ($0.number, $0.entries.map(\.lease)) }
    }

    /// Records the answer of a preparation. `callPrepared` completes its rows. The database itself has finished or
    /// moved the jobs without a row.
    ///
    /// - Returns: the jobs that still wait for the preparation, by id. Nil if the worker has given up its number: then
    ///   jobs whose leases hold are prepared again.
    mutating func preparationReturned(_ number: UInt64) -> [Int64: (slot: Int, job: ClaimedJob)]? {
        guard worker > 0 else {
            preparations.takeBack(number)
            return nil
        }
        guard let entries = preparations.returned(number) else { return nil }
        var waiting: [Int64: (slot: Int, job: ClaimedJob)] = [:]
        for entry in entries {
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

    /// Handles a refused preparation.
    mutating func preparationFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        carryOut(preparations.failed(number, cause, slots: slots, now: now), now: now)
    }

    /// Ends the jobs of a failed preparation that are not called.
    @discardableResult
    mutating func carryOut(_ failure: PreparationFailure, now: UInt64) -> ExchangeRecovery {
        for (entry, verdict) in failure.ended where entry.isHeld(in: slots) {
            if let job = free(entry.slot, now: now) { end(job, verdict, now: now) }
        }
        return failure.recovery
    }
}
