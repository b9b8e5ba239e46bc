// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// Answers that may take long to judge, and batches and chains whose next members may take long to begin. Pure.
///
/// The judging session takes them one at a time. So the claiming session and the heartbeats never wait for a user's
/// expression. Lanes take turns, and all batches and chains together count as one lane. An attempt that waits here has
/// freed its slot.
struct JudgingWork {
    /// One statement for the judging session.
    struct Task {
        var number: UInt64
        var work: Work
        /// The time limit, in milliseconds.
        var limit: Int32
        /// The worker's number in the statement.
        fileprivate(set) var worker: Int32 = 0
        fileprivate(set) var sentAt: UInt64 = 0
    }

    /// The subject of a statement.
    enum Work {
        case attempt(FinishedAttempt)
        /// The next batch or chain whose lane comes after this one.
        case tree(after: String)
    }

    /// How a statement failed.
    enum Failure {
        /// The server cancelled it, perhaps because of the time limit.
        case cancelled
        /// A value cannot be stored.
        case unstorable
        /// Any other failure.
        case other
    }

    /// Answers above 1 MiB are judged here whatever their expressions are: to parse one takes 40 ms for each MiB.
    static let largeAnswer = 1 << 20
    /// A waiting attempt counts at least 256 KiB towards the limit. So at most a few hundred wait.
    static let leastWeight = 256 << 10

    /// `settings.judge_timeout` in milliseconds.
    var timeout: Int32 = 2_000
    /// The most bytes that waiting attempts may take, `MemoryBudget.judgingShare`. At this limit no job with expensive
    /// answers is called.
    var limit = 64 << 20

    private typealias Entry = (attempt: FinishedAttempt, since: UInt64)
    private var waiting: [String: [Entry]] = [:]
    /// The lanes of waiting attempts, the next lane first.
    private var turns: [String] = []
    /// The statement under way. It is void if its attempt was removed meanwhile.
    private var underWay: (task: Task, since: UInt64, isVoid: Bool)?
    /// Whether batches or chains wait for this session.
    private var hasTrees = false
    private var lastTreeLane = ""
    private var isTreesTurn = false
    /// The growing waits while statements fail.
    private var pause = StatementBackoff(longest: RefusedAttempts.longestWait)
    private var nextNumber: UInt64 = 1
    /// The bytes that all attempts here count towards the limit.
    private(set) var weight = 0
    /// The memory that these attempts take.
    private(set) var sizes = AttemptSizes()
    /// How many attempts wait here or are being judged.
    private(set) var count = 0

    /// Whether the statement under way is about a batch or chain.
    var isAtTree: Bool {
        guard case .tree = underWay?.task.work else { return false }
        return true
    }

    /// Whether no attempt is here.
    var isEmpty: Bool { count == 0 }

    /// Whether the session needs a connection.
    var hasWork: Bool { !turns.isEmpty || hasTrees || underWay != nil }

    /// The leases of all attempts here, including the one under way.
    var leases: [Lease] { waiting.values.flatMap { $0.map(\.attempt.lease) } + [current?.lease].compactMap { $0 } }

    /// The jobs of attempts here. The one that is being judged comes first.
    func jobs(limit: Int) -> [Int64] {
        guard !isEmpty else { return [] }
        let waiting = turns.lazy.flatMap { self.waiting[$0] ?? [] }.map(\.attempt.lease.jobID)
        return ([current?.lease.jobID].compactMap { $0 } + waiting.prefix(limit)).prefix(limit).map { $0 }
    }

    /// The attempts that arrived at this moment or before.
    func calls(since moment: UInt64) -> [RunningCall] {
        var entries = waiting.values.flatMap { $0 }
        if let current, let underWay { entries.append((current, underWay.since)) }
        return entries.filter { $0.since <= moment }.map {
            RunningCall(lease: $0.attempt.lease, phase: .judge, since: $0.since)
        }
    }

    /// When the oldest attempt arrived, nil if none waits.
    var oldest: UInt64? {
        (waiting.values.compactMap { $0.first?.since } + [current == nil ? nil : underWay?.since].compactMap { $0 })
            .min()
    }

    /// The attempt that is being judged.
    var current: FinishedAttempt? {
        guard let underWay, !underWay.isVoid, case .attempt(let attempt) = underWay.task.work else { return nil }
        return attempt
    }

    /// How long jobs with expensive answers wait before their calls, in milliseconds. Nil if there is room for their
    /// answers.
    ///
    /// - Parameter calls: counts such calls in flight. It is called only if an attempt waits.
    func hold(calls: () -> Int) -> Int32? {
        guard count > 0, weight + calls() * JudgingWork.leastWeight >= limit else { return nil }
        return Int32(clamping: min(60_000, max(1_000, count * 250)))
    }

    /// Takes an attempt whose call has ended.
    mutating func put(_ attempt: FinishedAttempt, now: UInt64) {
        add((attempt, now), isFirst: false)
    }

    /// Records that batches or chains wait for this session.
    mutating func treesWait() { hasTrees = true }

    /// The next statement, nil if none is due. It counts as sent.
    mutating func next(worker: Int32, now: UInt64) -> Task? {
        guard worker > 0, underWay == nil, now >= pause.until else { return nil }
        var task: Task
        var since = now
        if hasTrees && (isTreesTurn || turns.isEmpty) {
            hasTrees = false
            isTreesTurn = false
            task = Task(number: nextNumber, work: .tree(after: lastTreeLane), limit: timeout)
        } else if let lane = turns.first {
            turns.removeFirst()
            isTreesTurn = true
            guard var entries = waiting.removeValue(forKey: lane), !entries.isEmpty else { return nil }
            let entry = entries.removeFirst()
            if !entries.isEmpty {
                waiting[lane] = entries
                turns.append(lane)
            }
            since = entry.since
            task = Task(number: nextNumber, work: .attempt(entry.attempt), limit: limit(of: entry.attempt))
        } else {
            return nil
        }
        nextNumber += 1
        task.worker = worker
        task.sentAt = now
        underWay = (task, since, false)
        return task
    }

    /// The time limit of an attempt. Without an expression, a large answer gets one second more for each MiB.
    private func limit(of attempt: FinishedAttempt) -> Int32 {
        guard attempt.expensive?.columns.isEmpty ?? true else { return timeout }
        return timeout + Int32(clamping: attempt.bodyBytes >> 20) * 1_000
    }

    /// When to send the next statement after a failure. Nil if it need not be sent before an event.
    func deadline(now: UInt64) -> UInt64? {
        guard underWay == nil, hasWork else { return nil }
        return pause.deadline(now: now)
    }

    /// Records that an attempt was judged, and written unless its lease had ended.
    ///
    /// - Returns: the attempt. Nil if it was cancelled meanwhile, or is judged again because the worker has another
    ///   number now.
    mutating func judged(_ number: UInt64, isStored: Bool, worker: Int32) -> FinishedAttempt? {
        guard let underWay, underWay.task.number == number else { return nil }
        let attempt = current
        end()
        pause.succeeded()
        guard let attempt else { return nil }
        if !isStored, underWay.task.worker != worker {
            add((attempt, underWay.since), isFirst: true)
            return nil
        }
        return attempt
    }

    /// Records the answer for a batch or chain. The lane is nil if none could be taken.
    mutating func treeJudged(_ number: UInt64, lane: String?, hasMore: Bool) {
        guard underWay?.task.number == number else { return }
        end()
        pause.succeeded()
        lastTreeLane = lane ?? ""
        if hasMore { hasTrees = true }
    }

    /// Records that a statement failed. Nothing of it is stored.
    ///
    /// - Returns: the attempt with its final verdict, to be written without being judged. Nil if it is tried again.
    mutating func failed(_ number: UInt64, _ failure: Failure, now: UInt64) -> FinishedAttempt? {
        guard let underWay, underWay.task.number == number else { return nil }
        let attempt = current
        end()
        if case .tree = underWay.task.work { hasTrees = true }
        let wasOver = attempt?.verdict.code == .tooExpensive
        let isOver = failure == .cancelled && now >= underWay.task.sentAt + UInt64(underWay.task.limit) * 1_000_000
        if var attempt, isOver {
            pause.succeeded()
            attempt.verdict = Verdict(
                .failed, .tooExpensive, JudgingWork.reason(attempt.expensive?.columns ?? "", underWay.task.limit))
            if attempt.isCached, !wasOver {
                // The next statement ends the job with the cached answer.
                add((attempt, underWay.since), isFirst: true)
                return nil
            }
            attempt.expensive = nil
            attempt.isJudged = !attempt.isCached
            return attempt
        }
        if var attempt, failure == .unstorable {
            attempt.expensive = nil
            return attempt.reduced("the database cannot store the body of the answer")
        }
        if let attempt { add((attempt, underWay.since), isFirst: false) }
        pause.refused(now: now)
        return nil
    }

    private static func reason(_ columns: String, _ limit: Int32) -> String {
        let time = limit % 1_000 == 0 ? "\(limit / 1_000) s" : "\(limit) ms"
        let advice = columns.isEmpty ? "ask for a smaller answer" : "simplify \(columns)"
        return "judging the answer took longer than \(time) (settings.judge_timeout); \(advice)"
    }

    /// Records that the connection is lost, and the statement under way with it.
    mutating func connectionLost(now: UInt64) {
        guard let task = underWay?.task else { return }
        _ = failed(task.number, .other, now: now)
    }

    /// Removes the attempt of a cancelled job. Returns whether it was here.
    mutating func remove(jobID: Int64, fence: Int64) -> Bool {
        remove { $0.jobID == jobID && $0.fence == fence }
    }

    /// Drops attempts whose lease no longer holds. `held` contains the seqs of the leases that hold.
    mutating func keep(_ held: Set<Int64>) {
        _ = remove { !held.contains($0.seq) }
    }

    /// Removes and returns all attempts, at the end of the worker.
    mutating func takeAll() -> [FinishedAttempt] {
        let all = waiting.values.flatMap { $0.map(\.attempt) } + [current].compactMap { $0 }
        _ = remove { _ in true }
        return all
    }

    private mutating func remove(_ isGone: (Lease) -> Bool) -> Bool {
        let before = count
        for (lane, entries) in waiting {
            let left = entries.filter { !isGone($0.attempt.lease) }
            guard left.count < entries.count else { continue }
            for entry in entries where isGone(entry.attempt.lease) { forget(entry.attempt) }
            waiting[lane] = left.isEmpty ? nil : left
            if left.isEmpty { turns.removeAll { $0 == lane } }
        }
        if let current, isGone(current.lease) {
            forget(current)
            underWay?.isVoid = true
        }
        return count < before
    }

    private mutating func add(_ entry: Entry, isFirst: Bool) {
        let lane = entry.attempt.expensive?.lane ?? ""
        if waiting[lane] == nil { turns.append(lane) }
        waiting[lane, default: []].insert(entry, at: isFirst ? 0 : waiting[lane]?.count ?? 0)
        weight += JudgingWork.weight(of: entry.attempt)
        sizes.add(entry.attempt)
        count += 1
    }

    private mutating func forget(_ attempt: FinishedAttempt) {
        weight -= JudgingWork.weight(of: attempt)
        sizes.remove(attempt)
        count -= 1
    }

    /// Ends the statement under way.
    private mutating func end() {
        if let current { forget(current) }
        underWay = nil
    }

    private static func weight(of attempt: FinishedAttempt) -> Int { max(leastWeight, attempt.bodyBytes) }
}
