// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

// The hot path: exchanges are sent, claimed jobs become calls, and outcomes become finished attempts.
extension RunLoop {
    /// `PR008`: `postrider_internal.claim` reports that the worker was declared lost.
    private static let workerLost = SQLState(rawValue: "PR008")

    /// Sends exchanges while they are due.
    func exchange() {
        guard jobs.isReady else { return }
        dispatcher.isUnheard = liveness.isUnheard(now: now)
        prepare()
        askForLockedRows()
        while let (number, next) = dispatcher.nextExchange(now: now) {
            guard send(number, next) else { return dispatcher.takeBack(number, now: now) }
        }
    }

    /// Sends one exchange. False if the session is closing; then a `lost` event follows.
    private func send(_ number: UInt64, _ next: Exchange) -> Bool {
        let worker = dispatcher.worker
        do throws(PGError) {
            if let batch = next.batch {
                if dispatcher.writes.hasShortLockTimeout(batch, isDraining: dispatcher.isDraining) {
                    parameters.removeAll()
                    try jobs.append(StoreStatement.shortLockTimeout, &parameters, tag: Tag.shortLockTimeout)
                }
                batch.encode(
                    worker: worker, appVersion: configuration.appVersion, rows: &attemptRows, into: &parameters)
                try jobs.append(batch.statement, &parameters, tag: Tag.finish(number))
            }
            if let claim = next.claim {
                let statement: PGStatement
                if let job = claim.announced {
                    StoreCalls.claimOne(
                        job.id, worker: worker, in: claim.visits[0], above: claim.above, into: &parameters)
                    statement = StoreStatement.claimOne
                } else {
                    StoreCalls.claim(
                        worker: worker, above: claim.above, limit: claim.limit, visits: claim.visits,
                        hasNoFinish: next.batch == nil, takesLeasesOnly: claim.takesLeasesOnly, into: &parameters)
                    statement = StoreStatement.claim
                }
                try jobs.append(statement, &parameters, tag: Tag.claim(number))
            }
            jobs.commit()
            // libpq has its own copy, so this one is freed.
            if let batch = next.batch, batch.bytes > 1 << 20 {
                parameters.removeAll()
                attemptRows.removeAll()
            }
            return true
        } catch {
            return false
        }
    }

    /// Starts the jobs of a claim.
    func claimReturned(_ number: UInt64, _ result: borrowing PGResult) {
        guard let reader, var arrival = dispatcher.claimReturned(number) else { return }
        if result.rowCount > 0 { memoryTrim.claimed() }
        for row in 0..<result.rowCount {
            let job = reader.job(result, row)
            guard let slot = dispatcher.jobArrived(job, &arrival) else { continue }
            if let call = job.call { start(call, slot: slot) }
        }
        apply(dispatcher.claimRead(arrival, now: now))
    }

    /// Sends the preparation of jobs that need more than their row.
    private func prepare() {
        guard let (number, leases) = dispatcher.nextPreparation(now: now) else { return }
        do throws(PGError) {
            if dispatcher.preparations.hasShortLockTimeout(number) {
                parameters.removeAll()
                try jobs.append(StoreStatement.shortLockTimeout, &parameters, tag: Tag.shortLockTimeout)
            }
            StoreCalls.prepare(
                worker: dispatcher.worker, appVersion: configuration.appVersion, leases: leases,
                hold: dispatcher.expensiveHold, long: dispatcher.preparations.sliced(number, dispatcher.slots),
                into: &parameters)
            try jobs.append(StoreStatement.prepare, &parameters, tag: Tag.preparation(number))
            jobs.commit()
        } catch {
            dispatcher.takeBack(number, now: now)
        }
    }

    /// Starts the calls of a preparation.
    func preparationReturned(_ number: UInt64, _ result: borrowing PGResult) {
        guard let preparations, var waiting = dispatcher.preparationReturned(number) else { return }
        var longBodies = preparations.longBodies(result)
        for row in 0..<result.rowCount {
            // The slices of long bodies follow after all jobs.
            if preparations.isSlice(result, row) { break }
            guard let (slot, job) = waiting.removeValue(forKey: preparations.jobID(result, row)) else { continue }
            let body = longBodies.removeValue(forKey: job.lease.jobID)
            let complete = preparations.complete(job, result, row, longBody: body)
            dispatcher.callPrepared(slot: slot, complete)
            if complete.credential != nil { credentials.use() }
            if complete.isCached {
                dispatcher.judgeCached(slot: slot, now: now)
            } else if complete.hasHooks {
                callbackWork.hooksWait(slot: slot, complete.lease)
            } else {
                startPrepared(complete, slot: slot)
            }
        }
        for (slot, job) in waiting.values {
            dispatcher.releaseSlot(slot, now: now)
            if job.followUp.contains(.outcome) { callbackWork.outcomesWait() }
        }
    }

    /// Handles a preparation that failed and was rolled back.
    func preparationFailed(_ number: UInt64, _ error: PGError) {
        carryOut(dispatcher.preparationFailed(number, RunLoop.rejection(error), now: now), "prepare", error)
    }

    /// Asks which rows of deferred attempts are still locked.
    private func askForLockedRows() {
        guard let (number, leases) = dispatcher.nextQuestion(now: now) else { return }
        StoreCalls.lockedLeases(worker: dispatcher.worker, leases, into: &parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.lockedLeases, &parameters, tag: Tag.question(number))
        } catch {
            dispatcher.writes.questionFailed(number, now: now)
        }
    }

    /// Writes the attempts whose rows are free. The others wait for the end of the other transaction.
    func lockedLeasesReturned(_ number: UInt64, _ result: borrowing PGResult) {
        let locked = Set(result.int64s(0, PGValueColumn.value))
        if dispatcher.writes.questionAnswered(number, locked: locked, now: now) {
            configuration.log(.resultsLocked(jobs: locked.count))
        }
    }

    /// Records the attempts that the database has stored or refused.
    func finishReturned(_ number: UInt64, _ result: borrowing PGResult) {
        let (refused, followUp) = dispatcher.finishReturned(number, stored: result.int64s(0, PGValueColumn.value).count)
        follow(followUp, refused: refused)
    }

    /// Starts the work that follows from stored attempts.
    func follow(_ followUp: FollowUp, refused: Int) {
        if followUp.contains(.tree) { treeCursor.membersEnded(now: now) }
        if followUp.contains(.outcome) { callbackWork.outcomesWait() }
        if refused > 0 { configuration.log(.resultsRefused(jobs: refused, reason: "their leases had ended")) }
    }

    /// Handles a failed finish or claim. Its whole exchange was rolled back.
    func exchangeFailed(_ number: UInt64, _ error: PGError) {
        carryOut(dispatcher.exchangeFailed(number, RunLoop.rejection(error), now: now), "exchange", error)
        if let waiting = dispatcher.backoff.waiting(dispatcher.writes), warnings.shouldReportRefusal(now: now) {
            configuration.log(.resultsRefused(jobs: waiting.count, reason: "\(error); they are written again"))
        }
    }

    private func carryOut(_ recovery: ExchangeRecovery, _ verb: String, _ error: PGError) {
        switch recovery {
        case .none: break
        case .enlist: enlist()
        case .report: configuration.log(.statementFailed(verb: verb, error: error))
        case .reportJob(let job): configuration.log(.resultUnstorable(job: job, reason: error.description))
        }
    }

    private static func rejection(_ error: PGError) -> Rejection {
        if error.code == .aborted { return .aborted }
        switch error.sqlState {
        case workerLost: return .workerLost
        case .lockNotAvailable?: return .locked
        case .queryCanceled?: return .overrun
        default: break
        }
        return switch error.sqlState?.cause {
        case .shortage: .shortage
        case .value: .unstorable
        case .schema, .other, nil: .failure
        }
    }

    /// One answer may take more than a second to process. After 100 ms the rest waits for the next turn, so that
    /// heartbeats go out in between.
    private static let collectionLimit: UInt64 = 100_000_000

    /// Turns outcomes into finished attempts, and frees their slots.
    func collectOutcomes() {
        let began = MonotonicClock.now
        var calls = agent.takeFinished()[...]
        while let call = calls.popFirst() {
            if call.slot >= firstTokenSlot {
                credentials.callEnded(call.slot - firstTokenSlot, call.outcome)
            } else {
                configuration.workerHealth?.callEnded(call.outcome)
                dispatcher.callEnded(slot: call.slot, call.outcome, now: now)
            }
            if !calls.isEmpty, MonotonicClock.now - began > RunLoop.collectionLimit { return agent.putBack(calls) }
        }
    }

    /// Reports calls that wait for a file descriptor, once a minute.
    func reportShortage() {
        guard agent.isShortOfDescriptors, warnings.shouldReportDescriptors(now: now) else { return }
        configuration.log(.outOfDescriptors)
    }

    func apply(_ change: PickupMode.Change) {
        switch change {
        case .none: break
        case .listen: setIdle(true)
        case .stopListening: setIdle(false)
        }
    }

    /// Handles a notification about new jobs. It may name one job.
    func jobsAnnounced(_ job: AnnouncedJob? = nil) {
        apply(dispatcher.jobsAnnounced(job, now: now))
    }
}
