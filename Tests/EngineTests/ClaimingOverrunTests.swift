// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Statements of the claiming session that exceed its time limit, and the memory of the attempts that wait meanwhile.
struct ClaimingOverrunTests: DispatcherCases {
    private func rich(_ seq: Int64) -> ClaimedJob {
        var job = job(seq)
        job.call = nil
        job.isJudged = true
        return job
    }

    private func prepareAll(_ dispatcher: inout Dispatcher) {
        while let (number, _) = dispatcher.nextPreparation(now: moment) {
            for (slot, job) in (dispatcher.preparationReturned(number) ?? [:]).values {
                var job = job
                job.call = HTTPCall(url: "http://h/")
                dispatcher.callPrepared(slot: slot, job)
            }
        }
    }

    @Test func `an answer that overruns twice on the claiming session moves to the judging session`() {
        var dispatcher = dispatcher(capacity: 9)
        let slots = claim(&dispatcher, (1...9).map { rich($0) })
        dispatcher.drain()
        prepareAll(&dispatcher)
        for slot in slots {
            dispatcher.callEnded(slot: slot, CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        }
        var time = moment
        var stored: [Int64: Verdict.Kind] = [:]
        var tries: [String] = []
        for _ in 0..<40 {
            time += 1_000_000_000
            guard let (number, exchange) = dispatcher.nextExchange(now: time), let batch = exchange.batch
            else { break }
            if let bad = batch.attempts.first(where: { $0.lease.seq == 5 }), bad.isJudged {
                tries.append("\(batch.attempts.count) \(bad.isJudged ? "judged" : "plain")")
                _ = dispatcher.exchangeFailed(number, .overrun, now: time)
            } else {
                for attempt in batch.attempts { stored[attempt.lease.seq] = attempt.verdict.kind }
                _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            }
        }
        #expect(tries == ["9 judged", "1 judged"])
        #expect(stored.count == 8)
        #expect(stored.allSatisfy { $0.value == .succeeded })
        #expect(dispatcher.judging.leases.map(\.seq) == [5])
        #expect(dispatcher.isWritten == false)
    }

    /// While no batch is stored, the time limit says nothing about a single answer. All answers wait, and the judging
    /// session gets none.
    @Test func `a database that is too slow for ten minutes fails no job`() {
        var dispatcher = dispatcher(capacity: 9)
        let slots = claim(&dispatcher, (1...9).map { rich($0) })
        dispatcher.drain()
        prepareAll(&dispatcher)
        for slot in slots {
            dispatcher.callEnded(slot: slot, CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        }
        var time = moment
        var sent = 0
        while time < moment + 600_000_000_000 {
            time = max(time + 100_000_000, dispatcher.deadline(now: time) ?? time)
            guard let (number, _) = dispatcher.nextExchange(now: time) else { continue }
            sent += 1
            time += 6_000_000_000
            #expect(dispatcher.exchangeFailed(number, .overrun, now: time) == .report)
        }
        #expect(sent > 20)
        #expect(dispatcher.unwrittenCount == 9 && dispatcher.judging.isEmpty)
        var stored: [Verdict.Kind] = []
        for _ in 0..<20 {
            time += 60_000_000_000
            guard let (number, exchange) = dispatcher.nextExchange(now: time), let batch = exchange.batch else {
                continue
            }
            stored += batch.attempts.map(\.verdict.kind)
            _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
        }
        #expect(stored == Array(repeating: .succeeded, count: 9))
    }

    @Test func `the bytes of unwritten attempts count in every place where the attempts wait`() {
        var dispatcher = dispatcher(capacity: 9)
        for id in 1...4 { dispatcher.writes.put(.ofSize(id << 20, id: Int64(id)), now: moment) }
        dispatcher.judging.put(FinishedAttempt.ofSize(5 << 20, id: 5).judgedApart(), now: moment)
        func check(_ mebibytes: Int, largest: Int) {
            #expect(dispatcher.unwritten == .init(bytes: mebibytes << 20, largest: largest << 20))
        }
        check(15, largest: 5)
        let first = dispatcher.nextExchange(now: moment)?.number ?? 0
        check(15, largest: 5)
        _ = dispatcher.exchangeFailed(first, .shortage, now: moment)
        check(15, largest: 5)
        var time = moment
        for _ in 0..<3 {
            time += 60_000_000_000
            let next = dispatcher.nextExchange(now: time)?.number ?? 0
            _ = dispatcher.exchangeFailed(next, .locked, now: time)
            check(15, largest: 5)
        }
        let question = dispatcher.nextQuestion(now: time)
        _ = dispatcher.writes.questionAnswered(question?.number ?? 0, locked: [1], now: time)
        check(15, largest: 5)
        _ = dispatcher.jobCancelled(5, fence: 7, now: time)
        check(10, largest: 4)
        _ = dispatcher.beginEnlisting()
        _ = dispatcher.enlisted(2, held: [1, 3])
        check(4, largest: 3)
        for _ in 0..<9 {
            time += 60_000_000_000
            if let (number, exchange) = dispatcher.nextExchange(now: time) {
                _ = dispatcher.finishReturned(number, stored: exchange.batch?.attempts.count ?? 0)
            }
            if let (number, _) = dispatcher.nextQuestion(now: time) {
                _ = dispatcher.writes.questionAnswered(number, locked: [], now: time)
            }
        }
        check(0, largest: 0)
    }

    @Test func `an overrunning preparation is repeated job by job, and a job that overruns alone waits`() {
        var dispatcher = dispatcher(capacity: 9)
        _ = claim(&dispatcher, (1...9).map { rich($0) })
        dispatcher.drain()
        var time = moment
        var sizes: [Int] = []
        for _ in 0..<40 {
            time += 1_000_000_000
            guard let (number, leases) = dispatcher.nextPreparation(now: time) else { break }
            sizes.append(leases.count)
            if leases.contains(where: { $0.seq == 5 }) {
                _ = dispatcher.preparationFailed(number, .overrun, now: time)
            } else {
                _ = dispatcher.preparationReturned(number)
            }
        }
        #expect(sizes == [9, 1, 1, 1, 1, 1, 1, 1, 1, 1])
        #expect(dispatcher.slots.inUse == 8)
        #expect(dispatcher.writes.finished.map(\.verdict.kind) == [.unprepared])
        #expect(dispatcher.writes.finished.map(\.lease.seq) == [5])
    }

    @Test func `if no job can be prepared in time, all jobs go back without an attempt`() {
        var dispatcher = dispatcher(capacity: 9)
        _ = claim(&dispatcher, (1...9).map { rich($0) })
        dispatcher.drain()
        var time = moment
        var sizes: [Int] = []
        while let (number, leases) = dispatcher.nextPreparation(now: time) {
            sizes.append(leases.count)
            time += 6_000_000_000
            _ = dispatcher.preparationFailed(number, .overrun, now: time)
            time += 60_000_000_000
        }
        #expect(sizes == [9, 1, 1, 1])
        #expect(dispatcher.slots.inUse == 0)
        #expect(
            dispatcher.writes.finished.allSatisfy {
                $0.verdict.kind == .handedBack && $0.verdict.retryAfter == .seconds(30)
            })
        #expect(dispatcher.writes.finished.count == 9)
    }
}
