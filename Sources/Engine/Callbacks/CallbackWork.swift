// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The work of the callbacks session: it runs hooks before calls, and concludes jobs that have ended. Pure.
///
/// The ended jobs stand in the database. This type only knows that some may be there. So a lost connection or a crash
/// of the worker loses none of them.
struct CallbackWork {
    /// The most jobs of one conclusion, if none of them has functions.
    static let limit: Int32 = 256
    /// The pause after a failure: 250 ms.
    static let rest: UInt64 = 250_000_000
    /// 10 s: twice the time that the functions of a job have. A function that catches its timeout runs on without a
    /// limit.
    static let longestAnswer: UInt64 = 10_000_000_000
    /// After so many lost connections the job is called without its hooks.
    static let mostLosses = 3
    /// After more refusals than this the job is handed back.
    static let mostRefusals = 5
    /// After so many refusals in a row the worker opens a new session.
    static let mostFailures = 4

    /// Whether ended jobs may wait in the database.
    private(set) var isOwed = false
    /// Whether a conclusion is under way.
    private(set) var isConcluding = false
    /// No conclusion before this moment, after one failed.
    private(set) var restUntil: UInt64 = 0
    /// The growing waits between conclusions while the database has a shortage.
    private var pause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// The SQLSTATE of the error that ended the last conclusion; nil after a success.
    private(set) var failure: String?
    /// Whether the last conclusion failed as a whole. Then the next one defers its first job.
    private(set) var hasFailed = false
    /// A prepared job whose hooks run before its call.
    private struct Start {
        var entry: Preparation.Entry
        /// How often the connection was lost while its hooks ran.
        var losses = 0
        /// How often the statement about this job was refused.
        var refusals = 0
        /// The statement is not sent before this moment.
        var due: UInt64 = 0
        /// Whether the statement runs the hooks. If false, it only asks whether the job is still to be called.
        var runsHooks: Bool { losses < CallbackWork.mostLosses }
    }
    private var waiting: [Start] = []
    /// The jobs whose hooks run now, by statement number.
    private var beginning: [UInt64: Start] = [:]
    private var nextNumber: UInt64 = 1
    /// Connections that were lost in a row while a conclusion was under way.
    private var losses = 0
    /// Statements refused in a row.
    private var failures = 0
    /// When the session got its last statement or gave its last answer, while a statement is under way.
    private var waitsSince: UInt64 = 0

    /// Whether the answer was overdue in the turn before this one.
    private var wasOverdue = false

    /// Whether the session owes an answer.
    private var isWaiting: Bool { isConcluding || !beginning.isEmpty }

    /// Whether the session needs a connection.
    var hasWork: Bool { isOwed || isWaiting || !waiting.isEmpty }

    /// Whether all ended jobs that this worker knows of are concluded.
    var isQuiet: Bool { !isOwed && !isConcluding }

    /// Records that ended jobs may wait in the database.
    mutating func outcomesWait() { isOwed = true }

    /// Whether to send a conclusion now. True counts it as sent.
    mutating func concludes(now: UInt64) -> Bool {
        guard isOwed, !isConcluding, now >= restUntil else { return false }
        isOwed = false
        hasFailed = false
        isConcluding = true
        waitsSince = now
        return true
    }

    /// The next moment at which the loop must act, nil if there is no such moment. It is the end of a rest after a
    /// failure, the turn of a waiting job, or the time limit of an answer.
    func deadline(now: UInt64) -> UInt64? {
        let moments = [
            isOwed && now < restUntil ? restUntil : nil,
            waiting.lazy.map(\.due).filter { $0 > now }.min(),
            isWaiting ? waitsSince + CallbackWork.longestAnswer : nil,
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Whether a function runs beyond all limits, so that the worker must end the session.
    ///
    /// The loop asks once a turn. The result is true only in the second overdue turn: after the process or the machine
    /// was suspended, the answer may be in the socket already, and the first turn reads it.
    mutating func isStuck(now: UInt64) -> Bool {
        let isOverdue = isWaiting && now >= waitsSince + CallbackWork.longestAnswer
        defer { wasOverdue = isOverdue }
        return wasOverdue && isOverdue
    }

    /// Records that the worker ends the session because it is stuck. The next conclusion defers the job that hung.
    mutating func sessionEnds() { losses = max(losses, 1) }

    /// Whether to replace the session. The caller asks after each refusal.
    ///
    /// A function may leave a state that makes all later statements fail, for example dropped prepared statements. The
    /// session is replaced after four refusals in a row, then after 8, 16 and so on. If a new session did not help, the
    /// next one seldom does.
    var shouldReplaceSession: Bool { failures >= CallbackWork.mostFailures && failures.nonzeroBitCount == 1 }

    /// Records that a conclusion is stored.
    ///
    /// - Parameter more: whether more ended jobs may wait.
    /// - Parameter hasFailures: whether the database reports functions that failed. It defers them, and the next
    ///   conclusion follows after a rest: a database in trouble may fail all functions.
    mutating func concluded(more: Bool, hasFailures: Bool, now: UInt64) {
        isConcluding = false
        losses = 0
        failures = 0
        failure = nil
        pause.succeeded()
        waitsSince = now
        if more { isOwed = true }
        if hasFailures { restUntil = now + CallbackWork.rest }
    }

    /// Records that a conclusion was refused. It is sent again after a rest. In a shortage of the database the rests
    /// grow. `state` is the SQLSTATE.
    mutating func conclusionFailed(_ state: String?, isShortage: Bool, now: UInt64) {
        isConcluding = false
        isOwed = true
        hasFailed = true
        failure = state
        failures += 1
        restUntil = now + CallbackWork.rest
        if isShortage {
            pause.refused(now: now)
            restUntil = pause.until
        }
    }

    /// A prepared job whose hooks are to run before its call.
    mutating func hooksWait(slot: Int, _ lease: Lease) {
        waiting.append(Start(entry: Preparation.Entry(slot: slot, lease: lease)))
    }

    /// The next job whose hooks are to run, nil if none is due. It counts as sent.
    ///
    /// `runsHooks` is false if its hooks ended the connection too often.
    mutating func nextBeginning(now: UInt64) -> (number: UInt64, lease: Lease, runsHooks: Bool)? {
        guard let place = waiting.firstIndex(where: { $0.due <= now }) else { return nil }
        let start = waiting.remove(at: place)
        defer { nextNumber += 1 }
        beginning[nextNumber] = start
        waitsSince = now
        return (nextNumber, start.entry.lease, start.runsHooks)
    }

    /// The slots of jobs whose hooks run or wait.
    var slots: Set<Int> { Set((waiting + beginning.values).map(\.entry.slot)) }

    /// Records that a job's hooks have run. The session answers again, so the count of refusals starts anew.
    mutating func begun(_ number: UInt64, now: UInt64) -> Preparation.Entry? {
        waitsSince = now
        failures = 0
        return beginning.removeValue(forKey: number)?.entry
    }

    /// Puts a job back whose statement was refused: its row is locked, or the database rolled the transaction back.
    ///
    /// It is sent again after a rest, twice as long each time. After a rollback it goes without hooks, since they would
    /// probably cause the next rollback too. In a shortage of the database the hooks did not cause the rollback, so
    /// they stay.
    ///
    /// - Parameter wasLocked: true if only the row was locked, false after a rollback.
    /// - Returns: the job, to be handed back, after five refusals without hooks; nil if it waits.
    mutating func requeueStart(
        _ number: UInt64, wasLocked: Bool, isShortage: Bool = false, now: UInt64
    ) -> Preparation.Entry? {
        guard var start = beginning.removeValue(forKey: number) else { return nil }
        waitsSince = now
        if !wasLocked, !isShortage {
            start.losses = CallbackWork.mostLosses
            failures += 1
        }
        start.refusals += 1
        if !wasLocked, start.refusals > CallbackWork.mostRefusals { return start.entry }
        start.due = now + CallbackWork.rest << UInt64(min(start.refusals - 1, 5))
        waiting.insert(start, at: 0)
        return nil
    }

    /// Records that the connection is lost. All statements are sent again. Hooks that have run do not run twice.
    ///
    /// A function may itself end the connection, and then the database has no record of it. So from the second loss in
    /// a row on, the next conclusion defers its first job.
    ///
    /// - Returns: jobs whose hooks seem to end the connection. They are called without hooks. The worker first asks
    ///   whether they are still to be called: a hook may have committed a cancellation before the session ended.
    mutating func connectionLost(now: UInt64) -> [Lease] {
        if isConcluding {
            isOwed = true
            losses += 1
            hasFailed = losses > 1
        }
        if isWaiting {
            restUntil = now + CallbackWork.rest
            for place in waiting.indices { waiting[place].due = max(waiting[place].due, restUntil) }
        }
        isConcluding = false
        let cut = beginning.sorted { $0.key < $1.key }.map {
            Start(entry: $0.value.entry, losses: $0.value.losses + 1, refusals: $0.value.refusals, due: restUntil)
        }
        beginning.removeAll()
        waiting = cut + waiting
        return cut.filter { $0.losses == CallbackWork.mostLosses }.map(\.entry.lease)
    }
}
