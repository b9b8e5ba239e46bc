// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPAgent
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
/// Each subject has a class, such as `ExchangeLoop` or `LeaderDuties`, and this class calls them in the order of a turn.
/// Pure types decide (`Dispatcher` and its parts, `Schedule`, `PGSessionMachine`), and the classes carry the decisions
/// out. No HTTP call runs inside a database transaction. A slow call holds only its own slot.
public final class RunLoop {
    let shared: SharedState
    var poller: Poller
    private let signals: SignalSource
    /// All sessions, in the order of their kinds.
    let sessions: [Session]
    private let stop: StopSequence
    private let credentials: CredentialLoop
    private let calls: CallStarter
    private let callbacks: CallbackLoop
    private let exchanges: ExchangeLoop
    private let judging: JudgingLoop
    private let pruning: PruningLoop
    /// Set for a worker that runs once; nil: the worker runs until a signal.
    private let once: OnceMode?
    private let leader: LeaderDuties
    private let silence: SilenceCheck
    private let duties: DutyLoop
    private let jobs: JobsLoop

    private var now: UInt64 { shared.now }

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
        let jobsSession = sessions[.jobs]
        let dutySession = DutySession(sessions[.duties], jobs: jobsSession, shared)
        stop = StopSequence(shared, duties: dutySession, jobs: jobsSession)
        let schema = SchemaGuard(shared, jobs: jobsSession, stop: stop)
        let registration = Registration(shared, jobs: jobsSession, dutySession, stop)
        let permits = PermitDuty(shared, dutySession, jobs: jobsSession, registration)
        credentials = CredentialLoop(shared, duties: dutySession)
        let traces = TraceLoop(shared, dutySession, registration)
        calls = CallStarter(shared, registration, credentials, stop, traces)
        callbacks = CallbackLoop(shared, sessions[.callbacks], dutySession, calls, schema)
        exchanges = ExchangeLoop(
            shared, jobs: jobsSession, registration, dutySession, calls, credentials, callbacks, traces)
        judging = JudgingLoop(shared, sessions[.judging], dutySession, exchanges, schema)
        pruning = PruningLoop(shared, sessions[.pruning])
        once =
            configuration.runsOnce
            ? OnceMode(shared, jobs: jobsSession, dutySession, stop, callbacks, credentials) : nil
        leader = LeaderDuties(shared, dutySession, registration, callbacks, pruning, once)
        silence = SilenceCheck(shared, jobs: jobsSession, dutySession)
        duties = DutyLoop(
            shared, dutySession, registration, leader, credentials, callbacks, permits, silence, schema, traces)
        jobs = JobsLoop(
            shared, jobsSession, exchanges, registration, dutySession, duties, leader, credentials, silence, schema,
            stop, once)
    }

    /// Runs until a signal stops it. A worker that runs once also stops when no work is left.
    public func run() -> EngineEnd {
        shared.now = MonotonicClock.now
        Memory.returnLargeBlocks()
        do throws(ReactorError) {
            try poller.add(signals.descriptor, token: PollerToken.signals, read: true, write: false)
            // The other sessions are opened when they are needed.
            jobs.start()
            duties.start()
            var ready: [PollerEvent] = []
            while !stop.hasEnded {
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
        leader.logUnreportedFailures()
        shared.log(.stopped)
        return stop.result
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
        jobs.handleEvents()
        duties.handleEvents()
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
        duties.sendDue()
        duties.poll()
        exchanges.exchange()
        exchanges.traces.send()
        callbacks.serve()
        judging.judge()
        pruning.prune(epoch: leader.epoch)
        silence.check()
        once?.lookForEnd()
        if stop.handBackIfDue() { exchanges.exchange() }
        stop.leaveIfDone(
            refreshes: credentials.isBusy, concludes: !callbacks.isQuiet, writesSpans: exchanges.traces.lastSpansWait)
        // Calls that have just begun are sent in this turn instead of the next one.
        if let due = shared.agent.nextDeadline, now >= due { shared.agent.timeout() }
        let isConnected = shared.dispatcher.worker > 0 && jobs.isReady && !shared.dispatcher.isUnheard
        shared.configuration.workerHealth?.turned(
            now: now, calls: shared.dispatcher.slots.inUse, isConnected: isConnected,
            isDraining: shared.dispatcher.isDraining,
            refused: shared.dispatcher.backoff.waiting(shared.dispatcher.writes)?.count ?? 0,
            refusedSince: shared.dispatcher.backoff.batchesRefusedSince)
        reportToServiceManager(isConnected: isConnected)
    }

    /// Reports each change to the service manager, and that the loop turns. No other thread does so: `WATCHDOG=1` would
    /// otherwise go on while the loop hangs.
    private func reportToServiceManager(isConnected: Bool) {
        guard let socket = shared.configuration.notifySocket else { return }
        let condition: ServiceReports.Condition =
            shared.dispatcher.isDraining
            ? .draining(calls: shared.dispatcher.slots.inUse) : isConnected ? .claiming : .disconnected
        shared.service.report(condition, now: now) { socket.send($0) }
    }

    /// How long the loop may sleep, in nanoseconds. Nil if no deadline is set.
    private func timeToWait() -> UInt64? {
        let deadline = earliest([
            shared.configuration.workerHealth == nil ? nil : now + WorkerHealth.longestTurn,
            jobs.deadline, duties.deadline, callbacks.deadline, judging.deadline, pruning.deadline,
            shared.agent.nextDeadline, silence.deadline, stop.deadline, once?.deadline, exchanges.traces.deadline,
            shared.service.deadline,
        ])
        guard let deadline else { return nil }
        let current = MonotonicClock.now
        return deadline > current ? deadline - current : 0
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
