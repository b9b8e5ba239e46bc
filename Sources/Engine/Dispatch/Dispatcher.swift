// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The worker's core without socket, clock or database: it decides what to claim, what to write and how attempts end.
/// Pure.
///
/// ```
///  nextExchange ──► [finish of ended attempts, claim for free slots] ──► the database
///  jobArrived  ◄── claimed rows ◄──┤
///  callEnded   ──► attempts to write          finishReturned, exchangeFailed ◄──┘
/// ```
/// Methods take events and return actions. `RunLoop` carries the actions out with PostgreSQL and libcurl. A simulation
/// carries them out with a queue in memory, with lost answers and late commits.
///
/// A slot is in one of three states: free, reserved by a claim under way, or in use by a call. So a claim never brings
/// more jobs than fit.
struct Dispatcher: ~Copyable {
    /// The most calls in flight.
    let capacity: Int
    /// The running calls.
    var slots: SlotTable
    /// Slots that claims under way may fill.
    private(set) var reserved = 0
    /// Transactions without an answer, by number.
    private(set) var exchanges: [UInt64: Exchange] = [:]
    /// Jobs with a slot that wait for their preparation.
    var preparations = PreparationQueue()
    /// Attempts to be written.
    var finished = FinishedAttempts()
    /// Attempts to be written when their rows are no longer locked.
    var deferred = DeferredAttempts()
    /// The pace of writes, and the attempts that the database has refused.
    var writeThrottle = WriteThrottle()
    /// The waits between claims while these are refused.
    private var claimPause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// Attempts that wait for the judging session.
    var judging = JudgingWork()
    /// After a failure no exchange is sent before this moment.
    private(set) var restUntil: UInt64 = 0
    /// After a failed claim, claims until this moment take leases only.
    private var leasesOnlyUntil: UInt64 = 0
    var lifecycle = Lifecycle()
    var knownTracks = KnownTracks()
    var surveyCursor = SurveyCursor()
    /// The permits of lanes with limits.
    var lanes = LanePermits()
    var pickup: PickupMode
    var pollSchedule = PollSchedule()
    /// Where a claim may find jobs.
    private(set) var claimScope = ClaimScope.anywhere
    private var lastFence: Int64 = 0
    var numbers = StatementNumbers()
    private var finishedSince: UInt64 = 0
    /// Until this moment a few finished attempts wait for more, since many have ended just before.
    private(set) var pausedUntil: UInt64 = 0
    /// The memory budget of bodies, answers and results.
    var memory: MemoryBudget
    var waitingBodies = WaitingBodies()

    /// A dispatcher without a number, with all slots free.
    init(capacity: Int, canListen: Bool, memory: Int = EngineConfiguration.standardMemory) {
        self.capacity = capacity
        self.memory = MemoryBudget(total: memory, slots: capacity)
        judging.limit = self.memory.judgingShare
        slots = SlotTable(count: capacity)
        pickup = PickupMode(canListen: canListen)
    }

    /// This worker's number; 0 while it has no valid one.
    var worker: Int32 { lifecycle.worker }

    /// Whether the worker takes no new jobs, because it is about to end.
    var isDraining: Bool { lifecycle.isDraining }

    /// Stops claiming. Running calls go on, and all results are stored.
    mutating func drain() { lifecycle.drain() }

    /// Whether the heartbeats of a worker with a number are overdue. Then it claims nothing.
    var isUnheard: Bool {
        get { lifecycle.isUnheard }
        set { lifecycle.heartbeats(areOverdue: newValue) }
    }

    /// The next exchange, nil if none is due. Send it at once, or take it back.
    mutating func nextExchange(now: UInt64) -> (number: UInt64, exchange: Exchange)? {
        guard worker > 0, now >= restUntil else { return nil }
        if !lanes.isEmpty, knownTracks.unpark(&lanes, now: now) { widenClaimScope() }
        let writable = writeThrottle.writable(
            finished: finished.count, isUnderWay: isWriting, isDraining: isDraining, now: now)
        let free = now >= claimPause.until ? freeToClaim : 0
        let isHeld = free > 0 && claimScope == .anywhere && pollSchedule.holdsClaim(now: now)
        let claimable = isHeld ? 0 : claimRoom(free, now: now)
        let expected = claimable > 0 ? knownTracks.expected(of: claimable, lanes: &lanes, now: now) : 0
        let waited = writable == 0 || finished.isEmpty ? 0 : now - min(now, finishedSince)
        guard
            ExchangePolicy.isDue(
                underWay: exchanges.count, finished: writable, claimable: expected, capacity: capacity,
                waited: waited, isPaused: now < pausedUntil && !knownTracks.hasBacklog)
        else { return nil }
        var next = Exchange()
        if writable > 0 {
            let batch = nextBatch(now: now)
            memory.wrote(batch.bytes)
            pausedUntil = batch.attempts.count >= ExchangePolicy.density ? now + ExchangePolicy.pause : 0
            next.batch = batch
            finishedSince = now
        }
        let claims = claimable > 0 && (now >= leasesOnlyUntil && !writeThrottle.pause.isOn || next.batch == nil)
        if claims {
            writeThrottle.claims(now: now)
            next.claim = singleClaim(with: next.batch, now: now) ?? wholeClaim(claimable: claimable, now: now)
        }
        if next.claim?.announced != nil {
            // No claim of all tracks follows before this answer has arrived.
            claimScope = .nowhere
        } else {
            if case .announced = claimScope { widenClaimScope() }
            // If no track can be visited, all known jobs wait in parked tracks.
            if claims, next.claim == nil { claimScope = .nowhere }
        }
        guard next.batch != nil || next.claim != nil else { return nil }
        reserved += next.claim?.limit ?? 0
        let number = numbers.take()
        exchanges[number] = next
        return (number, next)
    }

    /// A claim of all tracks with work, nil if none can be visited.
    private mutating func wholeClaim(claimable: Int, now: UInt64) -> Exchange.Claim? {
        pollSchedule.claimBegan()
        let limit = min(claimable, ExchangePolicy.claimLimit)
        let visits = knownTracks.plan(limit: limit, inFlight: slots.inFlight, lanes: &lanes, now: now)
        guard !visits.isEmpty else { return nil }
        return Exchange.Claim(
            limit: limit, visits: visits, above: lastFence, sentAt: now, takesLeasesOnly: now < leasesOnlyUntil)
    }

    /// A claim of the one announced job, if no other job is known to wait and no attempt is to be written.
    private func singleClaim(with batch: FinishBatch?, now: UInt64) -> Exchange.Claim? {
        guard batch == nil, exchanges.isEmpty, lanes.isEmpty, now >= max(pollSchedule.singleDue, leasesOnlyUntil),
            case .announced(let job) = claimScope, let visit = knownTracks.visit(announced: job.track)
        else { return nil }
        return Exchange.Claim(limit: 1, visits: [visit], above: lastFence, sentAt: now, announced: job)
    }

    /// The next moment at which the loop must act, nil if it need not act before an event.
    func deadline(now: UInt64) -> UInt64? {
        if now < restUntil { return restUntil }
        guard worker > 0 else { return nil }
        let held = pollSchedule.heldUntil > now ? pollSchedule.heldUntil : nil
        let moments = [
            exchangeDeadline(now: now), deferred.due(isDraining: isDraining), preparations.deadline(now: now), held,
            refusalDeadline(now: now), lifecycle.takesJobs ? claimPause.deadline(now: now) : nil,
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// When the next exchange is due. Nil if only an answer allows it: a moment in the past would keep the loop awake.
    private func exchangeDeadline(now: UInt64) -> UInt64? {
        let hasWrites = !finished.isEmpty || !writeThrottle.refused.isEmpty
        guard exchanges.count < ExchangePolicy.depth, hasWrites || !lanes.isEmpty else { return nil }
        if exchanges.isEmpty { return pausedUntil > now ? pausedUntil : nil }
        return finished.isEmpty || writeThrottle.pause.isOn ? nil : finishedSince + ExchangePolicy.patience
    }

    /// Records the answer of a claim. Give its rows to `jobArrived`, then call `claimRead`.
    ///
    /// - Returns: nil if the rows are void. They were claimed for a number that has been given up since, and the next
    ///   enlisting makes them ready again. To call them now would call them twice.
    mutating func claimReturned(_ number: UInt64) -> Arrival? {
        guard let exchange = exchanges[number], let claim = exchange.claim else { return nil }
        exchanges[number]?.claim = nil
        if exchange.batch == nil { exchanges[number] = nil }
        reserved -= claim.limit
        if worker == 0 { giveBack(claim, found: [:], now: claim.sentAt) }
        return worker > 0 ? Arrival(claim: claim) : nil
    }

    /// Takes a row of a claim. Returns its slot. A job without a complete call waits there for its preparation.
    mutating func jobArrived(_ job: ClaimedJob, _ arrival: inout Arrival) -> Int? {
        arrival.note(job.lease)
        lastFence = max(lastFence, job.lease.fence)
        var job = job
        job.lane = arrival.lane(of: job.lease.track)
        guard let slot = slots.take(job, claimedAt: arrival.claim.sentAt) else { return nil }
        memory.began(slot, smallBody: job.call?.body.byteCount ?? 0)
        guard job.call == nil else { return slot }
        let entry = Preparation.Entry(slot: slot, lease: job.lease)
        if let body = job.largeBody {
            waitingBodies.put(entry, body, now: arrival.claim.sentAt)
        } else {
            preparations.put(entry)
        }
        return slot
    }

    /// Records that the last row of a claim was read.
    mutating func claimRead(_ arrival: consuming Arrival, now: UInt64) -> PickupMode.Change {
        let claim = arrival.claim
        claimPause.succeeded()
        if arrival.rows > 0 { pollSchedule.claimCaught(now: now) }
        if claim.announced != nil { return singleClaimRead(arrival, now: now) }
        knownTracks.claimReturned(claim.visits, limit: claim.limit, found: arrival.found)
        if !lanes.isEmpty {
            giveBack(claim, found: arrival.found, now: now)
            lanes.claimTook(now - min(now, claim.sentAt))
        }
        if claim.isOutdated || arrival.rows == claim.limit || knownTracks.hasHotTracks {
            widenClaimScope()
        } else {
            claimScope = .nowhere
        }
        let change = pickup.claimReturned(rows: arrival.rows, limit: claim.limit)
        pollSchedule.poll = now + pickup.interval
        pollSchedule.hasRoom = arrival.rows < claim.limit
        return change
    }

    private mutating func singleClaimRead(_ arrival: consuming Arrival, now: UInt64) -> PickupMode.Change {
        let claim = arrival.claim
        knownTracks.claimReturned(claim.visits, limit: .max, found: arrival.found)
        if arrival.rows == 0 {
            // The job may have been committed late, below the watermark of its track.
            pollSchedule.wantsSurvey = true
            widenClaimScope()
            pollSchedule.singleClaimFailed(now: now)
            return .none
        }
        // The next poll stays where it is: it finds jobs that no notification has announced.
        return pickup.claimReturned(rows: arrival.rows, limit: .max)
    }

    /// Records that a finish is stored.
    ///
    /// - Returns: how many attempts were refused because their lease had ended, and the follow-up of the others.
    mutating func finishReturned(_ number: UInt64, stored: Int) -> (refused: Int, followUp: FollowUp) {
        guard let exchange = exchanges[number], let batch = exchange.batch else { return (0, []) }
        exchanges[number]?.batch = nil
        if exchange.claim == nil { exchanges[number] = nil }
        finished.append(contentsOf: writeThrottle.succeeded())
        let followUp = batch.followUp
        noteStored(batch.attempts, followUp, claims: exchange.claim != nil)
        return (batch.attempts.count - stored, followUp)
    }

    /// Records that attempts are stored, and what follows from them.
    ///
    /// - Parameter claims: whether a claim was part of the same transaction.
    mutating func noteStored(_ attempts: [FinishedAttempt], _ followUp: FollowUp, claims: Bool) {
        // The next step of a chain may be ready.
        if followUp.contains(.tree) { widenClaimScope() }
        // A claim in the same transaction runs after the finish, so it has seen the next page.
        if followUp.contains(.page), !claims {
            widenClaimScope()
            pollSchedule.claimIsInformed()
        }
        if followUp.contains(.oldPlace) { pollSchedule.wantsSurvey = true }
        for attempt in attempts where attempt.verdict.kind == .held || attempt.verdict.kind == .onward {
            knownTracks.stepBack(attempt.lease.track, to: attempt.lease.seq)
        }
    }

    /// Takes an exchange or a preparation back. Its attempts are written again, its slots are free, its jobs are
    /// prepared again.
    mutating func takeBack(_ number: UInt64, now: UInt64) {
        preparations.takeBack(number)
        guard let exchange = exchanges.removeValue(forKey: number) else { return }
        if let batch = exchange.batch {
            if finished.isEmpty { finishedSince = now }
            finished.insertFirst(batch.attempts)
        }
        if let claim = exchange.claim {
            reserved -= claim.limit
            giveBack(claim, found: [:], now: now)
        }
        widenClaimScope()
    }

    /// Handles a failed finish or claim. The whole exchange has failed with it.
    ///
    /// It is called for the finish, then for the claim. If the claim caused the failure, the finish reports `.aborted`,
    /// and its call has taken the exchange back. So without a batch here, the claim is the cause.
    mutating func exchangeFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        let batch = exchanges[number]?.batch
        takeBack(number, now: now)
        switch cause {
        case .aborted: return .none
        case .workerLost: return .enlist
        default: break
        }
        guard let batch else {
            leasesOnlyUntil = now + Dispatcher.leasesOnlyPeriod
            claimPause.refused(now: now)
            return .report
        }
        switch cause {
        case .unstorable: return isolate(batch, now: now)
        case .locked: return deferBatch(batch, now: now)
        case .overrun where batch.isJudged: return separate(batch, now: now)
        default: return refuse(batch, now: now)
        }
    }

    /// Lets the next claim search all tracks.
    mutating func widenClaimScope() {
        // The announced job may stand below the watermark of its track.
        if case .announced = claimScope { pollSchedule.wantsSurvey = true }
        claimScope = .anywhere
    }

    /// Sends no exchange for 250 ms.
    mutating func rest(now: UInt64) {
        restUntil = now + Dispatcher.restAfterFailure
    }

    /// A failed claim may fail each time: one of its rows may hold a value that cannot be written out. So for a minute
    /// a claim shares no transaction with attempts, and takes leases only. `prepare` then finds the job that causes it.
    private static let leasesOnlyPeriod: UInt64 = 60_000_000_000

    /// The rest after a failure: 250 ms. It spares a database in trouble.
    private static let restAfterFailure: UInt64 = 250_000_000

    /// Adds an attempt to the attempts to be written.
    mutating func enqueue(_ attempt: FinishedAttempt, now: UInt64) {
        if finished.isEmpty { finishedSince = now }
        finished.append(attempt)
    }

    /// Records a notification about new jobs. If no other job is known to wait, a claim of the announced job is enough,
    /// and its answer shows whether to look further.
    mutating func jobsAnnounced(_ job: AnnouncedJob? = nil, now: UInt64) -> PickupMode.Change {
        if let job, knownTracks.visit(announced: job.track) != nil {
            switch claimScope {
            case .nowhere: claimScope = .announced(job)
            case .announced:
                widenClaimScope()
                pollSchedule.claimIsInformed()
            case .anywhere: pollSchedule.wantsSurvey = true
            }
        } else {
            pollSchedule.mayLookAtOnce()
            widenClaimScope()
        }
        for number in exchanges.keys { exchanges[number]?.claim?.isOutdated = true }
        return pickup.notified(now: now)
    }

    /// Records the answer of a survey.
    mutating func surveyReturned(_ found: SurveyCursor.Found, now: UInt64) {
        surveyCursor.returned(found)
        pollSchedule.surveyReturned(now: now, isWhole: found.after == 0)
        knownTracks.surveyReturned(found.sightings, lanes: &lanes)
        if !found.sightings.isEmpty {
            widenClaimScope()
            pollSchedule.claimIsInformed()
        }
    }
}
