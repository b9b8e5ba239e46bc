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
        let worker = shared.dispatcher.worker
        guard worker > 0, duties.isReady else { return }
        let settles = !duties.awaits(.settle) && now >= duties.trees.due
        if settles, now >= registration.liveness.beatSent + Schedule.beatBeforeSettle { duties.schedule.beat = now }
        if isDue(&duties.schedule.beat, Schedule.beatInterval) {
            registration.beat()
            if shared.memoryTrim.isDue(inFlight: shared.dispatcher.slots.inUse) { Memory.trim() }
        }
        // A notification that arrives while an answer is under way is handled after the answer.
        if shared.dispatcher.slots.inUse > 0 || abortsAnnounced,
            isDue(&duties.schedule.aborts, Schedule.abortsInterval),
            !duties.awaits(.takeAborts)
        {
            abortsAnnounced = false
            StoreCalls.worker(worker, into: &shared.parameters)
            duties.send(.takeAborts, StoreStatement.takeAborts)
        }
        // The leader renews its lease of 10 s every 3 s. The other workers ask every second.
        if isDue(&duties.schedule.lead, epoch == nil ? Schedule.leadInterval : 3 * Schedule.leadInterval) {
            StoreCalls.worker(worker, into: &shared.parameters)
            duties.send(.lead, StoreStatement.lead)
        }
        if shared.configuration.filesRoot != nil, isDue(&duties.schedule.parts, Schedule.partsInterval) {
            shared.agent.expireParts()
        }
        if hasCallsToReport, isDue(&duties.schedule.progress, Schedule.progressInterval) { reportCalls(worker) }
        if settles {
            StoreCalls.settle(duties.trees.begin(leads: epoch != nil, now: now), into: &shared.parameters)
            duties.send(.settle, StoreStatement.settle)
        }
        credentials.sendDuties(worker)
        survey()
        permits.send(worker)
        if let epoch { leadersDuties(worker, epoch) }
    }

    /// When the next duty is due. Nil if none is due before an event.
    var dutiesDue: UInt64? {
        guard shared.dispatcher.worker > 0 && duties.isReady else { return nil }
        var moment = duties.schedule.earliest(
            leads: epoch != nil, hasCalls: shared.dispatcher.slots.inUse > 0,
            canRunQueueDuties: !duties.awaits(.runQueueDuties))
        if let due = credentials.deadline { moment = min(moment, due) }
        if !duties.awaits(.settle) { moment = min(moment, duties.trees.due) }
        if epoch != nil, !duties.awaits(.tick) { moment = min(moment, tickCursor.due) }
        return moment
    }

    private func leadersDuties(_ worker: Int32, _ epoch: Int64) {
        if !duties.awaits(.runQueueDuties), isDue(&duties.schedule.queueDuties, Schedule.queueDutiesInterval) {
            let since = cursors.promoteFrom(now: now)
            isFullPromotion = since == nil
            queueDutiesStarted = now
            StoreCalls.runQueueDuties(worker: worker, epoch: epoch, since: since, into: &shared.parameters)
            duties.send(.runQueueDuties, StoreStatement.runQueueDuties)
        }
        if !duties.awaits(.tick), now >= tickCursor.due {
            // `run_schedules` takes the same parameters.
            StoreCalls.runQueueDuties(
                worker: worker, epoch: epoch, since: tickCursor.begin(now: now), into: &shared.parameters)
            duties.send(.tick, StoreStatement.tick)
        }
        if isDue(&duties.schedule.watch, Schedule.watchInterval) {
            // After a settle of 6 s, `reap` would see this worker silent for more than 5 s and take it for a worker
            // that was suspended itself. So a heartbeat goes first.
            if !duties.isIdle { registration.beat() }
            StoreCalls.duty(worker: worker, epoch: epoch, into: &shared.parameters)
            duties.send(.reap, StoreStatement.reap)
            if !duties.awaits(.expire) {
                StoreCalls.expire(
                    worker: worker, epoch: epoch, fromStart: cursors.expiresFromStart(now: now),
                    into: &shared.parameters)
                duties.send(.expire, StoreStatement.expire)
            }
            if !duties.awaits(.fold) {
                foldSent = now
                StoreCalls.fold(
                    worker: worker, epoch: epoch, after: cursors.foldAfter(now: now), into: &shared.parameters)
                duties.send(.fold, StoreStatement.fold)
            }
        }
        if isDue(&duties.schedule.partition, Schedule.partitionInterval) {
            StoreCalls.duty(worker: worker, epoch: epoch, into: &shared.parameters)
            duties.send(.extendPartitions, StoreStatement.extendPartitions)
        }
        if isDue(&duties.schedule.tracks, Schedule.tracksInterval) {
            StoreCalls.removeTracks(
                worker: worker, epoch: epoch, after: cursors.tracksReached, into: &shared.parameters)
            duties.send(.removeTracks, StoreStatement.removeTracks)
        }
    }

    /// Whether the database may have rows of long calls, or may need them.
    var hasCallsToReport: Bool {
        shared.dispatcher.slots.inUse > 0 || callReports.isOpen || !shared.dispatcher.judging.isEmpty
            || !shared.dispatcher.backoff.refused.isEmpty
    }

    /// Writes the changes of calls that take longer than a second. Due once a second.
    private func reportCalls(_ worker: Int32) {
        guard !duties.awaits(.progress) else { return }
        let calls = LongCalls.list(shared.dispatcher, hooks: callbacks.slots, now: now) { slot, claim in
            guard let progress = shared.agent.progress(slot: slot) else { return nil }
            // The direction of the transfer: the answer once it has begun, the request before.
            let isAnswer = progress.received > 0
            return RunningCall(
                lease: claim.lease, phase: progress.phase, since: progress.since ?? claim.since,
                deadline: progress.deadline, done: isAnswer ? progress.received : progress.sent,
                total: isAnswer ? progress.receiveTotal : progress.sendTotal)
        }
        guard let report = callReports.report(calls) else { return }
        StoreCalls.reportCalls(
            worker: worker, isWhole: report.isWhole, report.changed, gone: report.gone, now: now,
            into: &shared.parameters)
        duties.send(.progress, StoreStatement.reportCalls)
        // If it could not be sent, the next report is written as a whole.
        if !duties.awaits(.progress) { callReports.forget() }
    }

    private func survey() {
        guard !duties.awaits(.survey), shared.dispatcher.surveyBegins(now: now) else { return }
        StoreCalls.survey(
            queues: shared.configuration.queues, shared.dispatcher.claims.surveyStep,
            into: &shared.parameters)
        duties.send(.survey, StoreStatement.survey)
    }

    /// Whether a moment has come. If true, it moves to one interval from now.
    private func isDue(_ moment: inout UInt64, _ interval: UInt64) -> Bool {
        Schedule.isDue(&moment, every: interval, now: now)
    }

    /// Handles the answer of a duty.
    func dutyDone(_ duty: Duty, _ result: borrowing PGResult) {
        switch duty {
        case .beat: registration.beatReturned(result)
        case .takeAborts:
            for row in 0..<result.rowCount {
                abort(jobID: result.int64(row, AbortColumn.jobID), fence: result.int64(row, AbortColumn.fence))
            }
            if abortsAnnounced { duties.schedule.aborts = now }
        case .lead:
            let newEpoch = result.optionalInt64(0, PGValueColumn.value)
            if (newEpoch == nil) != (epoch == nil) {
                shared.log(.leading(newEpoch != nil))
                pruning.leads(newEpoch != nil)
                if newEpoch != nil { duties.trees.leads(now: now) }
            }
            once?.leaderIsKnown()
            if newEpoch == nil { logUnreportedFailures() }
            if let newEpoch, cursors.lead(epoch: newEpoch) { tickCursor = TickCursor() }
            epoch = newEpoch
        case .runQueueDuties:
            if !result.bool(0, QueueDutiesColumn.leads) {
                epoch = nil
                pruning.leads(false)
            }
            if result.bool(0, QueueDutiesColumn.more) { duties.schedule.queueDuties = now }
            if result.bool(0, QueueDutiesColumn.hasCrowd) {
                duties.schedule.queueDuties = min(duties.schedule.queueDuties, now + Schedule.queueDutiesCrowdInterval)
            }
            if result.int64(0, QueueDutiesColumn.moved) > 0 {
                once?.makesReady()
                duties.jobsAnnounced()
            }
            if result.bool(0, QueueDutiesColumn.hasDueOutcomes) { callbacks.outcomesWait() }
            let latest =
                result.isNull(0, QueueDutiesColumn.latest) ? nil : result.timestamp(0, QueueDutiesColumn.latest)
            cursors.promotedTo(latest, wasFull: isFullPromotion, cost: now - queueDutiesStarted, now: now)
        case .tick:
            if result.int64(0, TickColumn.made) > 0 { duties.jobsAnnounced() }
            tickCursor.end(
                at: result.isNull(0, TickColumn.latest) ? nil : result.timestamp(0, TickColumn.latest),
                hasMore: result.bool(0, TickColumn.more),
                wait: result.optionalInt64(0, TickColumn.waitMs), now: now)
        case .settle:
            duties.trees.settled(
                to: result.optionalInt64(0, SettleColumn.latest), hasMore: result.bool(0, SettleColumn.hasMore),
                leads: epoch != nil, now: now)
            if result.bool(0, SettleColumn.hasReady) { duties.jobsAnnounced() }
            if result.bool(0, SettleColumn.hasExpensive) { shared.dispatcher.judging.treesWait() }
        case .survey:
            shared.dispatcher.claims.surveyReturned(StoreCalls.surveyFound(result), now: now)
        case .acquireLanePermits: permits.granted(result)
        case .setIdle:
            shared.dispatcher.claims.listeningBegan()
        case .reap:
            for row in 0..<result.rowCount {
                shared.log(
                    .workerReaped(
                        name: result.text(row, ReapColumn.lostName), jobs: Int(result.int32(row, ReapColumn.jobs))))
            }
        case .extendPartitions:
            if let added = result.optionalText(0, PGValueColumn.value) { shared.log(.partitionAdded(added)) }
        case .fold:
            cursors.foldedTo(result.optionalInt64(0, FoldColumn.latest), now: now)
            once?.hasFolded(since: foldSent)
            let found = failures.found(
                StoreCalls.failedJobs(result), jobs: Int(result.int64(0, FoldColumn.jobs)), now: now)
            if found.rest > 0 { shared.log(.moreFailed(jobs: found.rest)) }
            for failed in found.toLog { shared.log(.jobFailed(failed)) }
        case .expire:
            cursors.expired(now: now)
        case .removeTracks:
            cursors.tracksReached = result.int32(0, RemoveTracksColumn.reached)
            if cursors.tracksReached == 0 && !result.bool(0, RemoveTracksColumn.isPending) {
                duties.schedule.tracks = now + Schedule.tracksRest
            }
        case .askAfterJobs: jobsIdle(result)
        case .progress, .endSession, .credentials, .storeSealedSecrets, .readRefreshAnswer, .storeRefresh:
            break
        }
    }

    /// Logs the count of failed jobs that no later look of this worker reports.
    func logUnreportedFailures() {
        let rest = failures.takeRest()
        if rest > 0 { shared.log(.moreFailed(jobs: rest)) }
    }

    /// Aborts the call of a cancelled job. The result of the job stands already.
    private func abort(jobID: Int64, fence: Int64) {
        guard let slot = shared.dispatcher.jobCancelled(jobID, fence: fence, now: now) else { return }
        shared.agent.cancel(slot: slot)
        shared.log(.callAborted(job: jobID))
    }
}
