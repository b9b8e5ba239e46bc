// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The worker's core without socket, clock or database: what to claim, what to write, what an answer means. Pure.
///
/// ```
///  nextExchange ──► [finish of what has ended, claim for what is free] ──► the database
///  jobArrived  ◄── claimed rows ◄──┤
///  callEnded   ──► attempts to write          finishReturned, exchangeFailed ◄──┘
/// ```
/// Events are methods, what they return is to be carried out. `RunLoop` does so against PostgreSQL and libcurl; a
/// simulation does so against a queue in memory, with lost answers and late commits. A slot is in one of three
/// states: free, reserved by a claim under way, or in use by a call; so a claim never brings more than fits.
struct Dispatcher: ~Copyable {
    /// Calls in flight at most.
    let capacity: Int
    /// The running calls.
    var slots: SlotTable
    /// Slots that claims under way may fill.
    private(set) var reserved = 0
    /// Transactions without an answer, by number.
    private(set) var exchanges: [UInt64: Exchange] = [:]
    /// Rich jobs with a slot whose call is not asked for yet, and those it is asked for.
    var unprepared: [Preparation.Entry] = []
    var preparations: [UInt64: Preparation] = [:]
    var preparationLimit = Preparation.limit
    /// Whether the next preparation is that of a job which goes alone, if there is one.
    var preparesAlone = false
    /// Until then preparations hurry, after one that waited for a lock.
    var hastyUntil: UInt64 = 0
    /// Attempts to be written.
    var finished = FinishedAttempts()
    /// Attempts to be written when nobody holds their rows any more.
    var deferred = DeferredAttempts()
    /// How the database takes them, and those that it has refused.
    var writeThrottle = WriteThrottle()
    /// The waits between claims, and between preparations, while these are refused.
    private var claimPause = StatementBackoff(longest: RefusedAttempts.longestWait)
    var preparePause = StatementBackoff(longest: Preparation.longestPause)
    /// Preparations that succeeded.
    var prepared: UInt64 = 0
    /// Jobs that were handed back because their preparation alone exceeded the time limit, with the value of `prepared`
    /// then.
    var slowPreparations: [Int64: UInt64] = [:]
    /// Attempts that wait to be judged on a session of their own.
    var judging = JudgingWork()
    /// No exchange before this moment, after one failed.
    private(set) var restUntil: UInt64 = 0
    /// Until then claims are wary, after one failed.
    private var waryUntil: UInt64 = 0
    /// Set when the worker is to claim no more.
    var isDraining = false
    /// Set while the database has not heard of the worker for so long that others may take it for lost: what it claims
    /// now, they would call again.
    var isUnheard = false
    /// Whether it takes new jobs at all.
    var takesJobs: Bool { !isDraining && !isUnheard }

    /// This worker's number; 0 while it has none that is good.
    var worker: Int32 = 0
    var isEnlisting = false
    /// The last number, to take leases over from.
    var formerWorker: Int32 = 0

    var knownTracks = KnownTracks()
    var surveyCursor = SurveyCursor()
    /// What may be started in lanes with limits.
    var lanes = LanePermits()
    var pickup: PickupMode
    var pollSchedule = PollSchedule()
    /// Where a claim may find something.
    private(set) var claimScope = ClaimScope.anywhere
    private var lastFence: Int64 = 0
    private var nextNumber: UInt64 = 1
    private var finishedSince: UInt64 = 0
    /// Until then few attempts wait for more, since many have ended just before.
    private(set) var pausedUntil: UInt64 = 0
    /// The memory of bodies, answers and results.
    var memory: MemoryBudget
    /// Jobs with a slot whose large bodies wait for room; the first has waited longest.
    var waitingBodies: [WaitingBody] = []

    /// Without a number, all slots free.
    init(capacity: Int, canListen: Bool, memory: Int = EngineConfiguration.standardMemory) {
        self.capacity = capacity
        self.memory = MemoryBudget(total: memory, slots: capacity)
        judging.limit = self.memory.judgingShare
        slots = SlotTable(count: capacity)
        pickup = PickupMode(canListen: canListen)
    }

    /// The next exchange, if one is due; to be sent at once, or taken back.
    mutating func nextExchange(now: UInt64) -> (number: UInt64, exchange: Exchange)? {
        guard worker > 0, now >= restUntil else { return nil }
        if !lanes.isEmpty, knownTracks.unpark(&lanes, now: now) { look() }
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
        let claims = claimable > 0 && (now >= waryUntil && !writeThrottle.pause.isOn || next.batch == nil)
        if claims {
            writeThrottle.claims(now: now)
            next.claim = singleClaim(beside: next.batch, now: now) ?? wholeClaim(claimable: claimable, now: now)
        }
        if next.claim?.announced != nil {
            // No whole claim follows before the answer is there.
            claimScope = .nowhere
        } else {
            if case .announced = claimScope { look() }
            // All that there is is parked.
            if claims, next.claim == nil { claimScope = .nowhere }
        }
        guard next.batch != nil || next.claim != nil else { return nil }
        reserved += next.claim?.limit ?? 0
        let number = takeNumber()
        exchanges[number] = next
        return (number, next)
    }

    /// A claim of all that is free, wherever there may be work; nil if no track can be visited.
    private mutating func wholeClaim(claimable: Int, now: UInt64) -> Exchange.Claim? {
        pollSchedule.claimBegan()
        let limit = min(claimable, ExchangePolicy.claimLimit)
        let visits = knownTracks.plan(limit: limit, inFlight: slots.inFlight, lanes: &lanes, now: now)
        guard !visits.isEmpty else { return nil }
        return Exchange.Claim(limit: limit, visits: visits, above: lastFence, sentAt: now, isBare: now < waryUntil)
    }

    /// A claim of the one job that news are about, while nothing else is known to wait and nothing is to be written.
    private func singleClaim(beside batch: FinishBatch?, now: UInt64) -> Exchange.Claim? {
        guard batch == nil, exchanges.isEmpty, lanes.isEmpty, now >= max(pollSchedule.singleDue, waryUntil),
            case .announced(let job) = claimScope, let visit = knownTracks.visit(announced: job.track)
        else { return nil }
        return Exchange.Claim(limit: 1, visits: [visit], above: lastFence, sentAt: now, announced: job)
    }

    /// A number for a transaction, never given twice.
    mutating func takeNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// When an attempt has waited long enough for company, a question or what was put off is due, or the rest after a
    /// failure is over; nil if none.
    func deadline(now: UInt64) -> UInt64? {
        if now < restUntil { return restUntil }
        guard worker > 0 else { return nil }
        let held = pollSchedule.heldUntil > now ? pollSchedule.heldUntil : nil
        let moments = [
            exchangeDeadline(now: now), deferred.due(isDraining: isDraining), preparationDeadline(now: now), held,
            refusalDeadline(now: now), takesJobs ? claimPause.deadline(now: now) : nil,
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// With all exchanges under way an answer is waited for, not a moment: a moment gone by would keep the loop awake.
    private func exchangeDeadline(now: UInt64) -> UInt64? {
        let hasWrites = !finished.isEmpty || !writeThrottle.refused.isEmpty
        guard exchanges.count < ExchangePolicy.depth, hasWrites || !lanes.isEmpty else { return nil }
        if exchanges.isEmpty { return pausedUntil > now ? pausedUntil : nil }
        return finished.isEmpty || writeThrottle.pause.isOn ? nil : finishedSince + ExchangePolicy.patience
    }

    /// A claim's answer is there; its rows are given to `jobArrived`, then `claimRead` ends it.
    ///
    /// - Returns: nil if the rows mean nothing: they were claimed for a number that has been given up since, and
    ///   the enlisting behind them makes them ready again. Calling them would call them twice.
    mutating func claimReturned(_ number: UInt64) -> Arrival? {
        guard let exchange = exchanges[number], let claim = exchange.claim else { return nil }
        exchanges[number]?.claim = nil
        if exchange.batch == nil { exchanges[number] = nil }
        reserved -= claim.limit
        if worker == 0 { giveBack(claim, found: [:], now: claim.sentAt) }
        return worker > 0 ? Arrival(claim: claim) : nil
    }

    /// A row of a claim. Returns the slot to call it in; a rich job waits there to be prepared.
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
            bodyWaits(entry, body, now: arrival.claim.sentAt)
        } else {
            unprepared.append(entry)
        }
        return slot
    }

    /// The last row of a claim has been read.
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
            look()
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
            // It may have been committed late, below the watermark.
            pollSchedule.wantsSurvey = true
            look()
            pollSchedule.singleClaimFailed(now: now)
            return .none
        }
        // The next poll stays where it is: it finds what nobody has announced.
        return pickup.claimReturned(rows: arrival.rows, limit: .max)
    }

    /// A finish is stored. Returns how many of its attempts were refused because their lease had ended, and what the
    /// others set off.
    mutating func finishReturned(_ number: UInt64, stored: Int) -> (refused: Int, followUp: FollowUp) {
        guard let exchange = exchanges[number], let batch = exchange.batch else { return (0, []) }
        exchanges[number]?.batch = nil
        if exchange.claim == nil { exchanges[number] = nil }
        finished.append(contentsOf: writeThrottle.succeeded())
        let followUp = batch.followUp
        noteStored(batch.attempts, followUp, claims: exchange.claim != nil)
        return (batch.attempts.count - stored, followUp)
    }

    /// Attempts are stored, and set this off.
    ///
    /// - Parameter claims: whether a claim was part of the same transaction.
    mutating func noteStored(_ attempts: [FinishedAttempt], _ followUp: FollowUp, claims: Bool) {
        // The next step of a chain may be ready.
        if followUp.contains(.tree) { look() }
        // A claim of the same transaction, behind the finish, has seen it.
        if followUp.contains(.page), !claims {
            look()
            pollSchedule.claimIsInformed()
        }
        if followUp.contains(.place) { pollSchedule.wantsSurvey = true }
        for attempt in attempts where attempt.verdict.kind == .held || attempt.verdict.kind == .onward {
            knownTracks.stepBack(attempt.lease.track, to: attempt.lease.seq)
        }
    }

    /// Takes an exchange back: its attempts are to be written again, its slots are free again. Or a preparation: its
    /// jobs are to be prepared again.
    mutating func takeBack(_ number: UInt64, now: UInt64) {
        if let preparation = preparations.removeValue(forKey: number) {
            unprepared.insert(contentsOf: preparation.entries, at: 0)
        }
        guard let exchange = exchanges.removeValue(forKey: number) else { return }
        if let batch = exchange.batch {
            if finished.isEmpty { finishedSince = now }
            finished.insertFirst(batch.attempts)
        }
        if let claim = exchange.claim {
            reserved -= claim.limit
            giveBack(claim, found: [:], now: now)
        }
        look()
    }

    /// A finish or a claim failed, and with it its whole exchange. Comes once for each of its statements, in their
    /// order; so when the claim is to blame, the exchange has been taken back by then.
    mutating func exchangeFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        let batch = exchanges[number]?.batch
        takeBack(number, now: now)
        switch cause {
        case .aborted: return .none
        case .workerLost: return .enlist
        default: break
        }
        guard let batch else {
            waryUntil = now + Dispatcher.wariness
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

    /// A claim may find something in any track.
    mutating func look() {
        // What was announced may lie below the watermark of its track.
        if case .announced = claimScope { pollSchedule.wantsSurvey = true }
        claimScope = .anywhere
    }

    /// Sends nothing for a while.
    mutating func rest(now: UInt64) {
        restUntil = now + Dispatcher.restAfterFailure
    }

    /// A claim that failed may do so each time: a row that it would take may hold what cannot be written out. So for a
    /// minute no attempts wait with it, and it takes leases only: `prepare` finds the one job that is to blame.
    private static let wariness: UInt64 = 60_000_000_000

    /// 250 ms: a database in trouble is not helped by haste.
    private static let restAfterFailure: UInt64 = 250_000_000

    mutating func write(_ attempt: FinishedAttempt, now: UInt64) {
        if finished.isEmpty { finishedSince = now }
        finished.append(attempt)
    }

    /// News of jobs: look for them. Where nothing else is known to wait than the one job that they name, a claim of it
    /// tells whether there is more to be looked for.
    mutating func jobsAnnounced(_ job: AnnouncedJob? = nil, now: UInt64) -> PickupMode.Change {
        if let job, knownTracks.visit(announced: job.track) != nil {
            switch claimScope {
            case .nowhere: claimScope = .announced(job)
            case .announced:
                look()
                pollSchedule.claimIsInformed()
            case .anywhere: pollSchedule.wantsSurvey = true
            }
        } else {
            pollSchedule.mayLookAtOnce()
            look()
        }
        for number in exchanges.keys { exchanges[number]?.claim?.isOutdated = true }
        return pickup.notified(now: now)
    }

    /// A survey's answer.
    mutating func surveyReturned(_ found: SurveyCursor.Found, now: UInt64) {
        surveyCursor.returned(found)
        pollSchedule.surveyReturned(now: now, isWhole: found.after == 0)
        knownTracks.surveyReturned(found.sightings, lanes: &lanes)
        if !found.sightings.isEmpty {
            look()
            pollSchedule.claimIsInformed()
        }
    }
}
