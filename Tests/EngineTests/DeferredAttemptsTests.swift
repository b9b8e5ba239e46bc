// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Attempts that ended while a client's open transaction locks their rows.
struct DeferredAttemptsTests {
    private let moment: UInt64 = 5_000_000_000

    /// A dispatcher with a worker number, attempts to write, and nothing to claim.
    private func dispatcher(ended count: Int) -> Dispatcher {
        var dispatcher = Dispatcher.enlisted(capacity: count)
        for seq in 1...Int64(count) {
            dispatcher.writes.put(FinishedAttempt(lease: .ofJob(seq), verdict: .success, outcome: nil), now: moment)
        }
        return dispatcher
    }

    /// The course of 60 attempts, in seconds: when each was stored, and when the database refused which number.
    private struct Trial {
        var stored: [Int64: UInt64] = [:]
        var refusals: [(at: UInt64, count: Int, recovery: ExchangeRecovery)] = []
        var isWritten = false
    }

    /// Lets a database refuse batches that contain certain attempts.
    ///
    /// `refuses` gets an attempt's seq and the second. The last attempt ends once `lastAfter` attempts are stored.
    private func trial(
        _ cause: Rejection, seconds: UInt64, lastAfter: Int = .max, refuses: (Int64, UInt64) -> Bool
    ) -> Trial {
        var dispatcher = dispatcher(ended: 60)
        let second: UInt64 = 1_000_000_000
        var time = moment
        var trial = Trial()
        for _ in 0..<2000 where time < moment + seconds * second {
            if let (number, _) = dispatcher.nextQuestion(now: time) {
                _ = dispatcher.writes.questionAnswered(number, locked: [], now: time)
            }
            guard let (number, exchange) = dispatcher.nextExchange(now: time) else {
                time = dispatcher.deadline(now: time) ?? .max
                continue
            }
            if let batch = exchange.batch {
                let at = (time - moment) / second
                if batch.attempts.contains(where: { refuses($0.lease.seq, at) }) {
                    let recovery = dispatcher.exchangeFailed(number, cause, now: time)
                    trial.refusals.append((at, batch.attempts.count, recovery))
                    continue
                }
                for attempt in batch.attempts { trial.stored[attempt.lease.seq] = at }
                _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            }
            if let arrival = dispatcher.claimReturned(number) { _ = dispatcher.claimRead(arrival, now: time) }
            if trial.stored.count == lastAfter {
                dispatcher.writes.put(FinishedAttempt(lease: .ofJob(99), verdict: .success, outcome: nil), now: time)
            }
        }
        trial.isWritten = dispatcher.isWritten
        return trial
    }

    @Test func `a result refused even without its body waits alone while all other results are stored`() {
        let trial = trial(.unstorable, seconds: 200, lastAfter: 59) { seq, _ in seq == 7 }
        #expect(trial.refusals.filter { $0.recovery != .report }.map(\.recovery) == [.reportJob(7)])
        let later = trial.refusals.filter { $0.at > 1 }
        #expect(later.map(\.at) == [3, 7, 15, 31, 61, 91, 121, 151, 181])
        #expect(later.allSatisfy { $0.count == 1 })
        #expect(trial.stored.count == 60 && trial.stored.values.allSatisfy { $0 == 0 })
        #expect(!trial.isWritten)
    }

    @Test(arguments: [[7], [7, 31]])
    func `a repeatedly refused result is sent alone and delays other results at most 12 s`(bad: [Int64]) {
        let trial = trial(.failure, seconds: 100) { seq, _ in bad.contains(seq) }
        #expect(trial.refusals.allSatisfy { $0.recovery == .report })
        // The refusals come at 15, 31, 61 and 91 s, or a little later.
        #expect(trial.refusals.count { $0.at > 12 } <= bad.count * 5)
        #expect(trial.stored.count == 60 - bad.count && trial.stored.values.allSatisfy { $0 <= 12 })
    }

    @Test func `after half a minute of refusals, all results are stored within 32 s`() {
        let trial = trial(.failure, seconds: 100) { _, at in at < 30 }
        // The waits grow: 9 statements in half a minute. The next one is stored at most 30 s later.
        #expect(trial.refusals.count <= 9)
        #expect(trial.stored.count == 60 && trial.stored.values.allSatisfy { $0 <= 62 })
        #expect(trial.isWritten)
    }

    @Test func `results of locked rows are deferred at once and delay no other result`() {
        var dispatcher = dispatcher(ended: 60)
        let second: UInt64 = 1_000_000_000
        var time = moment
        var stored: [Int64: UInt64] = [:]
        var waits = 0
        var questions: [(at: UInt64, count: Int, isTold: Bool)] = []
        while !dispatcher.isWritten, time < moment + 200 * second {
            // Two of three rows are locked for half a minute.
            let isOpen = time < moment + 30 * second
            if let (number, leases) = dispatcher.nextQuestion(now: time) {
                let locked = isOpen ? leases.map(\.seq).filter { $0 % 3 > 0 } : []
                let isTold = dispatcher.writes.questionAnswered(number, locked: Set(locked), now: time)
                questions.append(((time - moment) / second, leases.count, isTold))
            }
            guard let (number, exchange) = dispatcher.nextExchange(now: time) else {
                time = dispatcher.deadline(now: time) ?? .max
                continue
            }
            if let batch = exchange.batch {
                if isOpen, batch.attempts.contains(where: { $0.lease.seq % 3 > 0 }) {
                    waits += 1
                    #expect(dispatcher.exchangeFailed(number, .locked, now: time) == .none)
                    continue
                }
                for attempt in batch.attempts { stored[attempt.lease.seq] = (time - moment) / second }
                _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            }
            if let arrival = dispatcher.claimReturned(number) { _ = dispatcher.claimRead(arrival, now: time) }
        }
        #expect(waits == 1)
        #expect(questions.map(\.at) == [0, 5, 15, 35])
        #expect(questions.map(\.count) == [60, 40, 40, 40])
        #expect(questions.map(\.isTold) == [false, false, true, false])
        #expect(stored.filter { $0.key % 3 == 0 }.values.allSatisfy { $0 == 0 })
        #expect(stored.filter { $0.key % 3 > 0 }.values.allSatisfy { $0 == 35 })
        #expect(stored.count == 60)
    }

    @Test(arguments: [false, true])
    func `a result that waits for a lock outside its row is isolated and retried`(isDraining: Bool) {
        var dispatcher = dispatcher(ended: 60)
        if isDraining { dispatcher.drain() }
        let second: UInt64 = 1_000_000_000
        var time = moment
        var stored: [Int64: UInt64] = [:]
        var waits: [(at: UInt64, count: Int, recovery: ExchangeRecovery)] = []
        for _ in 0..<400 where !dispatcher.isWritten {
            if let (number, _) = dispatcher.nextQuestion(now: time) {
                _ = dispatcher.writes.questionAnswered(number, locked: [], now: time)
            }
            guard let (number, exchange) = dispatcher.nextExchange(now: time) else {
                time = dispatcher.deadline(now: time) ?? .max
                continue
            }
            if let batch = exchange.batch {
                let seqs = batch.attempts.map(\.lease.seq)
                if seqs.contains(7), time < moment + 20 * second {
                    let recovery = dispatcher.exchangeFailed(number, .locked, now: time)
                    waits.append(((time - moment) / second, seqs.count, recovery))
                    continue
                }
                for seq in seqs { stored[seq] = (time - moment) / second }
                _ = dispatcher.finishReturned(number, stored: seqs.count)
            }
            if let arrival = dispatcher.claimReturned(number) { _ = dispatcher.claimRead(arrival, now: time) }
        }
        #expect(dispatcher.isWritten == true)
        #expect(waits.prefix(3).map(\.count) == [60, 60, 1])
        #expect(waits.dropFirst(3).allSatisfy { $0.count == 1 })
        // At the end of a worker, the tries come once a second.
        #expect(waits.map(\.at) == (isDraining ? [0, 0] + Array(0..<20) : [0, 0, 0, 5, 15]))
        #expect(waits.count { $0.recovery == .report } == 1)
        #expect(isDraining || waits.last?.recovery == .report)
        #expect(stored.count == 60)
        #expect(stored.filter { $0.value > 0 }.map(\.key) == [7])
        #expect(stored[7] == (isDraining ? 20 : 35))
    }

    @Test func `a deferred result keeps its lease and is still written while the worker drains`() {
        var dispatcher = dispatcher(ended: 1)
        if let (number, _) = dispatcher.nextExchange(now: moment) {
            _ = dispatcher.exchangeFailed(number, .locked, now: moment)
        }
        #expect(dispatcher.nextExchange(now: moment)?.exchange.batch == nil)
        #expect(dispatcher.isWritten == false)
        #expect(dispatcher.nextQuestion(now: moment) != nil)
        // The answer is lost with the connection.
        dispatcher.connectionLost([], now: moment)
        #expect(dispatcher.beginEnlisting()?.held.map(\.seq) == [1])
        _ = dispatcher.enlisted(2, held: [1])
        dispatcher.drain()
        var time = moment
        for _ in 0..<3 {
            let question = dispatcher.nextQuestion(now: time)
            #expect(question?.leases.map(\.seq) == [1])
            _ = dispatcher.writes.questionAnswered(question?.number ?? 0, locked: [1], now: time)
            #expect(dispatcher.nextQuestion(now: time) == nil)
            #expect(dispatcher.isWritten == false)
            time += DeferredAttempts.shortPause
        }
        let question = dispatcher.nextQuestion(now: time)
        _ = dispatcher.writes.questionAnswered(question?.number ?? 0, locked: [], now: time)
        #expect(dispatcher.nextExchange(now: time)?.exchange.batch?.attempts.count == 1)
    }
}
