// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// What the callbacks session has to do: hooks before calls, and the ends of jobs that set off functions. Pure.
///
/// Ends are not listed here: they lie in the database, and this only knows that some may be there. So nothing is lost
/// with a connection, or with this worker.
struct CallbackWork {
    /// Jobs of one conclusion at most, if none of them has functions.
    static let limit: Int32 = 256
    /// 250 ms: after a failure.
    static let rest: UInt64 = 250_000_000
    /// 10 s: twice what the functions of a job have. One that catches the end of its time goes on without any.
    static let longestAnswer: UInt64 = 10_000_000_000
    /// How often a job's hooks may end the connection before it is called without them.
    static let longestRow = 3
    /// How often a job is asked after that cannot be told of.
    static let mostRefusals = 5
    /// How many refusals in a row make the session suspect.
    static let mostFailures = 4

    /// Whether ends may wait in the database.
    private(set) var isOwed = false
    /// Whether a conclusion is under way.
    private(set) var isConcluding = false
    /// No conclusion before this moment, after one failed.
    private(set) var restUntil: UInt64 = 0
    /// The waits between conclusions that a shortage of the database ends.
    private var pause = StatementBackoff(longest: RefusedAttempts.longestWait)
    /// The SQLSTATE of the error that ended the last conclusion; nil: none did.
    private(set) var failure: String?
    /// Whether the last conclusion failed as a whole: what it began with is to be put off.
    private(set) var hasFailed = false
    /// A prepared job whose hooks are to run before its call, and how often the connection was lost meanwhile.
    private struct Start {
        var entry: Preparation.Entry
        var losses = 0
        /// How often it was not told what became of the job.
        var refusals = 0
        /// Not before this moment.
        var due: UInt64 = 0
        /// Else it is only asked what became of the job.
        var runsHooks: Bool { losses < CallbackWork.longestRow }
    }
    private var waiting: [Start] = []
    /// Those whose hooks run, by number.
    private var beginning: [UInt64: Start] = [:]
    private var nextNumber: UInt64 = 1
    /// Connections lost in a row while a conclusion was under way.
    private var losses = 0
    /// Statements refused in a row.
    private var failures = 0
    /// When the session was last asked or last answered, while something is under way.
    private var waitsSince: UInt64 = 0

    /// Whether the answer was overdue in the turn before.
    private var wasOverdue = false

    /// Whether an answer of the session is due.
    private var isWaiting: Bool { isConcluding || !beginning.isEmpty }

    /// Whether a connection is needed at all.
    var hasWork: Bool { isOwed || isWaiting || !waiting.isEmpty }

    /// Whether all ends that this worker knows of are concluded.
    var isQuiet: Bool { !isOwed && !isConcluding }

    /// Ends may wait in the database.
    mutating func endsWait() { isOwed = true }

    /// Whether to conclude now; it counts as begun.
    mutating func concludes(now: UInt64) -> Bool {
        guard isOwed, !isConcluding, now >= restUntil else { return false }
        isOwed = false
        hasFailed = false
        isConcluding = true
        waitsSince = now
        return true
    }

    /// When to look again: to conclude after a failure, or because an answer has been due for too long; nil: never.
    func deadline(now: UInt64) -> UInt64? {
        let moments = [
            isOwed && now < restUntil ? restUntil : nil,
            waiting.lazy.map(\.due).filter { $0 > now }.min(),
            isWaiting ? waitsSince + CallbackWork.longestAnswer : nil,
        ]
        return moments.lazy.compactMap { $0 }.min()
    }

    /// Whether a function has gone on beyond all limits, so that the session has to be ended. Asked for once a turn,
    /// and true in the second: after the process or the machine stood still, the answer may lie there and is read
    /// before.
    mutating func isStuck(now: UInt64) -> Bool {
        let isOverdue = isWaiting && now >= waitsSince + CallbackWork.longestAnswer
        defer { wasOverdue = isOverdue }
        return wasOverdue && isOverdue
    }

    /// The session is ended because it is stuck: what it is stuck with is to be put off at once.
    mutating func sessionEnds() { losses = max(losses, 1) }

    /// Whether to go on with another session, asked after each refusal. A function may leave behind what nothing puts
    /// back and what makes all that follows fail, like dropped prepared statements. It is so after four refusals in a
    /// row, and then after twice as many each time: what a new session has not mended, the next one will not.
    var distrustsSession: Bool { failures >= CallbackWork.mostFailures && failures.nonzeroBitCount == 1 }

    /// A conclusion is stored; there may be more to do.
    ///
    /// - Parameter hasFailures: whether it says what went wrong. That is put off, and the next one comes after a rest,
    ///   as behind one that was refused: a database in trouble may refuse them all.
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

    /// A conclusion was refused; it is tried again after a rest, in a shortage of the database after a growing one.
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

    /// The next job whose hooks are to run, if they did not end the session too often; they count as begun.
    mutating func nextBeginning(now: UInt64) -> (number: UInt64, lease: Lease, runsHooks: Bool)? {
        guard let place = waiting.firstIndex(where: { $0.due <= now }) else { return nil }
        let start = waiting.remove(at: place)
        defer { nextNumber += 1 }
        beginning[nextNumber] = start
        waitsSince = now
        return (nextNumber, start.entry.lease, start.runsHooks)
    }

    /// The slots of jobs whose hooks run or are to run.
    var slots: Set<Int> { Set((waiting + beginning.values).map(\.entry.slot)) }

    /// A job's hooks have run, and what became of it is known.
    mutating func begun(_ number: UInt64, now: UInt64) -> Preparation.Entry? {
        waitsSince = now
        failures = 0
        return beginning.removeValue(forKey: number)?.entry
    }

    /// What became of a job is not known: somebody has it locked, or the transaction was rolled back as a whole. It is
    /// asked again after a rest, twice as long each time; what is rolled back would be so again, so then without hooks.
    ///
    /// In a shortage of the database nothing is rolled back because of the hooks, so they are kept.
    ///
    /// - Returns: what is to be handed back, since even that has failed five times.
    mutating func beginsAgain(
        _ number: UInt64, withHooks: Bool, isShortage: Bool = false, now: UInt64
    ) -> Preparation.Entry? {
        guard var start = beginning.removeValue(forKey: number) else { return nil }
        waitsSince = now
        if !withHooks, !isShortage {
            start.losses = CallbackWork.longestRow
            failures += 1
        }
        start.refusals += 1
        if !withHooks, start.refusals > CallbackWork.mostRefusals { return start.entry }
        start.due = now + CallbackWork.rest << UInt64(min(start.refusals - 1, 5))
        waiting.insert(start, at: 0)
        return nil
    }

    /// The connection is gone: all of it is asked for again. Hooks that did run do not run twice.
    ///
    /// A function may be what ends the connection. Nothing in the database tells of it then, so from the second time in
    /// a row on what a conclusion begins with is put off.
    /// - Returns: jobs whose hooks seem to do so, and which are to be called without them. Whether they still are to be
    ///   called is asked first: a hook may have cancelled its job in what was committed before the session ended.
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
        return cut.filter { $0.losses == CallbackWork.longestRow }.map(\.entry.lease)
    }
}
