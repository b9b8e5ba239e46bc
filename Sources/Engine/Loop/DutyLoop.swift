// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

/// The duties session: heartbeats, surveys, aborts and settling, and the leader's duties while this worker leads.
final class DutyLoop {
    private let shared: SharedState
    private let duties: DutySession
    private let registration: Registration
    private let leader: LeaderDuties
    private let credentials: CredentialLoop
    private let callbacks: CallbackLoop
    private let permits: PermitDuty
    private let silence: SilenceCheck
    private let schema: SchemaGuard
    private let labels: LabelDuty
    private let traces: TraceLoop
    /// The rows that the database has about this worker's long calls.
    private var callReports = CallReports()
    /// Whether a notification about cancelled jobs awaits a look. The look also deletes rows about calls that have
    /// ended meanwhile.
    private var hasAborts = false

    /// A loop that has sent nothing.
    init(
        _ shared: SharedState, _ duties: DutySession, _ registration: Registration, _ leader: LeaderDuties,
        _ credentials: CredentialLoop, _ callbacks: CallbackLoop, _ permits: PermitDuty, _ silence: SilenceCheck,
        _ schema: SchemaGuard, _ traces: TraceLoop
    ) {
        self.shared = shared
        self.duties = duties
        self.registration = registration
        self.leader = leader
        self.credentials = credentials
        self.callbacks = callbacks
        self.permits = permits
        self.silence = silence
        self.schema = schema
        labels = LabelDuty(shared, duties)
        self.traces = traces
    }

    private var now: UInt64 { shared.now }

    /// Opens the session.
    func start() { duties.session.start(now: now) }

    /// Handles a notification about cancelled jobs.
    func abortsAnnounced() {
        duties.schedule.aborts = 0
        hasAborts = true
    }

    /// Makes all duties due, for a new number or a new connection.
    func startAnew() {
        duties.schedule = Schedule()
        callReports.forget()
        // The table `aborts` has the cancellations whose notifications this worker has missed.
        hasAborts = true
        // The answer of a settle under way is dropped, since it was sent under the old number.
        duties.trees.membersEnded(now: now)
    }

    /// Drops all memory of the former database. Ids, tracks and times of another database differ.
    func forgetDatabase() {
        leader.forgetDatabase()
        duties.trees = TreeCursor()
        permits.forgetDatabase()
        shared.configuration.workerMetrics?.forgetTracks()
        credentials.workAnnounced()
        traces.forgetDatabase()
    }

    /// Sends the duties that are due. A duty is not sent again before its answer.
    func sendDue() {
        let worker = shared.dispatcher.worker
        guard worker > 0, duties.isReady else { return }
        let settles = !duties.awaits(.settle) && now >= duties.trees.due
        if settles, now >= registration.liveness.beatSent + Schedule.beatBeforeSettle { duties.schedule.beat = now }
        if isDue(&duties.schedule.beat, Schedule.beatInterval) {
            registration.beat()
            if shared.memoryTrim.isDue(inFlight: shared.dispatcher.slots.inUse) {
                shared.agent.returnMemory()
                Memory.trim()
            }
        }
        // A notification that arrives while an answer is under way is handled after the answer.
        if shared.dispatcher.slots.inUse > 0 || hasAborts,
            isDue(&duties.schedule.aborts, Schedule.abortsInterval),
            !duties.awaits(.takeAborts)
        {
            hasAborts = false
            StoreCalls.worker(worker, into: &shared.parameters)
            duties.send(.takeAborts, StoreStatement.takeAborts)
        }
        if isDue(&duties.schedule.lead, leadInterval) {
            StoreCalls.worker(worker, into: &shared.parameters)
            duties.send(.lead, StoreStatement.lead)
        }
        if shared.configuration.filesRoot != nil, isDue(&duties.schedule.parts, Schedule.partsInterval) {
            shared.agent.expireParts()
        }
        if isDue(&duties.schedule.labels, Schedule.labelsInterval) { labels.send() }
        if hasCallsToReport, isDue(&duties.schedule.progress, Schedule.progressInterval) { reportCalls(worker) }
        if settles {
            StoreCalls.settle(duties.trees.begin(leads: leader.leads, now: now), into: &shared.parameters)
            duties.send(.settle, StoreStatement.settle)
        }
        credentials.sendDuties(worker)
        traces.sendQuestion()
        survey()
        permits.send(worker)
        leader.sendDue(worker)
    }

    /// Polls for new jobs if it is time.
    func poll() { duties.apply(shared.dispatcher.poll(now: now)) }

    /// When this loop must act, nil if it need not act before an event.
    var deadline: UInt64? {
        earliest([
            duties.session.deadline, dutyDue, permits.deadline,
            shared.dispatcher.nextLook(canSurvey: duties.isReady && !duties.awaits(.survey)),
        ])
    }

    /// When the next duty is due. Nil if none is due before an event.
    private var dutyDue: UInt64? {
        guard shared.dispatcher.worker > 0 && duties.isReady else { return nil }
        let scheduled = duties.schedule.earliest(
            leads: leader.leads, hasCalls: shared.dispatcher.slots.inUse > 0,
            canRunQueueDuties: !duties.awaits(.runQueueDuties))
        return earliest([
            scheduled, credentials.deadline, duties.awaits(.settle) ? nil : duties.trees.due, leader.tickDue,
        ])
    }

    /// The leader renews its lease of 10 s every 3 s. The other workers ask every second, or every 15 s while they stand
    /// by.
    private var leadInterval: UInt64 {
        if leader.leads { return 3 * Schedule.leadInterval }
        return shared.dispatcher.claims.isStandingBy ? 15 * Schedule.leadInterval : Schedule.leadInterval
    }

    /// Whether the database may have rows of long calls, or may need them.
    private var hasCallsToReport: Bool {
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

    /// Handles all events of the session.
    func handleEvents() {
        while let event = duties.session.next() { handle(event) }
    }

    private func handle(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .ready:
            startAnew()
            shared.dispatcher.claims.lookAgain()
            duties.jobsAnnounced()
        case .result(let tag, let result):
            guard let duty = Tag.duty(of: tag) else { return }
            duties.answered(duty)
            if duty.isAboutCredentials { return credentials.dutyDone(duty, result) }
            if duty == .takeEndedSpans { return traces.answered(result) }
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
            let isOverrun = error.sqlState?.isOverrun == true
            leader.dutyFailed(duty, isOverrun: isOverrun)
            if duty == .settle { duties.trees.failed(isOverrun: isOverrun, leads: leader.leads, now: now) }
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

    /// Handles the answer of a duty.
    private func dutyDone(_ duty: Duty, _ result: borrowing PGResult) {
        switch duty {
        case .beat: registration.beatReturned(result)
        case .takeAborts:
            for row in 0..<result.rowCount {
                abort(jobID: result.int64(row, AbortColumn.jobID), fence: result.int64(row, AbortColumn.fence))
            }
            if hasAborts { duties.schedule.aborts = now }
        case .settle:
            duties.trees.settled(
                to: result.optionalInt64(0, SettleColumn.latest), hasMore: result.bool(0, SettleColumn.hasMore),
                leads: leader.leads, now: now)
            if result.bool(0, SettleColumn.hasReady) { duties.jobsAnnounced() }
            if result.bool(0, SettleColumn.hasExpensive) { shared.dispatcher.judging.treesWait() }
        case .survey: shared.dispatcher.claims.surveyReturned(StoreCalls.surveyFound(result), now: now)
        case .acquireLanePermits: permits.granted(result)
        case .setIdle: shared.dispatcher.claims.listeningBegan()
        case .lead, .runQueueDuties, .tick, .reap, .extendPartitions, .fold, .expire, .removeTracks,
            .takeUnreportedEnds:
            leader.dutyDone(duty, result)
        case .trackLabels: labels.returned(result)
        case .askAfterJobs: silence.jobsIdle(result)
        case .progress, .endSession, .credentials, .storeSealedSecrets, .readRefreshAnswer, .storeRefresh,
            .takeEndedSpans:
            break
        }
    }

    /// Aborts the call of a cancelled job. The result of the job stands already.
    private func abort(jobID: Int64, fence: Int64) {
        traces.callAborted(jobID, fence: fence)
        guard let slot = shared.dispatcher.jobCancelled(jobID, fence: fence, now: now) else { return }
        shared.agent.cancel(slot: slot)
        shared.log(.callAborted(job: jobID))
    }
}
