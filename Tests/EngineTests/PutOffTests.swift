// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Claimed jobs whose preparation fails.
struct PutOffTests {
    private let moment: UInt64 = 5_000_000_000

    /// A dispatcher that has claimed jobs with preparations for all its slots, and claims no more while it drains.
    private func dispatcher(rich count: Int, isDraining: Bool = true) -> Dispatcher {
        var dispatcher = Dispatcher.surveyed(capacity: count, at: moment)
        claim(&dispatcher, 1...Int64(count))
        if isDraining { dispatcher.drain() }
        return dispatcher
    }

    /// Lets a claim return jobs that need a preparation.
    private func claim(_ dispatcher: inout Dispatcher, _ seqs: ClosedRange<Int64>) {
        let jobs = seqs.map { seq in
            ClaimedJob(lease: .ofJob(seq), call: nil, isAtMostOnce: false, okStatuses: .success)
        }
        _ = dispatcher.claim(jobs, at: moment)
    }

    @Test func `a job whose preparation waits for a lock is handed back while others are prepared`() {
        var dispatcher = dispatcher(rich: 9)
        var time = moment
        var waits: [(at: UInt64, count: Int, hasShortLockTimeout: Bool, recovery: ExchangeRecovery)] = []
        var prepared: [Int64: UInt64] = [:]
        for _ in 0..<100 where dispatcher.writes.finished.isEmpty {
            guard let (number, leases) = dispatcher.nextPreparation(now: time) else {
                guard let due = dispatcher.deadline(now: time), due > time else { break }
                time = due
                continue
            }
            let hasShortLockTimeout = dispatcher.preparations.hasShortLockTimeout(number)
            let after = (time - moment) / 1_000_000
            if leases.contains(where: { $0.seq == 5 }) {
                let recovery = dispatcher.preparationFailed(number, .locked, now: time)
                waits.append((after, leases.count, hasShortLockTimeout, recovery))
            } else {
                for id in (dispatcher.preparationReturned(number) ?? [:]).keys { prepared[id] = after }
            }
        }
        #expect(waits.map(\.count) == [9, 1, 1, 1, 1, 1])
        #expect(waits.map(\.at) == [0, 0, 500, 1500, 3500, 4000])
        #expect(waits.map(\.hasShortLockTimeout) == [false, true, true, true, true, true])
        #expect(waits.map(\.recovery) == [.report, .none, .none, .none, .none, .none])
        #expect(prepared.count == 8)
        #expect(prepared.values.allSatisfy { $0 == 0 })
        // The exchanges went on meanwhile, and the job's slot is free.
        #expect(dispatcher.slots.inUse == 8)
        #expect(dispatcher.nextExchange(now: time)?.exchange.batch?.attempts.map(\.verdict.kind) == [.handedBack])
    }

    @Test func `a failed preparation of a cancelled job does not end the next job in its slot`() {
        var dispatcher = dispatcher(rich: 1, isDraining: false)
        let number = dispatcher.nextPreparation(now: moment)?.number ?? 0
        #expect(dispatcher.jobCancelled(1, fence: 7, now: moment) == 0)
        claim(&dispatcher, 2...2)
        #expect(dispatcher.preparationFailed(number, .unstorable, now: moment) == .none)
        #expect(dispatcher.writes.finished.isEmpty == true)
        #expect(dispatcher.slots.running.map(\.job.lease.seq) == [2])
    }

    /// Refuses each preparation that contains one of these jobs. Returns the size of each refused preparation, and the
    /// written attempts.
    private func refuse(
        _ bad: Set<Int64>, of count: Int, seconds: UInt64
    ) -> (sizes: [Int], prepared: Int, written: [Int64: Verdict]) {
        var dispatcher = dispatcher(rich: count)
        var time = moment
        var sizes: [Int] = []
        var prepared = 0
        for _ in 0..<200 {
            guard let (number, leases) = dispatcher.nextPreparation(now: time) else {
                guard let due = dispatcher.preparations.deadline(now: time), due < moment + seconds * 1_000_000_000
                else { break }
                time = due
                continue
            }
            if leases.contains(where: { bad.contains($0.seq) }) {
                sizes.append(leases.count)
                #expect(dispatcher.preparationFailed(number, .shortage, now: time) == .report)
            } else {
                prepared += dispatcher.preparationReturned(number)?.count ?? 0
            }
        }
        let written = dispatcher.writes.finished.map { ($0.lease.seq, $0.verdict) }
        return (sizes, prepared, Dictionary(written) { first, _ in first })
    }

    @Test func `only the job whose preparation is refused goes back, all other jobs are prepared`() {
        let result = refuse([5], of: 16, seconds: 60)
        #expect(result.prepared == 15)
        #expect(result.sizes.last == 1)
        #expect(result.written.mapValues(\.kind) == [5: .unprepared])
    }

    @Test func `if all preparations are refused, all jobs are handed back for four seconds`() {
        let result = refuse(Set(1...16), of: 16, seconds: 60)
        #expect(result.prepared == 0)
        #expect(result.sizes == [16, 4, 1, 1, 1])
        #expect(result.written.count == 16)
        #expect(result.written.values.allSatisfy { $0.kind == .handedBack && $0.retryAfter == .seconds(4) })
    }
}
