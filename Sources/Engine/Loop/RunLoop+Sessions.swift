// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// Events of the jobs session and of the duties session. If the jobs session is lost, the worker loses its number.
extension RunLoop {
    func jobsEvent(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .ready: enlist()
        case .result(let tag, let result):
            jobsResult(tag, result)
        case .failed(let tag, let error):
            jobsFailed(tag, error)
        case .lost(_, let tags):
            once?.askingFailed(now: now)
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
            credentials.workAnnounced(now: now)
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
        case Tag.schema: schemaSeen(shared.configuration.schema?.plan(history: result).state)
        case Tag.leave: end = .clean
        case Tag.shortLockTimeout: break
        case Tag.askAfterDuties: dutiesIdle(result)
        case Tag.workLeft: workLeftReturned(result.optionalText(0, PGValueColumn.value))
        default:
            switch tag & 3 {
            case 0: finishReturned(tag >> 2, result)
            case 1: claimReturned(tag >> 2, result)
            case 2: preparationReturned(tag >> 2, result)
            default: lockedLeasesReturned(tag >> 2, result)
            }
        }
    }

    private func jobsFailed(_ tag: UInt64, _ error: PGError) {
        switch tag {
        case Tag.enlist:
            shared.dispatcher.enlistingFailed()
            if error.sqlState?.isSchemaMismatch == true {
                schemaRecheck.cannotEnlist = true
                return lookAtSchema()
            }
            shared.log(.statementFailed(verb: "enlist", error: error))
            jobs.abandon("enlisting failed", now: now)
        case Tag.schema: schemaNotSeen(error)
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
            once?.askingFailed(now: now)
            suspectSchema(error)
        case Tag.leave:
            shared.log(.statementFailed(verb: "leave", error: error))
            end = .abandoned
        default:
            switch tag & 3 {
            case 2: preparationFailed(tag >> 2, error)
            case 3: shared.dispatcher.writes.questionFailed(tag >> 2, now: now)
            default: exchangeFailed(tag >> 2, error)
            }
            suspectSchema(error)
        }
    }

    /// Requests a number, the first or a new one, together with the leases that are still needed.
    func enlist() {
        guard jobs.isReady, let (old, held) = shared.dispatcher.beginEnlisting() else { return }
        let introduction = StoreCalls.Introduction(
            name: shared.configuration.name, version: "\(ProductVersion.current)", queues: shared.configuration.queues,
            concurrency: shared.configuration.concurrency, environment: shared.configuration.environment, start: startID
        )
        StoreCalls.enlist(
            introduction, old: old, held: held, identity: home.identity, wal: home.wal, into: &shared.parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.enlist, &shared.parameters, tag: Tag.enlist)
            liveness.enlists(now: now)
        } catch {
            shared.dispatcher.enlistingFailed()
        }
    }

    /// Takes the number. Calls whose lease no longer holds are aborted: their jobs run elsewhere or are done.
    private func enlisted(_ result: borrowing PGResult) {
        let worker = result.int32(0, EnlistColumn.worker)
        liveness.enlisted()
        schemaRecheck.cannotEnlist = false
        let calls = CallReader(
            prefixes: RunLoop.keyPrefixes(result), idempotencyHeader: result.text(0, EnlistColumn.idempotencyHeader),
            allowsPrivateNetwork: shared.configuration.allowsPrivateNetwork)
        reader = ClaimReader(calls: calls)
        preparations = PrepareReader(calls: calls)
        if !result.isNull(0, EnlistColumn.lostLeases) {
            shared.log(
                .databaseRestored(
                    leases: Int(result.int32(0, EnlistColumn.lostLeases)),
                    unknownJobs: Int(result.int32(0, EnlistColumn.unknownJobs))))
        }
        let isOther = home.enlisted(in: result.uuid(0, EnlistColumn.identity))
        let results = shared.dispatcher.unwrittenCount
        shared.dispatcher.judging.timeout = result.int32(0, EnlistColumn.judgeTimeoutMs)
        let held = Set(result.int64s(0, EnlistColumn.held))
        let lost = shared.dispatcher.enlisted(worker, held: held, isOtherDatabase: isOther)
        for slot in lost { shared.agent.cancel(slot: slot) }
        if isOther {
            shared.log(.databaseChanged(calls: lost.count, results: results))
            forgetDatabase()
        } else if !lost.isEmpty {
            shared.log(.leasesLost(jobs: lost.count))
        }
        shared.log(.enlisted(worker: worker, heldLeases: held.count))
        duties.schedule = Schedule()
        callReports.forget()
        // The table `aborts` has the cancellations whose notifications this worker has missed.
        abortsAnnounced = true
        // The answer of a settle under way is dropped, since it was sent under the old number.
        duties.trees.membersEnded(now: now)
    }

    private static func keyPrefixes(_ enlisting: borrowing PGResult) -> KeyPrefixes {
        guard !enlisting.isNull(0, EnlistColumn.keysAbove) else {
            return KeyPrefixes(installation: enlisting.uuid(0, EnlistColumn.installation))
        }
        let restores = zip(enlisting.int64s(0, EnlistColumn.keysAbove), enlisting.texts(0, EnlistColumn.keys)).map {
            (above: $0, prefix: $1)
        }
        return KeyPrefixes(installation: enlisting.uuid(0, EnlistColumn.installation), restores: restores)
    }

    /// Drops all memory of the former database. Ids, tracks and times of another database differ.
    private func forgetDatabase() {
        if epoch != nil {
            shared.log(.leading(false))
            pruneSchedule.leads(false, now: now)
            epoch = nil
        }
        cursors = LeaderCursors()
        duties.trees = TreeCursor()
        tickCursor = TickCursor()
        databaseClock = DatabaseClock()
        credentials.workAnnounced(now: now)
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
            if duty.isAboutCredentials { return credentialDutyDone(duty, result) }
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
            if duty == .readRefreshAnswer { credentials.readingFailed(now: now) }
            if duty == .storeRefresh { credentials.storingFailed(now: now) }
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
            suspectSchema(error)
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
