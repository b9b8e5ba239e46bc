// SPDX-License-Identifier: Apache-2.0

import JobModel
import TestSupport

/// Plans how the calls of a simulation end.
struct Network {
    /// How one call goes. Times are nanoseconds since its start.
    struct Plan {
        var connects: UInt64
        var ends: UInt64
        /// Whether the request leaves after the connect.
        var isSent: Bool
        var outcome: CallOutcome
    }

    var random: Randomness
    /// The share of failing calls in percent.
    var failures: UInt64
    /// The longest call in nanoseconds, without its connect.
    var longest: UInt64

    mutating func plan() -> Plan {
        let connects = random.number(0...2) * millisecond
        let ends = connects + 1 + random.number(0...longest)
        guard random.chance(failures) else { return Plan(connects, ends, .response(HTTPResponse(status: 200))) }
        switch random.number(0...4) {
        case 0: return Plan(connects, ends, .failure(CallFailure(.connect, "refused", sent: .no)), isSent: false)
        case 1: return Plan(connects, ends, .failure(CallFailure(.reset, "reset", sent: .maybe)))
        case 2: return Plan(connects, ends, .response(HTTPResponse(status: 500)))
        case 3: return Plan(connects, ends, .response(HTTPResponse(status: 404)))
        default: return Plan(connects, ends, .failure(CallFailure(.timeout, "late", sent: .maybe)))
        }
    }
}

extension Network.Plan {
    init(_ connects: UInt64, _ ends: UInt64, _ ending: CallOutcome.Ending, isSent: Bool = true) {
        self.init(connects: connects, ends: ends, isSent: isSent, outcome: CallOutcome(ending))
    }
}

/// Several simulated workers on one queue, with all events that the seed produces.
final class Fleet {
    /// The settings of a run.
    struct Scenario {
        var workers = 1
        var capacity = 4
        var tracks = 1
        var jobs = 40
        /// The period in which the jobs are inserted.
        var span: UInt64 = second
        var hasLateCommits = false
        /// The longest time from an INSERT to a late commit.
        var latestCommit: UInt64 = 2_500 * millisecond
        var hasFaults = false
        var failures: UInt64 = 0
        var longestCall: UInt64 = 30 * millisecond
        var canListen = true
        /// Whether a message sometimes takes up to 20 ms.
        var hasHiccups = true
        /// Whether some INSERTs follow the one before within 2 ms.
        var hasBursts = false
        /// How long the database refuses all results, all preparations and half of the claims; 0 for never.
        var shortage: UInt64 = 0
        /// The share of jobs, in percent, that need a preparation before their call.
        var rich: UInt64 = 0
        /// How long a survey takes for each row that it reads, if an old transaction keeps all dead rows. 0: no
        /// transaction does.
        var rowCost: UInt64 = 0
        /// Checks that no survey reads more rows than this. 0: no limit.
        var mostRowsRead = 0
        /// Checks that each job starts this soon after its commit.
        var startsWithin: UInt64?
        /// Checks that each job whose commit notified a worker starts this soon after it.
        var announcedStartsWithin: UInt64?
        /// Checks that later jobs of a track overtake a committed job for no longer than this.
        var overtakenFor: UInt64?
    }

    let timeline = Timeline()
    let queue: QueueInMemory
    let scenario: Scenario
    var random: Randomness
    var network: Network
    private var workers: [SimulatedWorker] = []
    var hasFaults: Bool { scenario.hasFaults && timeline.now < faultsEnd }
    private var faultsEnd: UInt64 = 0
    /// Whether no claim is rolled back. Otherwise a row that another claim passed over may become free again.
    var claimsSucceed: Bool { !scenario.hasFaults && scenario.shortage == 0 }
    /// Whether the database has a shortage at this moment.
    var isShort: Bool { timeline.now >= shortFrom && timeline.now < shortFrom + scenario.shortage }
    private var shortFrom: UInt64 = 0
    /// When the job that was planned last is inserted.
    private var lastInsert: UInt64 = 0
    /// The decisions of all workers so far.
    var trace = Trace()

    init(seed: UInt64, _ scenario: Scenario) {
        random = Randomness(seed: seed)
        network = Network(
            random: Randomness(seed: seed ^ 0xfeed), failures: scenario.failures, longest: scenario.longestCall)
        self.scenario = scenario
        queue = QueueInMemory(
            timeline: timeline, priorities: (0..<scenario.tracks).map { Int16($0 % 3) })
        queue.notify = { [unowned self] job in
            let listeners = workers.filter(\.isListening)
            for worker in listeners { worker.notified(job) }
            return !listeners.isEmpty
        }
        queue.abort = { [unowned self] number, job, fence in
            for worker in workers where worker.number == number { worker.cancelled(job, fence: fence) }
        }
    }

    /// The delay of a message: between 0.05 and 1 ms, sometimes up to 20 ms.
    func latency() -> UInt64 {
        scenario.hasHiccups && random.chance(2)
            ? random.number(1...20) * millisecond : random.number(50_000...1_000_000)
    }

    /// The result of a job's preparation.
    func preparation() -> QueueInMemory.Preparation {
        switch random.number(0...9) {
        case 0: .served
        case 1: .setAside
        default: .called
        }
    }

    /// Runs to the end. `queue.faults` has the faults that it found.
    func run() {
        let start = timeline.now
        faultsEnd = start + scenario.span + 3 * second
        if scenario.shortage > 0 { shortFrom = start + random.number(0...scenario.span) }
        for _ in 0..<scenario.workers { addWorker() }
        for _ in 0..<scenario.jobs { planJob(from: start) }
        if scenario.hasFaults { for _ in 0..<random.number(1...12) { planFault(from: start) } }
        leaderLoop()
        var end = start + scenario.span + 3 * second
        timeline.run(until: end)
        // The reaper needs 11 s, a pause lasts up to 15 s, and retries wait 0.3 s or more. A run of ten minutes has
        // stalled.
        while !isDone, end < start + 600 * second {
            end += second
            timeline.run(until: end)
        }
        check()
        for (id, job) in queue.jobs.sorted(by: { $0.key < $1.key }) {
            trace.add(
                .end, id, Int64(job.final?.unicodeScalars.first?.value ?? 0), Int64(job.sends),
                Int64(job.startedAt ?? 0))
        }
    }

    private var isDone: Bool {
        queue.jobs.values.allSatisfy { $0.final != nil } && workers.allSatisfy(\.hasNothingLeft)
    }

    private func addWorker() {
        let worker = SimulatedWorker(self, capacity: scenario.capacity, canListen: scenario.canListen)
        workers.append(worker)
        worker.start()
    }

    private func planJob(from start: UInt64) {
        let track = Int32(random.next() % UInt64(scenario.tracks))
        var moment = start + random.number(0...scenario.span)
        if scenario.hasBursts, random.chance(40) { moment = lastInsert + random.number(0...2) * millisecond }
        lastInsert = moment
        let isLate = scenario.hasLateCommits && random.chance(15)
        let isAtMostOnce = (scenario.hasFaults || scenario.shortage > 0) && random.chance(30)
        let attempts = Int32(random.number(1...4))
        let delay = isLate ? random.number(1...scenario.latestCommit / millisecond) * millisecond : 0
        let isRolledBack = scenario.hasLateCommits && random.chance(3)
        let isRich = scenario.rich > 0 && random.chance(scenario.rich)
        let isCancelled = scenario.hasFaults && random.chance(4)
        timeline.at(moment) { [self] in
            queue.insert(
                track: track, isAtMostOnce: isAtMostOnce, isRich: isRich, maxAttempts: attempts,
                commitAt: isRolledBack ? nil : timeline.now + delay)
            guard isCancelled, let id = queue.jobs.keys.max() else { return }
            timeline.at(timeline.now + delay + random.number(0...50) * millisecond) { [self] in queue.cancel(id) }
        }
    }

    private func planFault(from start: UInt64) {
        let moment = start + random.number(0...(scenario.span + 2 * second))
        timeline.at(moment) { [self] in
            let alive = workers.filter { !$0.isDead }
            guard !alive.isEmpty else { return }
            let worker = alive[Int(random.next() % UInt64(alive.count))]
            switch random.number(0...9) {
            case 0...3: worker.loseConnection(ofJobs: true)
            case 4, 5: worker.loseConnection(ofJobs: false)
            case 6: worker.pause(random.number(1...15_000) * millisecond)
            case 7:
                worker.die()
                addWorker()
            case 8:
                worker.drain()
                addWorker()
            default:
                for worker in alive { worker.loseConnection(ofJobs: true) }
            }
        }
    }

    private func leaderLoop(_ round: Int = 0) {
        timeline.at(timeline.now + 100 * millisecond) { [self] in
            queue.promote()
            if round % 10 == 0 { queue.reap() }
            leaderLoop(round + 1)
        }
    }

    /// How long a survey takes for the dead rows that it reads.
    func cost(of step: SurveyCursor.Step) -> UInt64 {
        guard scenario.rowCost > 0 else { return 0 }
        let rows = queue.rowsRead(step)
        if scenario.mostRowsRead > 0, rows > scenario.mostRowsRead {
            queue.faults.append("a survey read \(rows) of \(queue.places.values.reduce(0) { $0 + $1.count }) rows")
        }
        return UInt64(rows) * scenario.rowCost
    }

    /// Records that a worker starts a call, and checks the order of the starts.
    func started(_ job: ClaimedJob, by worker: SimulatedWorker) {
        let id = job.lease.jobID
        if queue.jobs[id]?.startedAt == nil { queue.jobs[id]?.startedAt = timeline.now }
        if let limit = scenario.overtakenFor { checkOvertaken(by: job, limit) }
        let inOrder =
            scenario.workers == 1 && !scenario.hasLateCommits && !scenario.hasFaults && scenario.shortage == 0
        if inOrder, let last = worker.lastStarted[job.lease.track], last > job.lease.seq {
            queue.faults.append("seq \(job.lease.seq) started after \(last) of its track")
        }
    }

    private func checkOvertaken(by job: ClaimedJob, _ limit: UInt64) {
        for row in queue.ready[job.lease.track] ?? [] where row.seq < job.lease.seq {
            guard row.worker == 0, let since = row.visibleSince, timeline.now > since + limit else { continue }
            let wait = (timeline.now - since) / millisecond
            queue.faults.append("job \(job.lease.jobID) went ahead of job \(row.job), ready for \(wait) ms")
        }
    }

    /// Records that a request may have reached its target. An at-most-once job may be sent only once.
    func sent(_ job: ClaimedJob) {
        queue.jobs[job.lease.jobID]?.sends += 1
        if job.isAtMostOnce, let sends = queue.jobs[job.lease.jobID]?.sends, sends > 1 {
            queue.faults.append("job \(job.lease.jobID), at most once, was sent \(sends) times")
        }
    }

    private func check() {
        for (id, job) in queue.jobs.sorted(by: { $0.key < $1.key }) where job.committedAt != nil {
            if job.final == nil { queue.faults.append("job \(id) never ended") }
            // Answers that are too expensive to judge end their jobs as failed, with or without a shortage.
            let isTooExpensive = job.isRich && SimulatedWorker.isTooExpensive(id)
            if scenario.shortage > 0, !isTooExpensive, let final = job.final, final != "s" {
                queue.faults.append("job \(id) ended as \(final)")
            }
            let limit = job.isAnnounced ? scenario.announcedStartsWithin : scenario.startsWithin
            guard let limit, let committed = job.committedAt else { continue }
            guard let started = job.startedAt, started > committed + limit else { continue }
            let notice = job.isAnnounced ? ", which notified a worker" : ""
            queue.faults.append(
                "job \(id) started \((started - committed) / millisecond) ms after its commit\(notice)")
        }
        for worker in workers where !worker.hasNothingLeft { queue.faults.append("a slot or an attempt has leaked") }
    }
}
