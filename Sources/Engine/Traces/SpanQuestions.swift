// SPDX-License-Identifier: Apache-2.0

/// The jobs, batches and chains whose ends this worker asks for, to write their spans. Pure. Times are monotonic
/// nanoseconds.
///
/// A worker does not know whether an attempt has ended its job: the database decides about retries, answers and
/// callbacks. So it asks a moment after the attempt, and some times more. The next attempt asks anew. A batch or chain
/// may last long. The worker asks for its end up to an hour after the end of the last member that ran here.
struct SpanQuestions {
    /// One question at a time, with at most so many jobs.
    static let mostInQuestion = 1000
    /// The most jobs that wait. The others get no span.
    static let most = 20_000
    /// The waits before the questions about one job.
    private static let waits: [UInt64] = [100, 400, 1_500, 6_000, 22_000].map { $0 * 1_000_000 }
    /// How often a batch or chain is asked for: every 30 s for an hour after the first ones.
    private static let treeWait: UInt64 = 30_000_000_000
    private static let mostTreeQuestions = 125
    /// At the end of the worker each job is asked for so often, this time apart.
    private static let lastQuestions = 3
    private static let lastWait: UInt64 = 100_000_000

    private struct Entry {
        var fence: Int64
        var due: UInt64
        var asked = 0
    }

    private var entries: [Int64: Entry] = [:]
    /// When the next one is due; it may be too early.
    private var nextDue: UInt64 = .max
    private var isEnding = false

    /// Whether nothing is to be asked.
    var isEmpty: Bool { entries.isEmpty }

    /// When to ask next, nil if there is nothing to ask.
    var due: UInt64? { entries.isEmpty ? nil : nextDue }

    /// Adds a job whose attempt has ended. The fence of a batch or chain is 0.
    ///
    /// - Returns: false if too many wait already.
    mutating func ask(_ job: Int64, fence: Int64, now: UInt64) -> Bool {
        guard entries.count < SpanQuestions.most || entries[job] != nil else { return false }
        let due = now + SpanQuestions.waits[0]
        entries[job] = Entry(fence: fence, due: due)
        nextDue = min(nextDue, due)
        return true
    }

    /// The next question, nil if none is due. Jobs without an answer are asked for again.
    mutating func next(now: UInt64) -> (jobs: [Int64], fences: [Int64])? {
        guard now >= nextDue, !entries.isEmpty else { return nil }
        var jobs: [Int64] = []
        var fences: [Int64] = []
        nextDue = .max
        for (job, entry) in entries {
            guard entry.due <= now, jobs.count < SpanQuestions.mostInQuestion else {
                nextDue = min(nextDue, max(entry.due, now + 1))
                continue
            }
            jobs.append(job)
            fences.append(entry.fence)
            if let wait = wait(after: entry) {
                entries[job] = Entry(fence: entry.fence, due: now + wait, asked: entry.asked + 1)
                nextDue = min(nextDue, now + wait)
            } else {
                entries[job] = nil
            }
        }
        return jobs.isEmpty ? nil : (jobs, fences)
    }

    private func wait(after entry: Entry) -> UInt64? {
        let asked = entry.asked + 1
        if isEnding { return asked < SpanQuestions.lastQuestions ? SpanQuestions.lastWait : nil }
        if asked < SpanQuestions.waits.count { return SpanQuestions.waits[asked] }
        return entry.fence == 0 && asked < SpanQuestions.mostTreeQuestions ? SpanQuestions.treeWait : nil
    }

    /// Records that a job has ended and its span was taken.
    mutating func ended(_ job: Int64, fence: Int64) {
        if entries[job]?.fence == fence { entries[job] = nil }
    }

    /// The worker ends: everything is due now.
    mutating func hurry(now: UInt64) {
        guard !isEnding else { return }
        isEnding = true
        for job in entries.keys {
            entries[job]?.due = now
            entries[job]?.asked = 0
        }
        if !entries.isEmpty { nextDue = now }
    }

    /// Forgets everything: the database is another one.
    mutating func forget() { entries = [:] }
}
