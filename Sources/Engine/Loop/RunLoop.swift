// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

/// The loop of a worker: one thread serves the database sessions, the HTTP agent and the signals.
///
/// ```
///        ┌────────── wait for sockets, signals, the next deadline ──────────┐
///        ▼                                                                  │
///   jobs session ─► claims ─► agent starts calls                            │
///   duties session ─► surveys, heartbeats, the leader's duties              │
///   callbacks session ─► hooks, callbacks; opened when needed               │
///   judging session ─► expensive expressions; opened when needed            │
///   pruning session ─► the leader deletes old jobs; open during a round     │
///   agent ─► outcomes ─► verdicts ─► finished attempts                      │
///   exchange: [finish of ended attempts, claim for free slots] ─────────────┘
/// ```
/// Pure types decide (`Dispatcher` and its parts, `Schedule`, `PGSessionMachine`), and this class carries the decisions
/// out. No HTTP call runs inside a database transaction. A slow call holds only its own slot.
public final class RunLoop {
    let shared: SharedState
    var poller: Poller
    let signals: SignalSource
    let jobs: Session
    let duties: DutySession
    /// All sessions, in the order of their kinds.
    let sessions: [Session]

    let stop: StopSequence
    let schema: SchemaGuard
    let registration: Registration
    let credentials: CredentialLoop
    let calls: CallStarter
    let permits: PermitDuty
    let callbacks: CallbackLoop
    let exchanges: ExchangeLoop
    let judging: JudgingLoop
    let pruning: PruningLoop
    /// Set for a worker that runs once; nil: the worker runs until a signal.
    let once: OnceMode?

    /// The rows that the database has about this worker's long calls.
    var callReports = CallReports()
    /// The leader's epoch while this worker leads.
    var epoch: Int64?
    var cursors = LeaderCursors()
    var tickCursor = TickCursor()
    /// Whether a notification about cancelled jobs awaits a look. The look also deletes rows about calls that have
    /// ended meanwhile.
    var abortsAnnounced = false
    /// Whether the promoting under way started at the beginning, and when it was sent.
    var isFullPromotion = false
    var queueDutiesStarted: UInt64 = 0

    var failures = FailureReports()
    var foldSent: UInt64 = 0

    var jobsSilence = SessionSilence()
    var dutiesSilence = SessionSilence()

    var now: UInt64 { shared.now }

    /// Prepares the loop without connecting. Call it before the process has a second thread, since it blocks signals.
    ///
    /// - Throws: a sentence that names the missing feature or resource.
    public init(_ configuration: EngineConfiguration) throws(EngineError) {
        do throws(ReactorError) {
            signals = try SignalSource([SIGTERM, SIGINT, SIGHUP])
            poller = try Poller()
        } catch {
            throw EngineError(message: "\(error)")
        }
        shared = try SharedState(configuration)
        let plan = SessionPlan(configuration)
        sessions = Session.Kind.allCases.map { [agent = shared.agent] in
            Session($0, plan.settings(of: $0), agent: agent, log: configuration.log)
        }
        jobs = sessions[0]
        duties = DutySession(sessions[1], shared)
        stop = StopSequence(shared, duties: duties, jobs: jobs)
        schema = SchemaGuard(shared, jobs: jobs, stop: stop)
        registration = Registration(shared, jobs: jobs, duties, stop)
        credentials = CredentialLoop(shared, duties: duties)
        calls = CallStarter(shared, registration, credentials, stop)
        permits = PermitDuty(shared, duties, jobs: jobs, registration)
        callbacks = CallbackLoop(shared, sessions[2], duties, calls, schema)
        exchanges = ExchangeLoop(shared, jobs: jobs, registration, duties, calls, credentials, callbacks)
        judging = JudgingLoop(shared, sessions[3], duties, exchanges, schema)
        pruning = PruningLoop(shared, sessions[4])
        once = configuration.runsOnce ? OnceMode(shared, jobs: jobs, duties, stop, callbacks, credentials) : nil
    }

    /// Runs until a signal stops it. A worker that runs once also stops when no work is left.
    public func run() -> EngineEnd {
        shared.now = MonotonicClock.now
        Memory.returnLargeBlocks()
        do throws(ReactorError) {
            try poller.add(signals.descriptor, token: PollerToken.signals, read: true, write: false)
            jobs.start(now: now)
            duties.session.start(now: now)
            var ready: [PollerEvent] = []
            while stop.end == nil {
                try watchSockets()
                try poller.wait(timeoutNanoseconds: timeToWait(), into: &ready)
                shared.now = MonotonicClock.now
                for event in ready { handle(event) }
                turn()
            }
        } catch {
            shared.log(.statementFailed(verb: "poll", reason: "\(error)"))
            stop.endRun(.abandoned)
        }
        for session in sessions { session.close() }
        logUnreportedFailures()
        shared.log(.stopped)
        return schema.end ?? stop.end ?? .clean
    }

    /// Handles a descriptor that is ready.
    private func handle(_ event: PollerEvent) {
        if event.token == PollerToken.signals {
            for _ in signals.read() { stop.request() }
        } else if let place = PollerToken.session(of: event.token) {
            sessions[place].socketReady(event, now: now)
        } else {
            shared.agent.socketReady(
                Int32(truncatingIfNeeded: event.token), readable: event.readable, writable: event.writable)
        }
    }

    /// Processes all answers and outcomes, then sends the duties and exchanges that are due.
    private func turn() {
        for session in sessions { session.process(now: now) }
        while let event = jobs.next() { jobsEvent(event) }
        while let event = duties.session.next() { dutiesEvent(event) }
        callbacks.handleEvents()
        judging.handleEvents()
        pruning.handleEvents()
        if let due = shared.agent.nextDeadline, now >= due { shared.agent.timeout() }
        exchanges.collectOutcomes()
        calls.reportShortage()
        calls.serveMemory()
        calls.startDue()
        // A claim goes out before the other work of a turn.
        exchanges.exchange()
        doDuties()
        duties.apply(shared.dispatcher.poll(now: now))
        exchanges.exchange()
        callbacks.serve()
        judging.judge()
        pruning.prune(epoch: epoch)
        checkSilence()
        once?.lookForEnd()
        if stop.handBackIfDue() { exchanges.exchange() }
        stop.leaveIfDone(refreshes: credentials.isBusy, concludes: !callbacks.isQuiet)
        // Calls that have just begun are sent in this turn instead of the next one.
        if let due = shared.agent.nextDeadline, now >= due { shared.agent.timeout() }
        shared.configuration.workerHealth?.turned(
            now: now, calls: shared.dispatcher.slots.inUse,
            isConnected: shared.dispatcher.worker > 0 && jobs.isReady && !shared.dispatcher.isUnheard,
            isDraining: shared.dispatcher.isDraining,
            refused: shared.dispatcher.backoff.waiting(shared.dispatcher.writes)?.count ?? 0,
            refusedSince: shared.dispatcher.backoff.batchesRefusedSince)
    }

    /// How long the loop may sleep, in nanoseconds. Nil if no deadline is set.
    private func timeToWait() -> UInt64? {
        let deadlines: InlineArray<_, UInt64?> = [
            shared.configuration.workerHealth == nil ? nil : now + WorkerHealth.longestTurn,
            jobs.deadline, duties.session.deadline, callbacks.deadline, judging.deadline, pruning.deadline,
            shared.agent.nextDeadline,
            silenceDue,
            stop.deadline,
            once?.deadline,
            shared.dispatcher.deadline(now: now),
            dutiesDue,
            permits.deadline,
            shared.dispatcher.nextLook(canSurvey: duties.isReady && !duties.awaits(.survey)),
        ]
        var moment = UInt64.max
        for place in deadlines.indices { moment = min(moment, deadlines[place] ?? .max) }
        if moment == .max { return nil }
        let current = MonotonicClock.now
        return moment > current ? moment - current : 0
    }

    /// Registers the sockets of the sessions and the agent with the poller.
    ///
    /// The agent goes first. A new socket of a session may have the number of one that libcurl has just closed. The
    /// agent's removal of the old socket would otherwise remove the new one.
    func watchSockets() throws(ReactorError) {
        try shared.agent.watch(in: &poller)
        for session in sessions { try session.watch(in: &poller) }
    }
}

/// The reason why a loop cannot be created.
public struct EngineError: Error, Equatable, Sendable {
    /// The defect, and how to repair it.
    public let message: String
}
