// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// Events of the jobs session and of the duties session. If the jobs session is lost, the worker loses its number.
extension RunLoop {
    func jobsEvent(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .ready: registration.enlist()
        case .result(let tag, let result):
            jobsResult(tag, result)
        case .failed(let tag, let error):
            jobsFailed(tag, error)
        case .lost(_, let tags):
            once?.askingFailed()
            // Tags up to 3 belong to no exchange.
            shared.dispatcher.connectionLost(tags.filter { $0 > 3 }.map { $0 >> 2 }, now: now)
        case .notification(let notification): heard(notification)
        case .retryAt: break
        }
    }

    /// Handles a notification. NOTIFY arrives on the claiming session, so its backend is awake when the claim follows.
    private func heard(_ notification: PGNotification) {
        if notification.payload == "abort" {
            duties.schedule.aborts = 0
            abortsAnnounced = true
        } else if notification.payload == "credentials" {
            credentials.workAnnounced()
        } else {
            let job = AnnouncedJob(payload: notification.payload)
            if job != nil {
                shared.dispatcher.claims.claimGoesFirst(until: now + Schedule.queueDutiesAfterNotification)
            }
            duties.jobsAnnounced(job)
            // An announced job is ready, so it does not wait for a leader's duty.
            if job != nil { return }
            if notification.payload == "made" { shared.dispatcher.claims.trackWasMade() }
            if notification.payload == "tracks" {
                shared.dispatcher.claims.trackIsAwaited(now: now)
                if epoch != nil { duties.schedule.queueDuties = now }
            }
        }
        if epoch != nil {
            duties.schedule.queueDuties = min(duties.schedule.queueDuties, now + Schedule.queueDutiesAfterNotification)
            duties.trees.membersEnded(now: now + Schedule.queueDutiesAfterNotification)
        }
    }

    private func jobsResult(_ tag: UInt64, _ result: borrowing PGResult) {
        switch tag {
        case Tag.enlist: enlisted(result)
        case Tag.schema: schema.seen(result)
        case Tag.leave: stop.endRun(.clean)
        case Tag.shortLockTimeout: break
        case Tag.askAfterDuties: dutiesIdle(result)
        case Tag.workLeft: once?.workLeftReturned(result.optionalText(0, PGValueColumn.value), leads: epoch != nil)
        default:
            switch tag & 3 {
            case 0: exchanges.finishReturned(tag >> 2, result)
            case 1: exchanges.claimReturned(tag >> 2, result)
            case 2: exchanges.preparationReturned(tag >> 2, result)
            default: exchanges.lockedLeasesReturned(tag >> 2, result)
            }
        }
    }

    private func jobsFailed(_ tag: UInt64, _ error: PGError) {
        switch tag {
        case Tag.enlist:
            shared.dispatcher.enlistingFailed()
            if schema.enlistingFailed(error) { return }
            shared.log(.statementFailed(verb: "enlist", error: error))
            jobs.abandon("enlisting failed", now: now)
        case Tag.schema: schema.lookFailed(error)
        case Tag.shortLockTimeout:
            // If this statement failed, the later statements of its transaction only report that an earlier statement
            // failed.
            if error.code != .aborted {
                shared.log(.statementFailed(verb: "short_lock_timeout", error: error))
                shared.dispatcher.backoff.rest(now: now)
            }
        case Tag.askAfterDuties: break
        case Tag.workLeft:
            shared.log(.statementFailed(verb: "work_left", error: error))
            once?.askingFailed()
            schema.suspect(error)
        case Tag.leave:
            shared.log(.statementFailed(verb: "leave", error: error))
            stop.endRun(.abandoned)
        default:
            switch tag & 3 {
            case 2: exchanges.preparationFailed(tag >> 2, error)
            case 3: shared.dispatcher.writes.questionFailed(tag >> 2, now: now)
            default: exchanges.exchangeFailed(tag >> 2, error)
            }
            schema.suspect(error)
        }
    }

    /// Takes the number. The database has no memory of statements that were sent under the old one.
    private func enlisted(_ result: borrowing PGResult) {
        schema.enlisted()
        registration.enlisted(result) { forgetDatabase() }
        duties.schedule = Schedule()
        callReports.forget()
        // The table `aborts` has the cancellations whose notifications this worker has missed.
        abortsAnnounced = true
        // The answer of a settle under way is dropped, since it was sent under the old number.
        duties.trees.membersEnded(now: now)
    }

    /// Drops all memory of the former database. Ids, tracks and times of another database differ.
    private func forgetDatabase() {
        if epoch != nil {
            shared.log(.leading(false))
            pruning.leads(false)
            epoch = nil
        }
        cursors = LeaderCursors()
        duties.trees = TreeCursor()
        tickCursor = TickCursor()
        permits.forgetDatabase()
        credentials.workAnnounced()
    }

    func dutiesEvent(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .ready:
            duties.schedule = Schedule()
            callReports.forget()
            duties.trees.membersEnded(now: now)
            abortsAnnounced = true
            shared.dispatcher.claims.lookAgain()
            duties.jobsAnnounced()
        case .result(let tag, let result):
            guard let duty = Tag.duty(of: tag) else { return }
            duties.answered(duty)
            if duty.isAboutCredentials { return credentials.dutyDone(duty, result) }
            if Tag.worker(of: tag) == shared.dispatcher.worker {
                dutyDone(duty, result)
            } else if duty == .acquireLanePermits {
                shared.dispatcher.claims.laneRequestFailed()
            } else if duty == .beat {
                // The database has had no heartbeat under the new number.
                duties.schedule.beat = now
            }
        case .failed(let tag, let error):
            guard let duty = Tag.duty(of: tag) else { return }
            duties.answered(duty)
            credentials.dutyFailed(duty)
            if duty == .acquireLanePermits { shared.dispatcher.claims.laneRequestFailed() }
            if duty == .progress { callReports.forget() }
            if error.sqlState?.isOverrun == true {
                // The next full run keeps its distance even after a failure: it would take too long again.
                if duty == .fold { cursors.foldedTo(nil, now: now) }
                if duty == .expire { cursors.expired(now: now) }
            }
            if duty == .settle {
                duties.trees.failed(isOverrun: error.sqlState?.isOverrun == true, leads: epoch != nil, now: now)
            }
            if duty == .extendPartitions, error.sqlState?.isOverrun == true {
                duties.schedule.partition = now + Schedule.partitionRest
            }
            logFailure(of: duty, error)
            schema.suspect(error)
        case .lost:
            duties.connectionLost()
            shared.dispatcher.claims.laneRequestFailed()
            shared.dispatcher.claims.listeningEnded()
        case .notification: break
        case .retryAt: break
        }
    }

    /// Logs a failed duty. A duty that meets a lock of an open transaction is logged once a minute, and runs again at
    /// its next turn.
    private func logFailure(of duty: Duty, _ error: PGError) {
        if error.sqlState == .lockNotAvailable {
            guard shared.warnings.shouldReportLock(of: duty, now: now) else { return }
        }
        shared.log(.statementFailed(verb: "\(duty)", error: error))
    }
}
