// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

/// The one loop of a worker: joins the database's sessions, the agent and the signals, and takes no thread beside.
///
/// ```
///        ┌────────── wait for sockets, signals, the next deadline ──────────┐
///        ▼                                                                  │
///   jobs session ─► claims ─► agent starts calls                            │
///   duties session ─► news, surveys, heartbeats, the leader's duties        │
///   callbacks session ─► hooks, ends with functions; opened when needed     │
///   judging session ─► expensive expressions; opened when needed           │
///   pruning session ─► the leader forgets old jobs; open while it does      │
///   agent ─► outcomes ─► verdicts ─► finished attempts                      │
///   exchange: [finish what has ended, claim for what is free] ──────────────┘
/// ```
/// Decisions are in pure types (`Dispatcher` and what it is made of, `Schedule`, `PGSessionMachine`); this one
/// carries them out. No HTTP call ever runs inside a database transaction, and a slow call holds its
/// own slot only.
public final class RunLoop {
    let configuration: EngineConfiguration
    let agent: HTTPAgent
    var poller: Poller
    let signals: SignalSource
    /// A random uuid of this process, which proves to the database that an old number was its own.
    let start = UUIDText.random()
    /// The database that gave this worker its number.
    var home = RegisteredDatabase()
    var jobs: PGSession
    var duties: PGSession
    var callbacks: PGSession
    /// Whether the callbacks session was needed yet.
    var hasCallbacks = false
    var judging: PGSession
    /// Whether the judging session was needed yet.
    var hasJudging = false
    /// While the leader forgets old jobs.
    var pruning: PGSession?
    private var watched = WatchedSockets()

    var pruneSchedule = PruneSchedule()
    var callbackWork = CallbackWork()
    var credentials = CredentialWork()

    var parameters = PGParameters()
    var attemptRows = AttemptRows()
    var dispatcher: Dispatcher
    var schedule = Schedule()
    var now: UInt64 = 0

    var reader: ClaimReader?
    var preparations: PrepareReader?
    /// The rows that the database has about this worker's long calls.
    var callReports = CallReports()
    /// The leader's epoch while this worker leads.
    var epoch: Int64?
    var cursors = LeaderCursors()
    var treeCursor = TreeCursor()
    var tickCursor = TickCursor()
    var memoryTrim = MemoryTrim()
    /// Calls were cancelled somewhere; ours have ended meanwhile, and what was to tell us is taken all the same.
    var abortsAnnounced = false
    var isFullTend = false
    var tendStarted: UInt64 = 0

    var dutiesUnderWay: Set<Duty> = []
    var warnings = RepeatedWarnings()
    var failures = FailureReports()
    /// Nil: the worker runs until a signal.
    var once: RunOnceCheck?
    var foldSent: UInt64 = 0
    /// Whether the database has said who leads.
    var hasAskedForLead = false

    var databaseClock = DatabaseClock()
    var drawSent: UInt64 = 0
    var liveness = Liveness()
    var jobsSilence = SessionSilence()
    var dutiesSilence = SessionSilence()

    var schemaRecheck = SchemaRecheck()
    var shutdown = Shutdown()
    var end: EngineEnd?

    /// Prepares the loop; nothing is connected yet. Call before any other thread exists: signals are blocked here.
    ///
    /// - Throws: a sentence that says what is missing.
    public init(_ configuration: EngineConfiguration) throws(EngineError) {
        self.configuration = configuration
        do throws(ReactorError) {
            signals = try SignalSource([SIGTERM, SIGINT, SIGHUP])
            poller = try Poller()
        } catch {
            throw EngineError(message: "\(error)")
        }
        do throws(AgentError) {
            agent = try HTTPAgent(
                slots: configuration.concurrency + CredentialWork.seatCount, filesRoot: configuration.filesRoot)
        } catch {
            throw EngineError(message: error.message)
        }
        dispatcher = Dispatcher(
            capacity: configuration.concurrency, canListen: configuration.usesSessions,
            memory: configuration.memoryBudget)
        if configuration.runsOnce { once = RunOnceCheck(isBound: !configuration.queues.isEmpty) }
        let plan = SessionPlan(configuration)
        jobs = PGSession(plan.jobs)
        duties = PGSession(plan.duties)
        callbacks = PGSession(plan.callbacks)
        judging = PGSession(plan.judging)
    }

    /// Runs until a signal has ended it, or, if it runs once, until nothing is left to do.
    public func run() -> EngineEnd {
        now = MonotonicClock.now
        Memory.returnLargeBlocks()
        do throws(ReactorError) {
            try poller.add(signals.descriptor, token: Token.signals, read: true, write: false)
            jobs.start(now: now)
            duties.start(now: now)
            var ready: [PollerEvent] = []
            while end == nil {
                try watchSockets()
                try poller.wait(timeoutNanoseconds: timeToWait(), into: &ready)
                now = MonotonicClock.now
                for event in ready { handle(event) }
                turn()
            }
        } catch {
            configuration.log(.statementFailed(verb: "poll", reason: "\(error)"))
            end = .abandoned
        }
        jobs.close()
        duties.close()
        callbacks.close()
        judging.close()
        pruning?.close()
        tellRestOfFailures()
        configuration.log(.stopped)
        if let advice = schemaRecheck.advice { return .schemaMismatch(advice) }
        return end ?? .clean
    }

    /// What one descriptor's readiness means.
    private func handle(_ event: PollerEvent) {
        switch event.token & Token.kinds {
        case Token.signals:
            for _ in signals.read() { stopRequested() }
        case Token.jobs:
            guard event.token & ~Token.kinds == watched.jobs?.generation else { return }
            jobs.process(readable: event.readable, writable: event.writable, now: now)
        case Token.duties:
            guard event.token & ~Token.kinds == watched.duties?.generation else { return }
            duties.process(readable: event.readable, writable: event.writable, now: now)
        case Token.callbacks:
            guard event.token & ~Token.kinds == watched.callbacks?.generation else { return }
            callbacks.process(readable: event.readable, writable: event.writable, now: now)
        case Token.judging:
            guard event.token & ~Token.kinds == watched.judging?.generation else { return }
            judging.process(readable: event.readable, writable: event.writable, now: now)
        case Token.pruning:
            guard event.token & ~Token.kinds == watched.pruning?.generation else { return }
            pruning?.process(readable: event.readable, writable: event.writable, now: now)
        default:
            agent.socketReady(
                Int32(truncatingIfNeeded: event.token), readable: event.readable, writable: event.writable)
        }
    }

    /// Everything that follows from what has happened: answers, outcomes, duties, the next exchange.
    private func turn() {
        jobs.process(readable: false, writable: false, now: now)
        duties.process(readable: false, writable: false, now: now)
        callbacks.process(readable: false, writable: false, now: now)
        judging.process(readable: false, writable: false, now: now)
        pruning?.process(readable: false, writable: false, now: now)
        while let event = jobs.next() { jobsEvent(event) }
        while let event = duties.next() { dutiesEvent(event) }
        while let event = callbacks.next() { callbacksEvent(event) }
        while let event = judging.next() { judgingEvent(event) }
        while let event = pruning?.next() { pruningEvent(event) }
        if let due = agent.nextDeadline, now >= due { agent.timeout() }
        collectOutcomes()
        tellShortage()
        serveMemory()
        startDue()
        // A claim goes out before all that a turn has to do beside it.
        exchange()
        doDuties()
        apply(dispatcher.poll(now: now))
        exchange()
        serveCallbacks()
        judge()
        prune()
        mindSilence()
        lookForEnd()
        leaveIfDone()
        // What was started just now is sent in this turn, not in the next.
        if let due = agent.nextDeadline, now >= due { agent.timeout() }
        configuration.workerHealth?.turned(
            now: now, calls: dispatcher.slots.inUse,
            isConnected: dispatcher.worker > 0 && jobs.isReady && !dispatcher.isUnheard,
            isDraining: dispatcher.isDraining,
            refused: dispatcher.writeThrottle.waiting(dispatcher.finished)?.count ?? 0,
            refusedSince: dispatcher.writeThrottle.pause.since)
    }

    /// How long nothing needs to be done; nil for ever.
    private func timeToWait() -> UInt64? {
        var moment = configuration.workerHealth == nil ? UInt64.max : now + WorkerHealth.longestTurn
        if let due = jobs.nextDeadline { moment = min(moment, due) }
        if let due = duties.nextDeadline { moment = min(moment, due) }
        if let due = callbacks.nextDeadline { moment = min(moment, due) }
        if let due = silenceDue { moment = min(moment, due) }
        if let due = callbackWork.deadline(now: now) { moment = min(moment, due) }
        if let due = judging.nextDeadline { moment = min(moment, due) }
        if let due = dispatcher.judging.deadline(now: now) { moment = min(moment, due) }
        if let due = pruning?.nextDeadline { moment = min(moment, due) }
        if let due = pruneSchedule.deadline(now: now) { moment = min(moment, due) }
        if let due = agent.nextDeadline { moment = min(moment, due) }
        if let due = shutdown.due(now: now) { moment = min(moment, due) }
        if let due = onceDue { moment = min(moment, due) }
        if let due = dispatcher.deadline(now: now) { moment = min(moment, due) }
        if dispatcher.worker > 0 && duties.isReady {
            let due = schedule.earliest(
                leads: epoch != nil, hasCalls: dispatcher.slots.inUse > 0, canTend: !dutiesUnderWay.contains(.tend))
            moment = min(moment, due)
            if let due = credentialsDue { moment = min(moment, due) }
            if !dutiesUnderWay.contains(.settle) { moment = min(moment, treeCursor.due) }
            if epoch != nil, !dutiesUnderWay.contains(.tick) { moment = min(moment, tickCursor.due) }
        }
        if let due = laneDeadline() { moment = min(moment, due) }
        let canSurvey = duties.isReady && !dutiesUnderWay.contains(.survey)
        if let due = dispatcher.nextLook(canSurvey: canSurvey) { moment = min(moment, due) }
        if moment == .max { return nil }
        let current = MonotonicClock.now
        return moment > current ? moment - current : 0
    }

    /// Tells the poller what the sessions and the agent want to wait for.
    ///
    /// The agent comes first: where a session's new socket has the number of one that libcurl has closed since the last
    /// turn, the agent's word that the old one is gone would take out the new one.
    func watchSockets() throws(ReactorError) {
        try agent.watch(in: &poller)
        try watch(jobs.interest, &watched.jobs, Token.jobs)
        try watch(duties.interest, &watched.duties, Token.duties)
        try watch(callbacks.interest, &watched.callbacks, Token.callbacks)
        try watch(judging.interest, &watched.judging, Token.judging)
        try watch(pruning?.interest, &watched.pruning, Token.pruning)
    }

    /// Tells the poller what a session wants to wait for, if that is not what it knows.
    private func watch(
        _ wanted: PGSessionInterest?, _ known: inout PGSessionInterest?, _ kind: UInt64
    ) throws(ReactorError) {
        guard wanted != known else { return }
        if let wanted {
            try poller.set(
                wanted.descriptor, token: kind | wanted.generation, read: wanted.read, write: wanted.write)
        }
        known = wanted
    }

    /// What the poller knows of the sessions' sockets.
    private struct WatchedSockets {
        var jobs: PGSessionInterest?
        var duties: PGSessionInterest?
        var callbacks: PGSessionInterest?
        var judging: PGSessionInterest?
        var pruning: PGSessionInterest?
    }

    /// Poller tokens: a kind, and behind it the generation of a session's socket or the descriptor of an agent's.
    private enum Token {
        static let kinds: UInt64 = 7 << 61
        static let signals: UInt64 = 1 << 61
        static let jobs: UInt64 = 2 << 61
        static let duties: UInt64 = 3 << 61
        static let callbacks: UInt64 = 4 << 61
        static let pruning: UInt64 = 5 << 61
        static let judging: UInt64 = 6 << 61
    }
}

/// Why a loop cannot be made.
public struct EngineError: Error, Equatable, Sendable {
    /// What is wrong and what mends it.
    public let message: String
}
