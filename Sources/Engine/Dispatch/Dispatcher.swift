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
///
/// Four parts decide about one subject each: claims, writes, the back-off after failures, and preparations. Each has
/// its own state. The dispatcher passes events on, and moves jobs and attempts between the parts.
struct Dispatcher: ~Copyable {
    private(set) var lifecycle = Lifecycle()
    /// The running calls.
    var slots: SlotTable
    /// The memory budget of bodies, answers and results.
    var memory: MemoryBudget
    /// Transactions without an answer.
    private(set) var exchanges = ExchangeTable()
    private var numbers = StatementNumbers()
    /// What to claim.
    var claims: ClaimPlanner
    /// What to write.
    var writes = WriteQueue()
    /// The waits and limits after failures.
    var backoff = FailureBackoff()
    /// Jobs with a slot that wait for their preparation.
    var preparations = PreparationQueue()
    /// Jobs with a slot that wait for memory.
    var waitingBodies = WaitingBodies()
    /// Attempts that wait for the judging session.
    var judging = JudgingWork()

    /// A dispatcher without a number, with all slots free.
    init(capacity: Int, canListen: Bool, memory: Int = EngineConfiguration.standardMemory) {
        self.memory = MemoryBudget(total: memory, slots: capacity)
        slots = SlotTable(count: capacity)
        claims = ClaimPlanner(canListen: canListen)
        judging.limit = self.memory.judgingShare
    }

    /// The next exchange, nil if none is due. Send it at once, or take it back.
    mutating func nextExchange(now: UInt64) -> (number: UInt64, exchange: Exchange)? {
        guard worker > 0, backoff.restEnd(now: now) == nil else { return nil }
        claims.unpark(now: now)
        let writable = backoff.writable(
            finished: writes.finished.count, isUnderWay: exchanges.isWriting, isDraining: isDraining, now: now)
        let claimable = claimable(now: now)
        guard
            ExchangePolicy.isDue(
                underWay: exchanges.count, finished: writable,
                claimable: claims.expected(of: claimable, now: now), capacity: slots.capacity,
                waited: writes.waited(now: now), isPaused: now < writes.pausedUntil && !claims.hasBacklog)
        else { return nil }
        var next = Exchange()
        if writable > 0 { next.batch = nextBatch(now: now) }
        let isClaiming = claimable > 0 && (next.batch == nil || backoff.allowsSharing(now: now))
        if isClaiming { backoff.claimSent(now: now) }
        next.claim = claims.next(
            slots: isClaiming ? claimable : 0, isAlone: next.batch == nil && exchanges.isEmpty,
            takesLeasesOnly: backoff.takesLeasesOnly(now: now), inFlight: slots.inFlight, now: now)
        guard next.batch != nil || next.claim != nil else { return nil }
        let number = numbers.take()
        exchanges.put(next, number)
        return (number, next)
    }

    /// How many slots a claim may fill now, 0 if none may be sent.
    private mutating func claimable(now: UInt64) -> Int {
        guard backoff.allowsClaim(now: now), claims.mayFindJobs, lifecycle.takesJobs, freeCount > 0 else { return 0 }
        let free = memory.claimable(freeCount, unwritten: unwritten.bytes)
        guard free > 0, !claims.holdsClaim(now: now) else { return 0 }
        return backoff.claimable(
            free, slots: slots, reserved: exchanges.reserved, finished: writes.finished.count, now: now)
    }

    private mutating func nextBatch(now: UInt64) -> FinishBatch {
        let refused = backoff.nextRefused(hasOthers: !writes.finished.isEmpty, isDraining: isDraining, now: now)
        let batch = writes.nextBatch(
            refused: refused, limit: backoff.batchLimit, bytes: memory.batchLimit, now: now)
        memory.wrote(batch.bytes)
        return batch
    }

    /// Free slots that no claim under way may fill.
    var freeCount: Int { slots.freeCount - exchanges.reserved }

    /// The next moment at which the loop must act, nil if it need not act before an event.
    func deadline(now: UInt64) -> UInt64? {
        if let end = backoff.restEnd(now: now) { return end }
        guard worker > 0 else { return nil }
        let hasWrites = !writes.finished.isEmpty || !backoff.refused.isEmpty
        let moments = [
            writes.deadline(
                underWay: exchanges.count, mayAct: hasWrites || claims.hasLanes, isRefused: backoff.refusesBatches,
                now: now),
            writes.questionDue(isDraining: isDraining), preparations.deadline(now: now), claims.holdEnd(now: now),
            backoff.batchDeadline(
                hasFinished: !writes.finished.isEmpty, isUnderWay: exchanges.isWriting, isDraining: isDraining,
                now: now),
            lifecycle.takesJobs ? backoff.claimDeadline(now: now) : nil,
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Records the answer of a claim. Give its rows to `jobArrived`, then call `claimRead`.
    ///
    /// - Returns: nil if the rows are void. They were claimed for a number that has been given up since, and the next
    ///   enlisting makes them ready again. To call them now would call them twice.
    mutating func claimReturned(_ number: UInt64) -> Arrival? {
        guard let claim = exchanges.removeClaim(number) else { return nil }
        if worker == 0 { claims.giveBack(claim, now: claim.sentAt) }
        return worker > 0 ? Arrival(claim: claim) : nil
    }

    /// Takes a row of a claim. Returns its slot. A job without a complete call waits there for its preparation.
    mutating func jobArrived(_ job: ClaimedJob, _ arrival: inout Arrival) -> Int? {
        arrival.note(job.lease)
        claims.rowCame(job.lease)
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
        backoff.claimSucceeded()
        return claims.claimRead(arrival, now: now)
    }

    /// Records that a finish is stored.
    ///
    /// - Returns: how many attempts were refused because their lease had ended, and the follow-up of the others.
    mutating func finishReturned(_ number: UInt64, stored: Int) -> (refused: Int, followUp: FollowUp) {
        guard let (batch, hasClaim) = exchanges.removeBatch(number) else { return (0, []) }
        backoff.batchStored(&writes)
        let followUp = batch.followUp
        claims.attemptsStored(batch.attempts, followUp, claims: hasClaim)
        return (batch.attempts.count - stored, followUp)
    }

    /// Takes an exchange or a preparation back. Its attempts are written again, its slots are free, its jobs are
    /// prepared again.
    mutating func takeBack(_ number: UInt64, now: UInt64) {
        preparations.takeBack(number)
        guard let exchange = exchanges.remove(number) else { return }
        if let batch = exchange.batch { writes.takeBack(batch, now: now) }
        if let claim = exchange.claim { claims.giveBack(claim, now: now) }
        claims.widen()
    }

    /// Handles a failed finish or claim. The whole exchange has failed with it.
    ///
    /// It is called for the finish, then for the claim. If the claim caused the failure, the finish reports `.aborted`,
    /// and its call has taken the exchange back. So without a batch here, the claim is the cause.
    mutating func exchangeFailed(_ number: UInt64, _ cause: Rejection, now: UInt64) -> ExchangeRecovery {
        let batch = exchanges.batch(number)
        takeBack(number, now: now)
        if cause == .aborted { return .none }
        if cause == .workerLost { return .enlist }
        guard let batch else {
            backoff.claimFailed(now: now)
            return .report
        }
        let (recovery, apart) = backoff.batchFailed(batch, cause, &writes, now: now)
        if let apart { judging.put(apart.judgedApart(), now: now) }
        return recovery
    }

    /// The next question about locked rows, nil if none is due. Send it at once, or take it back.
    mutating func nextQuestion(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, backoff.restEnd(now: now) == nil else { return nil }
        return writes.nextQuestion(numbers: &numbers, isDraining: isDraining, now: now)
    }

    /// The next preparation, nil if none is due. Send it at once, or take it back.
    mutating func nextPreparation(now: UInt64) -> (number: UInt64, leases: [Lease])? {
        guard worker > 0, backoff.restEnd(now: now) == nil else { return nil }
        return preparations.next(slots, numbers: &numbers, now: now).map { ($0.number, $0.entries.map(\.lease)) }
    }

    /// Records a notification about new jobs.
    mutating func jobsAnnounced(_ announcement: Announcement = .unnamed, now: UInt64) -> PickupMode.Change {
        exchanges.outdateClaims()
        return claims.jobsAnnounced(announcement, now: now)
    }

    /// Looks for unannounced jobs when the poll interval is over.
    mutating func poll(now: UInt64) -> PickupMode.Change {
        guard lifecycle.takesJobs, slots.freeCount > 0 else { return .none }
        return claims.poll(isIdle: exchanges.isEmpty, now: now)
    }

    /// Whether to send a survey now. True counts it as sent.
    mutating func surveyBegins(now: UInt64) -> Bool {
        !isDraining && slots.freeCount > 0 && claims.surveyBegins(now: now)
    }

    /// When to look for jobs again if nothing happens before. Nil while all slots are taken.
    func nextLook(canSurvey: Bool) -> UInt64? {
        lifecycle.takesJobs && slots.freeCount > 0 ? claims.nextLook(canSurvey: canSurvey) : nil
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

    /// Records that the claiming connection is lost, and the worker's number with it. `numbers` are the exchanges and
    /// preparations without an answer.
    mutating func connectionLost(_ numbers: some Sequence<UInt64>, now: UInt64) {
        lifecycle.numberLost()
        writes.connectionLost()
        for number in numbers {
            let batch = exchanges.batch(number)
            carryOut(preparations.connectionLost(number, now: now), now: now)
            takeBack(number, now: now)
            // The statement itself may have crashed the server process, and would do so each time. So it counts as
            // refused.
            if let batch { backoff.refuse(batch, &writes, now: now) }
        }
    }

    /// Begins to request a number. Returns the old number and the leases that are still needed. Nil if a request is
    /// already under way.
    mutating func beginEnlisting() -> (old: Int32, held: [Lease])? {
        guard let former = lifecycle.requestNumber() else { return nil }
        // A finish under way may fail, and its attempts come back. So their leases are needed too.
        let ended = writes.finished + exchanges.batches.flatMap(\.attempts)
        let waiting = writes.deferredLeases + backoff.refused.leases + judging.leases
        return (former, slots.running.map(\.job.lease) + ended.map(\.lease) + waiting)
    }

    /// Records that the request could not be sent, or was refused.
    mutating func enlistingFailed() { lifecycle.requestFailed() }

    /// Records the new number.
    ///
    /// - Parameters:
    ///   - held: the seqs of the leases that still hold.
    ///   - isOtherDatabase: whether tracks, seqs and lanes have other numbers than before.
    /// - Returns: the slots, now free, of calls whose lease no longer holds. Their jobs run elsewhere or are done.
    mutating func enlisted(_ number: Int32, held: Set<Int64>, isOtherDatabase: Bool = false) -> [Int] {
        lifecycle.numberGiven(number)
        let lost = slots.running.filter { !held.contains($0.job.lease.seq) }.map(\.slot)
        for slot in lost { releaseSlot(slot, now: 0) }
        writes.keep(held)
        backoff.keep(held)
        judging.keep(held)
        claims.enlisted(isOtherDatabase: isOtherDatabase)
        return lost
    }

    /// Whether no call runs, no answer waits to be judged, and no claim under way can start a call.
    var isQuiet: Bool { slots.inUse == 0 && exchanges.reserved == 0 && judging.isEmpty }

    /// Whether the results of all ended attempts are in the database.
    var isWritten: Bool { writes.isEmpty && backoff.refused.isEmpty && exchanges.isEmpty && judging.isEmpty }

    /// How many attempts have ended and are not in the database yet.
    var unwrittenCount: Int {
        writes.count + backoff.refused.count + judging.leases.count
            + exchanges.batches.reduce(0) { $0 + $1.attempts.count }
    }

    /// The bytes of all results that wait to be written.
    var unwritten: MemoryBudget.Unwritten {
        MemoryBudget.Unwritten(writes, backoff, judging, exchanges)
    }
}
