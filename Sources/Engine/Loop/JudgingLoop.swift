// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Evaluates users' expressions that may take long: one job at a time, for a limited time. The worker opens the judging
/// session with the first such job.
final class JudgingLoop {
    private let shared: SharedState
    private let session: Session
    private let duties: DutySession
    private let exchanges: ExchangeLoop
    private let schema: SchemaGuard

    /// A loop whose session is not open.
    init(
        _ shared: SharedState, _ session: Session, _ duties: DutySession, _ exchanges: ExchangeLoop,
        _ schema: SchemaGuard
    ) {
        self.shared = shared
        self.session = session
        self.duties = duties
        self.exchanges = exchanges
        self.schema = schema
    }

    private var now: UInt64 { shared.now }

    /// When this loop must act, nil if it need not act before an event.
    var deadline: UInt64? { earliest([session.deadline, shared.dispatcher.judging.deadline(now: now)]) }

    /// Handles all events of the session.
    func handleEvents() {
        while let event = session.next() { handle(event) }
    }

    /// Sends the next statement if it is due.
    func judge() {
        guard shared.dispatcher.judging.hasWork else { return }
        guard session.isOpen else { return session.start(now: now) }
        guard session.isReady, let task = shared.dispatcher.judging.next(worker: shared.dispatcher.worker, now: now)
        else { return }
        do throws(PGError) {
            shared.parameters.removeAll()
            shared.parameters.append(text: "\(task.limit)ms")
            try session.append(StoreStatement.limitJudging, &shared.parameters, tag: Tag.limitTime)
            switch task.work {
            case .attempt(let attempt) where attempt.isCached:
                StoreCalls.judgeCached(
                    attempt, worker: shared.dispatcher.worker, appVersion: shared.configuration.appVersion,
                    into: &shared.parameters)
                try session.append(StoreStatement.judgeCached, &shared.parameters, tag: Tag.judgement(task.number))
            case .attempt(let attempt):
                FinishBatch([attempt]).encode(
                    worker: shared.dispatcher.worker, appVersion: shared.configuration.appVersion,
                    rows: &shared.attemptRows,
                    into: &shared.parameters)
                try session.append(StoreStatement.judgeAlone, &shared.parameters, tag: Tag.judgement(task.number))
            case .tree(let lane):
                shared.parameters.removeAll()
                shared.parameters.append(text: lane)
                try session.append(StoreStatement.judgeTree, &shared.parameters, tag: Tag.judgement(task.number))
            }
            session.commit()
        } catch {
            shared.dispatcher.judging.connectionLost(now: now)
        }
    }

    private func handle(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .result(let tag, let result):
            guard tag != Tag.limitTime else { return }
            judged(Tag.number(ofJudgement: tag), result)
        case .failed(let tag, let error):
            schema.suspect(error)
            judgementFailed(tag, error)
        case .lost: shared.dispatcher.judging.connectionLost(now: now)
        default: break
        }
    }

    private func judged(_ number: UInt64, _ result: borrowing PGResult) {
        if shared.dispatcher.judging.isAtTree {
            if result.bool(0, JudgeTreeColumn.hasReady) { duties.jobsAnnounced() }
            duties.trees.membersEnded(now: now)
            return shared.dispatcher.judging.treeJudged(
                number, lane: result.optionalText(0, JudgeTreeColumn.lane),
                hasMore: result.bool(0, JudgeTreeColumn.hasMore))
        }
        let done = result.int64s(0, FinishColumn.done)
        let isStored = !done.isEmpty
        // A judgement that another worker number sent is made again, so it does not count.
        if isStored, let metrics = shared.configuration.workerMetrics, let attempt = shared.dispatcher.judging.current {
            metrics.stored([attempt], done: done, outcomes: result.text(0, FinishColumn.outcomes))
        }
        guard let (refused, followUp) = shared.dispatcher.judgementReturned(number, isStored: isStored) else { return }
        exchanges.follow(followUp, refused: refused)
    }

    private func judgementFailed(_ tag: UInt64, _ error: PGError) {
        guard error.code != .aborted else { return }
        let failure: JudgingWork.Failure =
            error.sqlState == .queryCanceled ? .cancelled : error.sqlState?.cause == .value ? .unstorable : .other
        if tag == Tag.limitTime {
            shared.log(.statementFailed(verb: "judge", error: error))
            return shared.dispatcher.judging.connectionLost(now: now)
        }
        if let job = shared.dispatcher.judgementFailed(Tag.number(ofJudgement: tag), failure, now: now) {
            if failure == .unstorable { shared.log(.resultUnstorable(job: job, reason: error.description)) }
        } else if error.sqlState != .lockNotAvailable {
            shared.log(.statementFailed(verb: "judge", error: error))
        }
    }
}
