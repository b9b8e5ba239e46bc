// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

// The duties session: heartbeats, surveys and aborts, and the leader's duties while this worker leads.
extension RunLoop {
    /// Sends the duties that are due. A duty is not sent again before its answer.
    func doDuties() {
        let worker = dispatcher.worker
        guard worker > 0, duties.isReady else { return }
        let settles = !dutiesUnderWay.contains(.settle) && now >= treeCursor.due
        if settles, now >= liveness.beatSent + Schedule.beatBeforeSettle { schedule.beat = now }
        if due(&schedule.beat, Schedule.beatInterval) {
            beat(worker)
            if memoryTrim.isDue(inFlight: dispatcher.slots.inUse) { Memory.trim() }
        }
        // A notification that arrives while an answer is under way is handled after the answer.
        if dispatcher.slots.inUse > 0 || abortsAnnounced, due(&schedule.aborts, Schedule.abortsInterval),
            !dutiesUnderWay.contains(.takeAborts)
        {
            abortsAnnounced = false
            StoreCalls.worker(worker, into: &parameters)
            send(.takeAborts, StoreStatement.takeAborts)
        }
        // The leader renews its lease of 10 s every 3 s. The other workers ask every second.
        if due(&schedule.lead, epoch == nil ? Schedule.leadInterval : 3 * Schedule.leadInterval) {
            StoreCalls.worker(worker, into: &parameters)
            send(.lead, StoreStatement.lead)
        }
        if configuration.filesRoot != nil, due(&schedule.parts, Schedule.partsInterval) { agent.expireParts() }
        if hasCallsToReport, due(&schedule.progress, Schedule.progressInterval) { reportCalls(worker) }
        if settles {
            StoreCalls.settle(treeCursor.begin(leads: epoch != nil, now: now), into: &parameters)
            send(.settle, StoreStatement.settle)
        }
        sendCredentialDuties(worker)
        survey()
        acquireLanePermits(worker)
        if let epoch { leadersDuties(worker, epoch) }
    }

    /// When the next duty is due. Nil if none is due before an event.
    var dutiesDue: UInt64? {
        guard dispatcher.worker > 0 && duties.isReady else { return nil }
        var moment = schedule.earliest(
            leads: epoch != nil, hasCalls: dispatcher.slots.inUse > 0,
            canRunQueueDuties: !dutiesUnderWay.contains(.runQueueDuties))
        if let due = credentialsDue { moment = min(moment, due) }
        if !dutiesUnderWay.contains(.settle) { moment = min(moment, treeCursor.due) }
        if epoch != nil, !dutiesUnderWay.contains(.tick) { moment = min(moment, tickCursor.due) }
        return moment
    }

    /// The most jobs that a heartbeat names because their results wait. As many again may be named because their
    /// answers wait.
    private static let mostWaitingJobs = 1000

    private func beat(_ worker: Int32) {
        guard !dutiesUnderWay.contains(.beat) else { return }
        let refused = dispatcher.backoff.waiting(dispatcher.writes).map { waiting in
            (
                count: waiting.count, milliseconds: Int64((now - min(now, waiting.since)) / 1_000_000),
                jobs: dispatcher.backoff.waitingJobs(dispatcher.writes, limit: RunLoop.mostWaitingJobs)
            )
        }
        StoreCalls.beat(
            worker: worker, inFlight: dispatcher.slots.inUse, isDraining: dispatcher.isDraining,
            isListening: dispatcher.claims.isListening, start: startID, wal: home.wal, refused: refused,
            judgements: (
                dispatcher.judging.count,
                dispatcher.judging.oldest.map { Int64(clamping: (now - min(now, $0)) / 1_000_000) },
                dispatcher.judging.jobs(limit: RunLoop.mostWaitingJobs)
            ), into: &parameters)
        liveness.beats(now: now)
        send(.beat, StoreStatement.beat)
    }

    private func leadersDuties(_ worker: Int32, _ epoch: Int64) {
        if !dutiesUnderWay.contains(.runQueueDuties), due(&schedule.queueDuties, Schedule.queueDutiesInterval) {
            let since = cursors.promoteFrom(now: now)
            isFullPromotion = since == nil
            queueDutiesStarted = now
            StoreCalls.runQueueDuties(worker: worker, epoch: epoch, since: since, into: &parameters)
            send(.runQueueDuties, StoreStatement.runQueueDuties)
        }
        if !dutiesUnderWay.contains(.tick), now >= tickCursor.due {
            // `run_schedules` takes the same parameters.
            StoreCalls.runQueueDuties(
                worker: worker, epoch: epoch, since: tickCursor.begin(now: now), into: &parameters)
            send(.tick, StoreStatement.tick)
        }
        if due(&schedule.watch, Schedule.watchInterval) {
            // After a settle of 6 s, `reap` would see this worker silent for more than 5 s and take it for a worker
            // that was suspended itself. So a heartbeat goes first.
            if !dutiesUnderWay.isEmpty { beat(worker) }
            StoreCalls.duty(worker: worker, epoch: epoch, into: &parameters)
            send(.reap, StoreStatement.reap)
            if !dutiesUnderWay.contains(.expire) {
                StoreCalls.expire(
                    worker: worker, epoch: epoch, fromStart: cursors.expiresFromStart(now: now), into: &parameters)
                send(.expire, StoreStatement.expire)
            }
            if !dutiesUnderWay.contains(.fold) {
                foldSent = now
                StoreCalls.fold(worker: worker, epoch: epoch, after: cursors.foldAfter(now: now), into: &parameters)
                send(.fold, StoreStatement.fold)
            }
        }
        if due(&schedule.partition, Schedule.partitionInterval) {
            StoreCalls.duty(worker: worker, epoch: epoch, into: &parameters)
            send(.extendPartitions, StoreStatement.extendPartitions)
        }
        if due(&schedule.tracks, Schedule.tracksInterval) {
            StoreCalls.removeTracks(worker: worker, epoch: epoch, after: cursors.tracksReached, into: &parameters)
            send(.removeTracks, StoreStatement.removeTracks)
        }
    }

    /// Whether the database may have rows of long calls, or may need them.
    var hasCallsToReport: Bool {
        dispatcher.slots.inUse > 0 || callReports.isOpen || !dispatcher.judging.isEmpty
            || !dispatcher.backoff.refused.isEmpty
    }

    /// Writes the changes of calls that take longer than a second. Due once a second.
    private func reportCalls(_ worker: Int32) {
        guard !dutiesUnderWay.contains(.progress) else { return }
        let calls = LongCalls.list(dispatcher, hooks: callbackWork.slots, now: now) { slot, claim in
            guard let progress = agent.progress(slot: slot) else { return nil }
            // The direction of the transfer: the answer once it has begun, the request before.
            let isAnswer = progress.received > 0
            return RunningCall(
                lease: claim.lease, phase: progress.phase, since: progress.since ?? claim.since,
                deadline: progress.deadline, done: isAnswer ? progress.received : progress.sent,
                total: isAnswer ? progress.receiveTotal : progress.sendTotal)
        }
        guard let report = callReports.report(calls) else { return }
        StoreCalls.reportCalls(
            worker: worker, isWhole: report.isWhole, report.changed, gone: report.gone, now: now, into: &parameters)
        send(.progress, StoreStatement.reportCalls)
        // If it could not be sent, the next report is written as a whole.
        if !dutiesUnderWay.contains(.progress) { callReports.forget() }
    }

    private func survey() {
        guard !dutiesUnderWay.contains(.survey), dispatcher.surveyBegins(now: now) else { return }
        StoreCalls.survey(
            queues: configuration.queues, dispatcher.claims.surveyStep, into: &parameters)
        send(.survey, StoreStatement.survey)
    }

    /// Whether a moment has come. If true, it moves to one interval from now.
    private func due(_ moment: inout UInt64, _ interval: UInt64) -> Bool {
        guard now >= moment else { return false }
        moment = now + interval
        return true
    }

    /// Sends a duty with `parameters`, unless its last answer is still awaited. Each change of `setIdle` is sent.
    func send(_ duty: Duty, _ statement: PGStatement) {
        guard !dutiesUnderWay.contains(duty) || duty == .setIdle else { return }
        do throws(PGError) {
            try duties.send(statement, &parameters, tag: Tag.duty(duty, worker: dispatcher.worker))
            dutiesUnderWay.insert(duty)
        } catch {
            // A `lost` event follows. All duties are due again on the next connection.
            schedule = Schedule()
            dispatcher.claims.lookAgain()
        }
    }

    /// Sets whether INSERTs notify this worker.
    func setIdle(_ isIdle: Bool) {
        // Without a number or a session the row cannot be written, so the worker polls.
        guard dispatcher.worker > 0, duties.isReady else { return dispatcher.claims.listeningEnded() }
        StoreCalls.setIdle(worker: dispatcher.worker, isIdle, into: &parameters)
        send(.setIdle, StoreStatement.setIdle)
    }

    /// Handles the answer of a duty.
    func dutyDone(_ duty: Duty, _ result: borrowing PGResult) {
        switch duty {
        case .beat:
            if result.bool(0, BeatColumn.isEnlisted) {
                liveness.beatConfirmed()
                home.heard(wal: result.int64(0, BeatColumn.wal))
            } else if !isLeaving {
                enlist()
            }
        case .takeAborts:
            for row in 0..<result.rowCount {
                abort(jobID: result.int64(row, AbortColumn.jobID), fence: result.int64(row, AbortColumn.fence))
            }
            if abortsAnnounced { schedule.aborts = now }
        case .lead:
            let newEpoch = result.optionalInt64(0, PGValueColumn.value)
            if (newEpoch == nil) != (epoch == nil) {
                configuration.log(.leading(newEpoch != nil))
                pruneSchedule.leads(newEpoch != nil, now: now)
                if newEpoch != nil { treeCursor.leads(now: now) }
            }
            knowsLeader = true
            if newEpoch == nil { logUnreportedFailures() }
            if let newEpoch, cursors.lead(epoch: newEpoch) { tickCursor = TickCursor() }
            epoch = newEpoch
        case .runQueueDuties:
            if !result.bool(0, QueueDutiesColumn.leads) {
                epoch = nil
                pruneSchedule.leads(false, now: now)
            }
            if result.bool(0, QueueDutiesColumn.more) { schedule.queueDuties = now }
            if result.bool(0, QueueDutiesColumn.hasCrowd) {
                schedule.queueDuties = min(schedule.queueDuties, now + Schedule.queueDutiesCrowdInterval)
            }
            if result.int64(0, QueueDutiesColumn.moved) > 0 {
                once?.makesReady(now: now)
                jobsAnnounced()
            }
            if result.bool(0, QueueDutiesColumn.hasDueOutcomes) { callbackWork.outcomesWait() }
            let latest =
                result.isNull(0, QueueDutiesColumn.latest) ? nil : result.timestamp(0, QueueDutiesColumn.latest)
            cursors.promotedTo(latest, wasFull: isFullPromotion, cost: now - queueDutiesStarted, now: now)
        case .tick:
            if result.int64(0, TickColumn.made) > 0 { jobsAnnounced() }
            tickCursor.end(
                at: result.isNull(0, TickColumn.latest) ? nil : result.timestamp(0, TickColumn.latest),
                hasMore: result.bool(0, TickColumn.more),
                wait: result.optionalInt64(0, TickColumn.waitMs), now: now)
        case .settle:
            treeCursor.settled(
                to: result.optionalInt64(0, SettleColumn.latest), hasMore: result.bool(0, SettleColumn.hasMore),
                leads: epoch != nil, now: now)
            if result.bool(0, SettleColumn.hasReady) { jobsAnnounced() }
            if result.bool(0, SettleColumn.hasExpensive) { dispatcher.judging.treesWait() }
        case .survey:
            dispatcher.claims.surveyReturned(StoreCalls.surveyFound(result), now: now)
        case .acquireLanePermits: granted(result)
        case .setIdle:
            dispatcher.claims.listeningBegan()
        case .reap:
            for row in 0..<result.rowCount {
                configuration.log(
                    .workerReaped(
                        name: result.text(row, ReapColumn.lostName), jobs: Int(result.int32(row, ReapColumn.jobs))))
            }
        case .extendPartitions:
            if let added = result.optionalText(0, PGValueColumn.value) { configuration.log(.partitionAdded(added)) }
        case .fold:
            cursors.foldedTo(result.optionalInt64(0, FoldColumn.latest), now: now)
            once?.hasFolded(since: foldSent)
            let found = failures.found(
                StoreCalls.failedJobs(result), jobs: Int(result.int64(0, FoldColumn.jobs)), now: now)
            if found.rest > 0 { configuration.log(.moreFailed(jobs: found.rest)) }
            for failed in found.toLog { configuration.log(.jobFailed(failed)) }
        case .expire:
            cursors.expired(now: now)
        case .removeTracks:
            cursors.tracksReached = result.int32(0, RemoveTracksColumn.reached)
            if cursors.tracksReached == 0 && !result.bool(0, RemoveTracksColumn.isPending) {
                schedule.tracks = now + Schedule.tracksRest
            }
        case .askAfterJobs: jobsIdle(result)
        case .progress, .endSession, .credentials, .storeSealedSecrets, .readRefreshAnswer, .storeRefresh:
            break
        }
    }

    /// Logs the count of failed jobs that no later look of this worker reports.
    func logUnreportedFailures() {
        let rest = failures.takeRest()
        if rest > 0 { configuration.log(.moreFailed(jobs: rest)) }
    }

    /// Aborts the call of a cancelled job. The result of the job stands already.
    private func abort(jobID: Int64, fence: Int64) {
        guard let slot = dispatcher.jobCancelled(jobID, fence: fence, now: now) else { return }
        agent.cancel(slot: slot)
        configuration.log(.callAborted(job: jobID))
    }
}
