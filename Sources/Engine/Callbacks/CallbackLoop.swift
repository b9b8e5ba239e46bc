// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// Runs users' functions on their own session, since they may take long. So the jobs and duties sessions never wait for
/// them. The worker opens the session with the first callback work.
final class CallbackLoop {
    private let shared: SharedState
    private let session: Session
    private let duties: DutySession
    private let calls: CallStarter
    private let schema: SchemaGuard
    private var work = CallbackWork()

    /// A loop without callback work.
    init(_ shared: SharedState, _ session: Session, _ duties: DutySession, _ calls: CallStarter, _ schema: SchemaGuard)
    {
        self.shared = shared
        self.session = session
        self.duties = duties
        self.calls = calls
        self.schema = schema
    }

    private var now: UInt64 { shared.now }

    /// Whether all ended jobs that this worker knows of are concluded.
    var isQuiet: Bool { work.isQuiet }

    /// The slots of jobs whose hooks run or wait.
    var slots: Set<Int> { work.slots }

    /// The next moment at which this loop must act, nil if it need not act before an event.
    var deadline: UInt64? { earliest([session.deadline, work.deadline(now: now)]) }

    /// Records that ended jobs may wait in the database.
    func outcomesWait() { work.outcomesWait() }

    /// Runs the hooks of a prepared job, and then calls it.
    func runHooks(slot: Int, _ lease: Lease) { work.hooksWait(slot: slot, lease) }

    /// Handles all events of the session.
    func handleEvents() {
        while let event = session.next() { handle(event) }
    }

    /// Sends the statements that are due.
    func serve() {
        guard work.hasWork else { return }
        guard session.isOpen else { return session.start(now: now) }
        guard session.isReady else { return }
        if work.isStuck(now: now) { return endStuckSession() }
        do throws(PGError) {
            while let (number, lease, runsHooks) = work.nextBeginning(now: now) {
                try limitTime()
                StoreCalls.begin(lease, runsHooks: runsHooks, into: &shared.parameters)
                try session.append(StoreStatement.beginJob, &shared.parameters, tag: Tag.begin(number))
                session.commit()
            }
            let isDeferred = work.hasFailed
            guard work.concludes(now: now) else { return }
            if isDeferred {
                StoreCalls.deferNextOutcome(after: work.failure, into: &shared.parameters)
                try session.send(StoreStatement.deferNextOutcome, &shared.parameters, tag: Tag.deferral)
            }
            try limitTime()
            StoreCalls.conclude(limit: CallbackWork.limit, into: &shared.parameters)
            try session.append(StoreStatement.conclude, &shared.parameters, tag: Tag.conclude)
            session.commit()
        } catch {
            connectionLost()
        }
    }

    /// Ends a session with a function that no time limit has stopped. The duties session ends it in the server too,
    /// because the function would otherwise keep its job locked.
    private func endStuckSession() {
        if shared.configuration.usesSessions, duties.isReady {
            StoreCalls.session(session.processID, into: &shared.parameters)
            duties.send(.endSession, StoreStatement.endSession)
        }
        work.sessionEnds()
        session.abandon("a function exceeds its time limit", now: now)
    }

    private func connectionLost() {
        for lease in work.connectionLost(now: now) {
            shared.log(
                .statementFailed(
                    verb: "begin", reason: "job \(lease.jobID) is called without its hooks, which end the session"))
        }
    }

    /// Sets the time limit in each transaction. Behind PgBouncer the next transaction may use another connection, and a
    /// function may have changed the setting.
    private func limitTime() throws(PGError) {
        shared.parameters.removeAll()
        try session.append(StoreStatement.limitTime, &shared.parameters, tag: Tag.limitTime)
    }

    private func handle(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .result(let tag, let result):
            if tag == Tag.conclude { return concluded(result) }
            if tag & 3 == Tag.beginKind { begun(tag >> 2, result) }
        case .failed(let tag, let error):
            schema.suspect(error)
            if tag == Tag.conclude {
                shared.log(.statementFailed(verb: "conclude", error: error))
                work.conclusionFailed(
                    error.sqlState?.rawValue, isShortage: error.sqlState?.cause == .shortage, now: now)
            } else if tag & 3 == Tag.beginKind {
                shared.log(.statementFailed(verb: "begin", error: error))
                handBack(
                    work.requeueStart(
                        tag >> 2, wasLocked: false, isShortage: error.sqlState?.cause == .shortage, now: now))
            } else {
                return
            }
            if work.shouldReplaceSession { session.abandon("it refuses all statements", now: now) }
        case .lost: connectionLost()
        default: break
        }
    }

    private func concluded(_ result: borrowing PGResult) {
        work.concluded(
            more: result.bool(0, ConcludeColumn.more), hasFailures: !result.isNull(0, ConcludeColumn.failure), now: now)
        if result.bool(0, ConcludeColumn.hasParents) {
            shared.dispatcher.claims.treesChanged()
            duties.trees.membersEnded(now: now)
        }
        if let reason = result.optionalText(0, ConcludeColumn.failure) {
            shared.log(.statementFailed(verb: "conclude", reason: reason))
        }
    }

    /// Calls a job whose hooks have run, unless it was cancelled meanwhile or has expired. The transaction itself
    /// reports this, because the notification of a cancellation may arrive later.
    private func begun(_ number: UInt64, _ result: borrowing PGResult) {
        // Null: the job's row is locked.
        if result.isNull(0, PGValueColumn.value) {
            return handBack(work.requeueStart(number, wasLocked: true, now: now))
        }
        guard let entry = work.begun(number, now: now),
            let job = shared.dispatcher.slots.job(in: entry.slot, entry.lease)
        else { return }
        if result.bool(0, PGValueColumn.value) { return calls.startPrepared(job, slot: entry.slot) }
        shared.dispatcher.releaseSlot(entry.slot, now: now)
        work.outcomesWait()
    }

    /// Hands a job back if the database cannot say whether it is still to be called.
    private func handBack(_ entry: Preparation.Entry?) {
        guard let entry, shared.dispatcher.slots.job(in: entry.slot, entry.lease) != nil else { return }
        let reason = "after the job's hooks, the database could not confirm the call; no attempt was used"
        shared.dispatcher.callRefused(
            slot: entry.slot, Verdict(.handedBack, .internal, reason, retryAfter: .seconds(5)), now: now)
    }
}
