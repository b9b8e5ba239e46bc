// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import TestSupport

@testable import Engine

/// Executes the decisions of a `Dispatcher`, as the loop does, with a queue and a network in memory.
final class SimulatedWorker {
    private let world: Fleet
    private var dispatcher: Dispatcher
    private var jobs: SimulatedSession?
    private var duties: SimulatedSession?
    private var judging: SimulatedSession?
    private var schedule = Schedule()
    private var isSurveying = false
    /// The slots with a call in flight, with the number of the call.
    private var calls: [Int: UInt64] = [:]
    private var lastCall: UInt64 = 0
    private var pausedUntil: UInt64 = 0
    private var wake: UInt64 = .max
    /// Notifications under way. One turn of the worker reads all of them.
    private var unread: [Announcement] = []
    private var shown = ShownRows()
    private var turnsNow = (moment: UInt64(0), count: 0)
    private(set) var isDead = false
    private(set) var lastStarted: [Int32: Int64] = [:]

    init(_ world: Fleet, capacity: Int, canListen: Bool) {
        self.world = world
        dispatcher = Dispatcher(capacity: capacity, canListen: canListen)
        if world.scenario.rowCost > 0 { dispatcher.claims.tracks = KnownTracks(rowsWorthFloor: 20) }
    }

    var hasNothingLeft: Bool { isDead || (dispatcher.isQuiet && dispatcher.isWritten && calls.isEmpty) }
    var isListening: Bool { dispatcher.claims.isListening && duties?.isReady == true && !isDead }
    var number: Int32 { dispatcher.worker }

    func start() {
        let jobs = SimulatedSession(
            world, self, ready: { [unowned self] in enlist() },
            lost: { [unowned self] in
                let numbers = dispatcher.exchanges.numbers + [dispatcher.preparations.number].compactMap { $0 }
                dispatcher.connectionLost(numbers.sorted(), now: world.timeline.now)
            })
        let duties = SimulatedSession(
            world, self,
            ready: { [unowned self] in
                schedule = Schedule()
                dispatcher.claims.lookAgain()
                apply(dispatcher.jobsAnnounced(now: world.timeline.now))
            },
            lost: { [unowned self] in
                isSurveying = false
                dispatcher.claims.listeningEnded()
            })
        let judging = SimulatedSession(
            world, self, ready: {},
            lost: { [unowned self] in dispatcher.judging.connectionLost(now: world.timeline.now) })
        self.judging = judging
        judging.start()
        self.jobs = jobs
        self.duties = duties
        jobs.start()
        duties.start()
        turn()
    }

    /// Runs `body` in the worker, at once or when its pause ends. Then runs the work that follows from it.
    func deliver(_ body: @escaping () -> Void) {
        guard !isDead else { return }
        if world.timeline.now < pausedUntil {
            return world.timeline.at(pausedUntil) { [self] in deliver(body) }
        }
        body()
        turn()
    }

    func pause(_ duration: UInt64) { pausedUntil = world.timeline.now + duration }

    func die() {
        isDead = true
        jobs?.cut()
        duties?.cut()
        judging?.cut()
    }

    func loseConnection(ofJobs: Bool) {
        deliver { [self] in
            (ofJobs ? jobs : duties)?.cut()
            if world.random.chance(30) { judging?.cut() }
        }
    }

    func notified(_ announcement: Announcement) {
        unread.append(announcement)
        guard unread.count == 1 else { return }
        world.timeline.at(world.timeline.now + world.latency()) { [self] in
            deliver { [self] in
                for announcement in unread where duties?.isReady == true {
                    apply(dispatcher.jobsAnnounced(announcement, now: world.timeline.now))
                }
                unread = []
            }
        }
    }

    func cancelled(_ job: Int64, fence: Int64) {
        world.timeline.at(world.timeline.now + world.random.number(0...500) * millisecond) { [self] in
            deliver { [self] in
                if let slot = dispatcher.jobCancelled(job, fence: fence, now: world.timeline.now) { calls[slot] = nil }
            }
        }
    }

    /// Drains the worker: it takes no new jobs. Running calls are cut off at its end.
    func drain() {
        deliver { [self] in
            dispatcher.drain()
            for slot in dispatcher.slots.running.map(\.slot).sorted() {
                let sent: SentState = calls.removeValue(forKey: slot) == nil ? .no : .maybe
                dispatcher.callCutOff(slot: slot, sent: sent, now: world.timeline.now)
            }
            dispatcher.giveUpJudging(now: world.timeline.now)
        }
    }

    private func turn() {
        let now = world.timeline.now
        if turnsNow.moment != now { turnsNow = (now, 0) }
        turnsNow.count += 1
        if turnsNow.count > 2_000 { return world.queue.faults.append("a worker turns without end") }
        if let due = jobs?.deadline, now >= due { jobs?.deadlineReached() }
        if let due = duties?.deadline, now >= due { duties?.deadlineReached() }
        if let due = judging?.deadline, now >= due { judging?.deadlineReached() }
        if let duties, duties.isReady, dispatcher.worker > 0 {
            if now >= schedule.beat { beat(duties) }
            if !isSurveying, dispatcher.surveyBegins(now: now) { survey(duties) }
        }
        apply(dispatcher.poll(now: now))
        if jobs?.isReady == true, let (number, leases) = dispatcher.nextPreparation(now: now) {
            prepare(number, leases)
        }
        if judging?.isReady == true, let task = dispatcher.judging.next(worker: dispatcher.worker, now: now) {
            judge(task)
        }
        while jobs?.isReady == true, let (number, exchange) = dispatcher.nextExchange(now: now) {
            send(number, exchange)
        }
        sleep()
    }

    /// Schedules a turn at the next deadline.
    private func sleep() {
        var moment =
            [
                jobs?.deadline, duties?.deadline, judging?.deadline,
                dispatcher.judging.deadline(now: world.timeline.now), dispatcher.deadline(now: world.timeline.now),
            ]
            .compactMap { $0 }.min() ?? .max
        let hasDuties = duties?.isReady == true
        if hasDuties && dispatcher.worker > 0 { moment = min(moment, schedule.beat) }
        if let due = dispatcher.nextLook(canSurvey: hasDuties && !isSurveying) { moment = min(moment, due) }
        world.trace.add(.sleep, Int64(clamping: moment))
        guard moment < .max, moment < wake || wake < world.timeline.now else { return }
        wake = moment
        world.timeline.at(moment) { [self] in
            guard wake == moment else { return }
            wake = .max
            deliver {}
        }
    }

    private func beat(_ session: SimulatedSession) {
        schedule.beat = world.timeline.now + Schedule.beatInterval
        let number = dispatcher.worker
        session.send { [self] in
            .init(commit: { [self] in
                let isAlive = world.queue.beat(number)
                return { [self] in if !isAlive && number == dispatcher.worker { enlist() } }
            })
        }
    }

    private func survey(_ session: SimulatedSession) {
        isSurveying = true
        let number = dispatcher.worker
        let step = dispatcher.claims.surveyStep
        world.trace.add(.survey, Int64(step.after), Int64(step.limit), Int64(step.above ?? -1))
        session.send(taking: world.cost(of: step)) { [self] in
            let seen = world.queue.survey(step)
            return .init(commit: {
                { [self] in
                    isSurveying = false
                    guard number == dispatcher.worker else { return }
                    dispatcher.claims.surveyReturned(seen, now: world.timeline.now)
                    shown.add(seen, now: world.timeline.now)
                }
            })
        }
    }

    private func apply(_ change: PickupMode.Change) {
        guard change != .none else { return }
        world.trace.add(.pickup, change == .listen ? 1 : 0)
        let number = dispatcher.worker
        guard let duties, duties.isReady, number > 0 else { return dispatcher.claims.listeningEnded() }
        duties.send { [self] in
            .init(commit: { [self] in
                if change == .listen { world.queue.idle.insert(number) } else { world.queue.idle.remove(number) }
                return { [self] in if number == dispatcher.worker { dispatcher.claims.listeningBegan() } }
            })
        }
    }

    private func enlist() {
        guard jobs?.isReady == true, let (old, held) = dispatcher.beginEnlisting() else { return }
        world.trace.add(old: old, held: held)
        jobs?.send { [self] in
            .init(commit: { [self] in
                let (number, kept) = world.queue.enlist(old: old, held: held)
                return { [self] in
                    for slot in dispatcher.enlisted(number, held: kept) { calls[slot] = nil }
                    schedule = Schedule()
                }
            })
        }
    }

    private func send(_ number: UInt64, _ exchange: Exchange) {
        world.trace.add(exchange)
        if world.claimsSucceed { world.queue.faults += shown.faults(of: exchange.claim, in: world.queue) }
        let (worker, queue) = (dispatcher.worker, world.queue)
        jobs?.send { [self] in
            var picked: [(track: Int32, seq: Int64)] = []
            var cause: Rejection?
            if let claim = exchange.claim {
                if let rows = queue.lock(
                    worker: worker, claim: (claim.limit, claim.visits, claim.announced))
                {
                    picked = rows
                } else {
                    cause = .workerLost
                }
            }
            if world.hasFaults && cause == nil && world.random.chance(1) {
                cause = world.random.chance(50) && exchange.claim != nil ? .workerLost : .failure
            }
            if cause == nil, world.isShort, exchange.batch != nil || world.random.chance(50) { cause = .shortage }
            let above = exchange.claim?.above ?? 0
            return .init(
                commit: { [self, picked, cause] in
                    let stored = cause == nil ? queue.finish(exchange.batch?.attempts ?? [], worker: worker) : 0
                    let rows = queue.take(picked, worker: worker, above: above, commits: cause == nil)
                    return { [self] in
                        if let cause { return failed(number, exchange, cause) }
                        if exchange.batch != nil { _ = dispatcher.finishReturned(number, stored: stored) }
                        if exchange.claim != nil { claimed(number, rows) }
                    }
                },
                rollBack: { [picked] in _ = queue.take(picked, worker: worker, above: above, commits: false) })
        }
    }

    private func prepare(_ number: UInt64, _ leases: [Lease]) {
        for lease in leases { world.trace.add(.preparation, lease.jobID) }
        let worker = dispatcher.worker
        let isShort = world.isShort
        let isRefused = isShort || world.hasFaults && world.random.chance(2)
        // A single job whose values cannot be stored fails, so only groups get this cause.
        let kind = world.random.number(leases.count > 1 ? 0...3 : 2...3)
        let cause: Rejection = isShort ? .shortage : kind < 2 ? .unstorable : kind == 2 ? .locked : .failure
        let plans = leases.map { ($0, world.preparation()) }
        jobs?.send { [self] in
            .init(commit: { [self] in
                guard !isRefused else {
                    return { [self] in
                        _ = dispatcher.preparationFailed(number, cause, now: world.timeline.now)
                    }
                }
                let called = world.queue.prepare(plans, worker: worker)
                return { [self] in prepared(number, called) }
            })
        }
    }

    private func prepared(_ number: UInt64, _ called: Set<Int64>) {
        guard let waiting = dispatcher.preparationReturned(number) else { return }
        for (id, (slot, job)) in waiting.sorted(by: { $0.key < $1.key }) {
            guard called.contains(id) else {
                dispatcher.releaseSlot(slot, now: world.timeline.now)
                continue
            }
            let job = SimulatedWorker.prepared(job)
            dispatcher.callPrepared(slot: slot, job)
            call(job, slot)
        }
    }

    /// Judges an answer. Some answers take too long, and some statements fail for a reason outside the answer.
    private func judge(_ task: JudgingWork.Task) {
        guard case .attempt(let attempt) = task.work else { return }
        world.trace.add(.judgement, attempt.lease.jobID, Int64(task.limit))
        let isTooExpensive = SimulatedWorker.isTooExpensive(attempt.lease.jobID)
        let fails = world.hasFaults && world.random.chance(10)
        judging?.send { [self] in
            .init(commit: { [self] in
                let stored =
                    isTooExpensive || fails ? 0 : world.queue.finish([attempt], worker: task.worker)
                return { [self] in
                    if isTooExpensive {
                        let end = task.sentAt + UInt64(task.limit) * 1_000_000
                        world.timeline.at(max(world.timeline.now, end)) { [self] in
                            deliver { [self] in
                                _ = dispatcher.judgementFailed(task.number, .cancelled, now: world.timeline.now)
                            }
                        }
                    } else if fails {
                        _ = dispatcher.judgementFailed(task.number, .other, now: world.timeline.now)
                    } else {
                        _ = dispatcher.judgementReturned(task.number, isStored: stored > 0)
                    }
                }
            })
        }
    }

    /// Reports a failed exchange as the session does: one event per statement, with the cause in the last one.
    private func failed(_ number: UInt64, _ exchange: Exchange, _ cause: Rejection) {
        if exchange.batch != nil && exchange.claim != nil {
            _ = dispatcher.exchangeFailed(number, .aborted, now: world.timeline.now)
        }
        if dispatcher.exchangeFailed(number, cause, now: world.timeline.now) == .enlist { enlist() }
    }

    private func claimed(_ number: UInt64, _ rows: [ClaimedJob]) {
        guard var arrival = dispatcher.claimReturned(number) else { return }
        if rows.count > arrival.claim.limit { world.queue.faults.append("a claim brought more than it asked for") }
        for job in rows {
            guard let slot = dispatcher.jobArrived(job, &arrival) else {
                world.queue.faults.append("no slot for job \(job.lease.jobID)")
                continue
            }
            if job.call != nil { call(job, slot) }
        }
        apply(dispatcher.claimRead(arrival, now: world.timeline.now))
    }

    private func call(_ job: ClaimedJob, _ slot: Int) {
        world.started(job, by: self)
        world.trace.add(.call, job.lease.jobID, Int64(slot))
        lastStarted[job.lease.track] = job.lease.seq
        lastCall += 1
        let mine = lastCall
        calls[slot] = mine
        let plan = world.network.plan()
        world.timeline.at(world.timeline.now + plan.connects) { [self] in
            guard calls[slot] == mine, !isDead, world.timeline.now >= pausedUntil, plan.isSent else { return }
            world.sent(job)
        }
        world.timeline.at(world.timeline.now + plan.ends) { [self] in
            deliver { [self] in
                guard calls[slot] == mine else { return }
                calls[slot] = nil
                dispatcher.callEnded(slot: slot, plan.outcome, now: world.timeline.now)
            }
        }
    }
}
