// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// One ready row may make each claim fail: what the worker does after one has failed.
struct WaryClaimTests {
    @Test func `attempts are written without a claim, and claims take leases only, for a minute`() {
        let moment: UInt64 = 5_000_000_000
        var dispatcher = Dispatcher(capacity: 4, canListen: true)
        _ = dispatcher.beginEnlisting()
        _ = dispatcher.enlisted(1, held: [])
        dispatcher.surveyReturned([.init(track: 1, priority: 0, firstSeq: 1)], now: moment)
        let lease = Lease(track: 1, seq: 1, fence: 7, jobID: 1, attempt: 1)
        let verdict = Verdict(.succeeded, nil, nil)
        dispatcher.write(FinishedAttempt(lease: lease, verdict: verdict, outcome: nil), now: moment)
        let first = dispatcher.nextExchange(now: moment)
        #expect(first?.exchange.batch != nil && first?.exchange.claim?.isBare == false)
        #expect(dispatcher.exchangeFailed(first?.number ?? 0, .aborted, now: moment) == .none)
        #expect(dispatcher.exchangeFailed(first?.number ?? 0, .unstorable, now: moment) == .report)
        let rested = moment + 250_000_000
        let finish = dispatcher.nextExchange(now: rested)
        #expect(finish?.exchange.batch != nil && finish?.exchange.claim == nil)
        _ = dispatcher.finishReturned(finish?.number ?? 0, stored: 1)
        let bare = dispatcher.nextExchange(now: rested)
        #expect(bare?.exchange.claim?.isBare == true)
        dispatcher.takeBack(bare?.number ?? 0, now: rested)
        let later = dispatcher.nextExchange(now: moment + 60_000_000_000)
        #expect(later?.exchange.claim?.isBare == false)
    }
}
