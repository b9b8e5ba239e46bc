// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

struct JudgingWorkTests {
    private func attempt(_ id: Int64, lane: String, bytes: Int = 0, columns: String = "extract") -> FinishedAttempt {
        let answer = HTTPResponse(status: 200, body: [UInt8](repeating: 32, count: bytes))
        var attempt = FinishedAttempt(
            lease: .ofJob(id), verdict: .success, outcome: CallOutcome(.response(answer)), isJudged: true)
        attempt.expensive = ExpensiveJudgement(columns: columns, lane: lane, judgesFailures: false)
        return attempt
    }

    private func job(_ task: JudgingWork.Task?) -> Int64? {
        guard case .attempt(let attempt) = task?.work else { return nil }
        return attempt.lease.jobID
    }

    @Test func `the judging session judges one attempt at a time and alternates between lanes`() {
        var judgingWork = JudgingWork()
        for (id, lane) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c")] {
            judgingWork.put(attempt(Int64(id), lane: lane), now: 0)
        }
        var order: [Int64] = []
        while let task = judgingWork.next(worker: 1, now: 0) {
            let other = judgingWork.next(worker: 1, now: 0)
            #expect(other == nil)
            order.append(job(task) ?? 0)
            let judged = judgingWork.judged(task.number, isStored: true, worker: 1)
            #expect(judged?.lease.jobID == order.last)
        }
        #expect(order == [1, 4, 5, 2, 3])
        #expect(judgingWork.isEmpty && !judgingWork.hasWork && judgingWork.weight == 0)
    }

    @Test func `jobs that wait for judgement are listed up to a limit, the judged job first`() {
        var judgingWork = JudgingWork()
        #expect(judgingWork.jobs(limit: 9) == [])
        for (id, lane) in [(1, "a"), (2, "a"), (3, "a"), (4, "b")] {
            judgingWork.put(attempt(Int64(id), lane: lane), now: 0)
        }
        #expect(judgingWork.jobs(limit: 9) == [1, 2, 3, 4])
        _ = judgingWork.next(worker: 1, now: 0)
        #expect(judgingWork.jobs(limit: 9) == [1, 4, 2, 3])
        #expect(judgingWork.jobs(limit: 2) == [1, 4])
        #expect(judgingWork.jobs(limit: 0) == [])
        // The job was cancelled.
        _ = judgingWork.remove(jobID: 1, fence: 7)
        #expect(!judgingWork.jobs(limit: 9).contains(1))
    }

    @Test func `the judging session alternates between tree steps and answers`() {
        var judgingWork = JudgingWork()
        judgingWork.put(attempt(1, lane: "a"), now: 0)
        judgingWork.put(attempt(2, lane: "b"), now: 0)
        judgingWork.treesWait()
        let first = judgingWork.next(worker: 1, now: 0)
        #expect(job(first) == 1)
        _ = judgingWork.judged(first?.number ?? 0, isStored: true, worker: 1)
        let second = judgingWork.next(worker: 1, now: 0)
        #expect(judgingWork.isAtTree)
        judgingWork.treeJudged(second?.number ?? 0, lane: "x", hasMore: true)
        let third = judgingWork.next(worker: 1, now: 0)
        #expect(job(third) == 2)
        _ = judgingWork.judged(third?.number ?? 0, isStored: true, worker: 1)
        guard case .tree(let lane) = judgingWork.next(worker: 1, now: 0)?.work else {
            Issue.record("the trees are forgotten")
            return
        }
        #expect(lane == "x")
    }

    @Test func `a job whose judgement exceeds the full time limit fails and keeps its answer`() {
        var judgingWork = JudgingWork()
        judgingWork.timeout = 500
        judgingWork.put(attempt(1, lane: "a"), now: 0)
        let first = judgingWork.next(worker: 1, now: 0)
        let early = judgingWork.failed(first?.number ?? 0, .cancelled, now: 499_999_999)
        #expect(early == nil && judgingWork.count == 1)
        let pause = judgingWork.next(worker: 1, now: 500_000_000)
        #expect(pause == nil)
        let moment = judgingWork.deadline(now: 500_000_000) ?? 0
        let second = judgingWork.next(worker: 1, now: moment)
        let end = judgingWork.failed(second?.number ?? 0, .cancelled, now: moment + 500_000_000)
        #expect(end?.verdict.kind == .failed && end?.verdict.code == .tooExpensive)
        #expect(end?.verdict.message?.contains("500 ms") == true)
        #expect(end?.verdict.message?.contains("simplify extract") == true)
        #expect(end?.outcome != nil && end?.expensive == nil && judgingWork.isEmpty)
    }

    @Test func `a cached answer that is too expensive is sent once more before its job fails`() {
        var judgingWork = JudgingWork()
        var cached = attempt(1, lane: "a")
        cached.isCached = true
        cached.outcome = nil
        judgingWork.put(cached, now: 0)
        let first = judgingWork.next(worker: 1, now: 0)
        let none = judgingWork.failed(first?.number ?? 0, .cancelled, now: 2_000_000_000)
        #expect(none == nil)
        let second = judgingWork.next(worker: 1, now: 2_000_000_000)
        guard case .attempt(let again) = second?.work else {
            Issue.record("it does not go again")
            return
        }
        #expect(again.verdict.code == .tooExpensive)
        let end = judgingWork.failed(second?.number ?? 0, .cancelled, now: 4_000_000_000)
        #expect(end?.verdict.code == .tooExpensive && end?.isJudged == false)
    }

    @Test func `the judging time of a large answer without expensive expressions grows one second per MiB`() {
        var judgingWork = JudgingWork()
        judgingWork.put(attempt(1, lane: "a", bytes: 3 << 20, columns: ""), now: 0)
        judgingWork.put(attempt(2, lane: "b", bytes: 3 << 20), now: 0)
        let large = judgingWork.next(worker: 1, now: 0)
        #expect(large?.limit == 5_000)
        _ = judgingWork.judged(large?.number ?? 0, isStored: true, worker: 1)
        let expensive = judgingWork.next(worker: 1, now: 0)
        #expect(expensive?.limit == 2_000)
    }

    @Test func `jobs are held once the attempts that wait for judgement reach the limit`() {
        var judgingWork = JudgingWork()
        judgingWork.limit = 4 * JudgingWork.leastWeight
        #expect(judgingWork.hold { 1_000 } == nil)
        for id in 1...2 { judgingWork.put(attempt(Int64(id), lane: "a"), now: 0) }
        #expect(judgingWork.hold { 1 } == nil)
        #expect(judgingWork.hold { 2 } == 1_000)
        judgingWork.put(attempt(3, lane: "a", bytes: 2 * JudgingWork.leastWeight), now: 0)
        #expect(judgingWork.weight == judgingWork.limit && judgingWork.hold { 0 } == 1_000)
        _ = judgingWork.next(worker: 1, now: 0)
        #expect(judgingWork.count == 3 && judgingWork.weight == judgingWork.limit)
    }

    @Test func `a cancelled attempt is not judged, and its late result is ignored`() {
        var judgingWork = JudgingWork()
        for id in 1...3 { judgingWork.put(attempt(Int64(id), lane: "a"), now: 7) }
        let task = judgingWork.next(worker: 1, now: 7)
        let isHere = judgingWork.remove(jobID: 1, fence: 7)
        #expect(isHere && judgingWork.count == 2 && judgingWork.oldest == 7)
        let isThere = judgingWork.remove(jobID: 9, fence: 7)
        #expect(!isThere)
        let other = judgingWork.remove(jobID: 2, fence: 7)
        #expect(other)
        let stale = judgingWork.judged(task?.number ?? 0, isStored: false, worker: 1)
        #expect(stale == nil)
        let next = judgingWork.next(worker: 1, now: 7)
        #expect(job(next) == 3)
        judgingWork.keep([])
        #expect(
            judgingWork.isEmpty && judgingWork.leases.isEmpty && judgingWork.oldest == nil && judgingWork.weight == 0)
    }

    @Test func `an answer that was judged for the worker's old number is judged again`() {
        var judgingWork = JudgingWork()
        judgingWork.put(attempt(1, lane: "a"), now: 0)
        let task = judgingWork.next(worker: 1, now: 0)
        let nothing = judgingWork.judged(task?.number ?? 0, isStored: false, worker: 2)
        #expect(nothing == nil)
        let again = judgingWork.next(worker: 2, now: 0)
        #expect(job(again) == 1)
        let refused = judgingWork.judged(again?.number ?? 0, isStored: false, worker: 2)
        #expect(refused?.lease.jobID == 1 && judgingWork.isEmpty)
    }

    @Test func `a lost connection keeps waiting attempts, and the pause after each loss grows to 30 s`() {
        var judgingWork = JudgingWork()
        judgingWork.put(attempt(1, lane: "a"), now: 0)
        var now: UInt64 = 0
        var rests: [UInt64] = []
        for _ in 1...9 {
            _ = judgingWork.next(worker: 1, now: now)
            judgingWork.connectionLost(now: now)
            let due = judgingWork.deadline(now: now) ?? now
            rests.append((due - now) / 1_000_000)
            now = due
        }
        #expect(rests == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
        #expect(judgingWork.count == 1)
        let given = judgingWork.takeAll()
        #expect(given.count == 1 && judgingWork.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an unstorable answer ends its job with the status and without the body`(isAtMostOnce: Bool) {
        var judgingWork = JudgingWork()
        var first = attempt(1, lane: "a", bytes: 10)
        first.isAtMostOnce = isAtMostOnce
        judgingWork.put(first, now: 0)
        let task = judgingWork.next(worker: 1, now: 0)
        let end = judgingWork.failed(task?.number ?? 0, .unstorable, now: 0)
        #expect(end?.verdict.kind == (isAtMostOnce ? .unknown : .failed))
        #expect(end?.verdict.code == .internal && end?.isJudged == false && end?.expensive == nil)
        guard case .response(let response) = end?.outcome?.ending else {
            Issue.record("the answer is gone")
            return
        }
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(judgingWork.isEmpty)
    }
}
