// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

/// The hot path: exchanges are sent, claimed jobs become calls, and outcomes become finished attempts.
final class ExchangeLoop {
    private let shared: SharedState
    private let jobs: Session
    private let registration: Registration
    private let duties: DutySession
    private let calls: CallStarter
    private let credentials: CredentialLoop
    private let callbacks: CallbackLoop
    let traces: TraceLoop

    /// A loop without exchanges.
    init(
        _ shared: SharedState, jobs: Session, _ registration: Registration, _ duties: DutySession, _ calls: CallStarter,
        _ credentials: CredentialLoop, _ callbacks: CallbackLoop, _ traces: TraceLoop
    ) {
        self.shared = shared
        self.jobs = jobs
        self.registration = registration
        self.duties = duties
        self.calls = calls
        self.credentials = credentials
        self.callbacks = callbacks
        self.traces = traces
    }

    private var now: UInt64 { shared.now }

    /// `PR008`: `postrider_internal.claim` reports that the worker was declared lost.
    private static let workerLost = SQLState(rawValue: "PR008")

    /// Sends exchanges while they are due.
    func exchange() {
        guard jobs.isReady else { return }
        shared.dispatcher.isUnheard = registration.liveness.isUnheard(now: now)
        prepare()
        askForLockedRows()
        while let (number, next) = shared.dispatcher.nextExchange(now: now) {
            guard send(number, next) else { return shared.dispatcher.takeBack(number, now: now) }
        }
    }

    /// Sends one exchange. False if the session is closing; then a `lost` event follows.
    private func send(_ number: UInt64, _ next: Exchange) -> Bool {
        let worker = shared.dispatcher.worker
        do throws(PGError) {
            if let batch = next.batch {
                if shared.dispatcher.writes.hasShortLockTimeout(batch, isDraining: shared.dispatcher.isDraining) {
                    shared.parameters.removeAll()
                    try jobs.append(StoreStatement.shortLockTimeout, &shared.parameters, tag: Tag.shortLockTimeout)
                }
                batch.encode(
                    worker: worker, appVersion: shared.configuration.appVersion, rows: &shared.attemptRows,
                    into: &shared.parameters)
                try jobs.append(batch.statement, &shared.parameters, tag: Tag.finish(number))
            }
            if let claim = next.claim {
                let statement: PGStatement
                if let job = claim.announced {
                    StoreCalls.claimOne(
                        job.id, worker: worker, in: claim.visits[0], above: claim.above, into: &shared.parameters)
                    statement = StoreStatement.claimOne
                } else {
                    StoreCalls.claim(
                        worker: worker, above: claim.above, limit: claim.limit, visits: claim.visits,
                        hasNoFinish: next.batch == nil, takesLeasesOnly: claim.takesLeasesOnly, into: &shared.parameters
                    )
                    statement = StoreStatement.claim
                }
                try jobs.append(statement, &shared.parameters, tag: Tag.claim(number))
            }
            jobs.commit()
            // libpq has its own copy, so this one is freed.
            if let batch = next.batch, batch.bytes > 1 << 20 {
                shared.parameters.removeAll()
                shared.attemptRows.removeAll()
            }
            return true
        } catch {
            return false
        }
    }

    /// Starts the jobs of a claim.
    func claimReturned(_ number: UInt64, _ result: borrowing PGResult) {
        guard let reader = registration.claimReader, var arrival = shared.dispatcher.claimReturned(number) else {
            return
        }
        if result.rowCount > 0 { shared.memoryTrim.claimed() }
        for row in 0..<result.rowCount {
            let job = reader.job(result, row)
            guard let slot = shared.dispatcher.jobArrived(job, &arrival) else { continue }
            if let call = job.call { calls.start(call, slot: slot) }
        }
        duties.apply(shared.dispatcher.claimRead(arrival, now: now))
    }

    /// Sends the preparation of jobs that need more than their row.
    private func prepare() {
        guard let (number, leases) = shared.dispatcher.nextPreparation(now: now) else { return }
        do throws(PGError) {
            if shared.dispatcher.preparations.hasShortLockTimeout(number) {
                shared.parameters.removeAll()
                try jobs.append(StoreStatement.shortLockTimeout, &shared.parameters, tag: Tag.shortLockTimeout)
            }
            StoreCalls.prepare(
                worker: shared.dispatcher.worker, appVersion: shared.configuration.appVersion, leases: leases,
                hold: shared.dispatcher.expensiveHold,
                long: shared.dispatcher.preparations.sliced(number, shared.dispatcher.slots),
                stubsOnly: shared.configuration.makesNoCalls, tracesAll: shared.configuration.traces == .always,
                into: &shared.parameters)
            try jobs.append(StoreStatement.prepare, &shared.parameters, tag: Tag.preparation(number))
            jobs.commit()
        } catch {
            shared.dispatcher.takeBack(number, now: now)
        }
    }

    /// Starts the calls of a preparation.
    func preparationReturned(_ number: UInt64, _ result: borrowing PGResult) {
        guard let preparations = registration.prepareReader, var waiting = shared.dispatcher.preparationReturned(number)
        else { return }
        var longBodies = preparations.longBodies(result)
        for row in 0..<result.rowCount {
            // The slices of long bodies follow after all jobs.
            if preparations.isSlice(result, row) { break }
            guard let (slot, job) = waiting.removeValue(forKey: preparations.jobID(result, row)) else { continue }
            let body = longBodies.removeValue(forKey: job.lease.jobID)
            let complete = preparations.complete(job, result, row, longBody: body)
            shared.dispatcher.callPrepared(slot: slot, complete)
            if complete.credential != nil { credentials.use() }
            if complete.isCached {
                shared.dispatcher.judgeCached(slot: slot, now: now)
            } else if complete.hasHooks {
                callbacks.runHooks(slot: slot, complete.lease)
            } else {
                calls.startPrepared(complete, slot: slot)
            }
        }
        for (slot, job) in waiting.values {
            shared.dispatcher.releaseSlot(slot, now: now)
            if job.followUp.contains(.outcome) { callbacks.outcomesWait() }
        }
    }

    /// Handles a preparation that failed and was rolled back.
    func preparationFailed(_ number: UInt64, _ error: PGError) {
        carryOut(shared.dispatcher.preparationFailed(number, ExchangeLoop.rejection(error), now: now), "prepare", error)
    }

    /// Asks which rows of deferred attempts are still locked.
    private func askForLockedRows() {
        guard let (number, leases) = shared.dispatcher.nextQuestion(now: now) else { return }
        StoreCalls.lockedLeases(worker: shared.dispatcher.worker, leases, into: &shared.parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.lockedLeases, &shared.parameters, tag: Tag.question(number))
        } catch {
            shared.dispatcher.writes.questionFailed(number, now: now)
        }
    }

    /// Writes the attempts whose rows are free. The others wait for the end of the other transaction.
    func lockedLeasesReturned(_ number: UInt64, _ result: borrowing PGResult) {
        let locked = Set(result.int64s(0, PGValueColumn.value))
        if shared.dispatcher.writes.questionAnswered(number, locked: locked, now: now) {
            shared.log(.resultsLocked(jobs: locked.count))
        }
    }

    /// Records the attempts that the database has stored or refused.
    func finishReturned(_ number: UInt64, _ result: borrowing PGResult) {
        let done = result.int64s(0, FinishColumn.done)
        if let metrics = shared.configuration.workerMetrics, let batch = shared.dispatcher.exchanges.batch(number) {
            metrics.stored(batch.attempts, done: done, outcomes: result.text(0, FinishColumn.outcomes))
        }
        let (refused, followUp) = shared.dispatcher.finishReturned(number, stored: done.count)
        follow(followUp, refused: refused)
    }

    /// Starts the work that follows from stored attempts.
    func follow(_ followUp: FollowUp, refused: Int) {
        if followUp.contains(.tree) { duties.trees.membersEnded(now: now) }
        if followUp.contains(.outcome) { callbacks.outcomesWait() }
        if refused > 0 { shared.log(.resultsRefused(jobs: refused, reason: "their leases had ended")) }
    }

    /// Handles a failed finish or claim. Its whole exchange was rolled back.
    func exchangeFailed(_ number: UInt64, _ error: PGError) {
        carryOut(shared.dispatcher.exchangeFailed(number, ExchangeLoop.rejection(error), now: now), "exchange", error)
        if let waiting = shared.dispatcher.backoff.waiting(shared.dispatcher.writes),
            shared.warnings.shouldReportRefusal(now: now)
        {
            shared.log(.resultsRefused(jobs: waiting.count, reason: "\(error); they are written again"))
        }
    }

    private func carryOut(_ recovery: ExchangeRecovery, _ verb: String, _ error: PGError) {
        switch recovery {
        case .none: break
        case .enlist: registration.enlist()
        case .report: shared.log(.statementFailed(verb: verb, error: error))
        case .reportJob(let job): shared.log(.resultUnstorable(job: job, reason: error.description))
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
        let ended = shared.agent.takeFinished()
        // An element of the array would be copied at each use.
        let calls = ended.span
        for place in calls.indices {
            let slot = calls[place].slot
            if slot == shared.spanSlot {
                traces.exportEnded(calls[place].outcome)
            } else if slot >= shared.firstTokenSlot {
                credentials.callEnded(slot: slot, calls[place].outcome)
            } else {
                traces.callEnded(slot: slot, calls[place].outcome)
                shared.dispatcher.callEnded(slot: slot, calls[place].outcome, now: now)
            }
            let next = place + 1
            if next < ended.count, MonotonicClock.now - began > ExchangeLoop.collectionLimit {
                return shared.agent.putBack(ended[next...])
            }
        }
    }
}
