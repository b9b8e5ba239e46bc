// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// The duties of the leader: it promotes and feeds jobs, runs schedules, reaps, expires, folds, and adds partitions.
final class LeaderDuties {
    private let shared: SharedState
    private let duties: DutySession
    private let registration: Registration
    private let callbacks: CallbackLoop
    private let pruning: PruningLoop
    private let once: OnceMode?
    /// The leader's epoch while this worker leads.
    private(set) var epoch: Int64?
    private var cursors = LeaderCursors()
    private var tickCursor = TickCursor()
    /// Whether the promoting under way started at the beginning, and when it was sent.
    private var promotion = (isFull: false, began: UInt64(0))
    private var foldSent: UInt64 = 0
    private var failures = FailureReports()

    /// The duties of a worker that does not lead.
    init(
        _ shared: SharedState, _ duties: DutySession, _ registration: Registration, _ callbacks: CallbackLoop,
        _ pruning: PruningLoop, _ once: OnceMode?
    ) {
        self.shared = shared
        self.duties = duties
        self.registration = registration
        self.callbacks = callbacks
        self.pruning = pruning
        self.once = once
    }

    private var now: UInt64 { shared.now }

    /// Whether this worker leads.
    var leads: Bool { epoch != nil }

    /// When to look for due schedules; nil: not before an event.
    var tickDue: UInt64? { leads && !duties.awaits(.tick) ? tickCursor.due : nil }

    /// Handles a notification that jobs await a new track. The leader makes it at once.
    func trackIsAwaited() {
        if leads { duties.schedule.queueDuties = now }
    }

    /// Handles a notification that may bring work for the leader. The claim goes first.
    func notified() {
        guard leads else { return }
        duties.schedule.queueDuties = min(duties.schedule.queueDuties, now + Schedule.queueDutiesAfterNotification)
        duties.trees.membersEnded(now: now + Schedule.queueDutiesAfterNotification)
    }

    /// Drops all memory of the former database.
    func forgetDatabase() {
        if leads {
            shared.log(.leading(false))
            pruning.leads(false)
            epoch = nil
        }
        cursors = LeaderCursors()
        tickCursor = TickCursor()
    }

    /// Sends the duties that are due, while this worker leads.
    func sendDue(_ worker: Int32) {
        guard let epoch else { return }
        if !duties.awaits(.runQueueDuties), isDue(&duties.schedule.queueDuties, Schedule.queueDutiesInterval) {
            let since = cursors.promoteFrom(now: now)
            promotion = (since == nil, now)
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
            if !duties.awaits(.takeUnreportedEnds) {
                StoreCalls.fold(
                    worker: worker, epoch: epoch, after: cursors.takeEndsAfter(now: now), into: &shared.parameters)
                duties.send(.takeUnreportedEnds, StoreStatement.takeUnreportedEnds)
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

    /// Whether a moment has come. If true, it moves to one interval from now.
    private func isDue(_ moment: inout UInt64, _ interval: UInt64) -> Bool {
        Schedule.isDue(&moment, every: interval, now: now)
    }

    /// Handles the answer of a duty.
    func dutyDone(_ duty: Duty, _ result: borrowing PGResult) {
        switch duty {
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
            cursors.promotedTo(latest, wasFull: promotion.isFull, cost: now - promotion.began, now: now)
        case .tick:
            if result.int64(0, TickColumn.made) > 0 { duties.jobsAnnounced() }
            tickCursor.end(
                at: result.isNull(0, TickColumn.latest) ? nil : result.timestamp(0, TickColumn.latest),
                hasMore: result.bool(0, TickColumn.more),
                wait: result.optionalInt64(0, TickColumn.waitMs), now: now)
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
        case .takeUnreportedEnds:
            for row in 0..<result.rowCount {
                cursors.tookEnd(result.int64(row, UnreportedEndColumn.latest))
                shared.configuration.workerMetrics?.ended(
                    Int(result.int64(row, UnreportedEndColumn.jobs)),
                    state: result.text(row, UnreportedEndColumn.state),
                    queue: result.text(row, UnreportedEndColumn.queue),
                    service: result.text(row, UnreportedEndColumn.service))
            }
        case .expire:
            cursors.expired(now: now)
        case .removeTracks:
            cursors.tracksReached = result.int32(0, RemoveTracksColumn.reached)
            if cursors.tracksReached == 0 && !result.bool(0, RemoveTracksColumn.isPending) {
                duties.schedule.tracks = now + Schedule.tracksRest
            }
        default: break
        }
    }

    /// Handles a failed duty.
    func dutyFailed(_ duty: Duty, isOverrun: Bool) {
        guard isOverrun else { return }
        // The next full run keeps its distance even after a failure: it would take too long again.
        if duty == .fold { cursors.foldedTo(nil, now: now) }
        if duty == .expire { cursors.expired(now: now) }
        if duty == .extendPartitions { duties.schedule.partition = now + Schedule.partitionRest }
    }

    /// Logs the count of failed jobs that no later look of this worker reports.
    func logUnreportedFailures() {
        let rest = failures.takeRest()
        if rest > 0 { shared.log(.moreFailed(jobs: rest)) }
    }
}
