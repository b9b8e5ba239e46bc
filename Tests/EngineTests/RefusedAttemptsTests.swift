// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Results that the database refuses: how long they wait, and when the worker gives up a result.
struct RefusedAttemptsTests {
    private let moment: UInt64 = 5_000_000_000
    private let second: UInt64 = 1_000_000_000

    private func attempt(_ seq: Int64, isAtMostOnce: Bool = false) -> FinishedAttempt {
        let response = HTTPResponse(status: 201, headerBlock: Array("a: b\n".utf8), body: Array("{}".utf8))
        var attempt = FinishedAttempt(
            lease: .ofJob(seq), verdict: .success, outcome: CallOutcome(.response(response), bytesSent: 100),
            isJudged: true)
        attempt.isAtMostOnce = isAtMostOnce
        return attempt
    }

    /// Simulates a database that stores one result a second and refuses the result of job 1.
    ///
    /// While `isShort`, it refuses all results.
    ///
    /// - Returns: when and how job 1 was stored, and how often it was refused before.
    private func run(
        seconds: UInt64, isAtMostOnce: Bool = false, isShort: (UInt64) -> Bool = { _ in false }
    ) -> (storedAt: UInt64?, attempt: FinishedAttempt?, refusals: Int, others: Int) {
        var dispatcher = Dispatcher.enlisted(capacity: 8)
        dispatcher.writes.put(attempt(1, isAtMostOnce: isAtMostOnce), now: moment)
        var time = moment
        var nextJob: Int64 = 2
        var refusals = 0
        var others = 0
        while time < moment + seconds * second {
            let at = (time - moment) / second
            if Int64(at) >= nextJob - 1 {
                dispatcher.writes.put(attempt(nextJob), now: time)
                nextJob += 1
            }
            guard let (number, exchange) = dispatcher.nextExchange(now: time) else {
                let next = moment + UInt64(nextJob - 1) * second
                time = max(time + 1, min(next, dispatcher.deadline(now: time) ?? next))
                continue
            }
            guard let batch = exchange.batch else { continue }
            let bad = batch.attempts.first { $0.lease.seq == 1 }
            if isShort(at) || bad?.isReduced == false {
                if bad != nil { refusals += 1 }
                _ = dispatcher.exchangeFailed(number, .shortage, now: time)
                continue
            }
            if bad == nil { others += batch.attempts.count }
            _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            if let bad { return (at, bad, refusals, others) }
        }
        return (nil, nil, refusals, others)
    }

    @Test func `a result refused for 15 minutes while others are stored is saved without its body`() throws {
        let result = run(seconds: 2000)
        let storedAt = try #require(result.storedAt)
        #expect((900...960).contains(storedAt))
        // After the first refusals, the waits are 30 s long.
        #expect((30...45).contains(result.refusals))
        #expect(result.others > 850)
        let attempt = try #require(result.attempt)
        #expect(attempt.verdict.kind == .failed && attempt.verdict.code == .internal && !attempt.isJudged)
        guard case .response(let response)? = attempt.outcome?.ending else {
            Issue.record("the answer is gone")
            return
        }
        #expect(response.status == 201 && response.body.isEmpty && !response.headerBlock.isEmpty)
    }

    @Test func `an at-most-once job whose result is refused for 15 minutes ends as unknown`() throws {
        let attempt = try #require(run(seconds: 2000, isAtMostOnce: true).attempt)
        #expect(attempt.verdict.kind == .unknown && attempt.verdict.code == .internal)
    }

    @Test func `time in which the database stores no result does not count towards 15 minutes`() throws {
        let result = run(seconds: 3000) { (100..<1100).contains($0) }
        let storedAt = try #require(result.storedAt)
        #expect((1850...2000).contains(storedAt))
        let never = run(seconds: 5000) { $0 > 10 }
        #expect(never.storedAt == nil)
    }

    @Test func `an at-most-once job whose call sent nothing fails instead of ending as unknown`() {
        var attempt = attempt(1, isAtMostOnce: true)
        attempt.outcome = CallOutcome(.failure(CallFailure(.connect, "refused", sent: .no)))
        #expect(attempt.reduced("x").verdict.kind == .failed)
        attempt.outcome = CallOutcome(.failure(CallFailure(.reset, "reset", sent: .maybe)))
        #expect(attempt.reduced("x").verdict.kind == .unknown)
        attempt.outcome = nil
        attempt.verdict = Verdict(.handedBack)
        #expect(attempt.reduced("x").verdict.kind == .failed)
    }

    @Test func `while results are refused, claims stop near twice the slots and waits reach 30 s`() {
        var dispatcher = Dispatcher.surveyed(capacity: 4, at: moment)
        var time = moment
        var claimed: [UInt64] = []
        var refusedAt: [UInt64] = []
        var seq: Int64 = 0
        var most = 0
        for _ in 0..<5000 where time < moment + 600 * second {
            _ = dispatcher.poll(now: time)
            guard let (number, exchange) = dispatcher.nextExchange(now: time) else {
                let moments = [dispatcher.deadline(now: time), dispatcher.nextLook(canSurvey: false)]
                time = max(time + 1, moments.compactMap { $0 }.min() ?? .max)
                continue
            }
            #expect(exchange.batch == nil || exchange.claim == nil || refusedAt.isEmpty)
            if exchange.batch != nil {
                refusedAt.append((time - moment) / 1_000_000)
                _ = dispatcher.exchangeFailed(number, .shortage, now: time)
            } else if var arrival = dispatcher.claimReturned(number) {
                for _ in 0..<arrival.claim.limit {
                    seq += 1
                    let job = ClaimedJob(
                        lease: .ofJob(seq), call: HTTPCall(url: "http://h/"), isAtMostOnce: false, okStatuses: .success)
                    guard let slot = dispatcher.jobArrived(job, &arrival) else { continue }
                    claimed.append((time - moment) / second)
                    dispatcher.callEnded(slot: slot, CallOutcome(.response(HTTPResponse(status: 200))), now: time)
                }
                _ = dispatcher.claimRead(arrival, now: time)
            }
            most = max(most, dispatcher.writes.finished.count + dispatcher.backoff.refused.count)
        }
        #expect(claimed.filter { $0 < 30 }.count <= 9)
        #expect(most <= 8 + 600 / 30 + 1)
        #expect(refusedAt.count <= 30)
        let gaps = zip(refusedAt.dropFirst(), refusedAt).map { $0 - $1 }
        #expect(gaps.prefix(4) == [250, 500, 1000, 2000])
        #expect(gaps.allSatisfy { $0 <= 30_000 })
    }

    @Test func `waiting results are reported with count, age and jobs until they are stored`() {
        var dispatcher = Dispatcher.enlisted(capacity: 8)
        for seq in 1...3 as ClosedRange<Int64> { dispatcher.writes.put(attempt(seq), now: moment) }
        #expect(dispatcher.backoff.waiting(dispatcher.writes) == nil)
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        _ = dispatcher.exchangeFailed(number, .shortage, now: moment)
        #expect(dispatcher.backoff.waiting(dispatcher.writes)?.count == 3)
        #expect(dispatcher.backoff.waiting(dispatcher.writes)?.since == moment)
        #expect(dispatcher.backoff.waitingJobs(dispatcher.writes, limit: 2) == [1, 2])
        let early = dispatcher.nextExchange(now: moment + 249_000_000) != nil
        #expect(!early)
        var time = moment + 250_000_000
        while let (number, exchange) = dispatcher.nextExchange(now: time), let batch = exchange.batch {
            _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            time += second
        }
        #expect(dispatcher.isWritten == true)
        #expect(dispatcher.backoff.waiting(dispatcher.writes) == nil)
    }
}
