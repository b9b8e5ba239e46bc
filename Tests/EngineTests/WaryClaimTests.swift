// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Claims after a failed claim. One bad ready row may make each claim fail.
struct WaryClaimTests {
    @Test func `for a minute after a failed claim, claims take only leases and results go alone`() {
        let moment: UInt64 = 5_000_000_000
        var dispatcher = Dispatcher.surveyed(capacity: 4, at: moment)
        dispatcher.writes.put(FinishedAttempt(lease: .ofJob(1), verdict: .success, outcome: nil), now: moment)
        let first = dispatcher.nextExchange(now: moment)
        #expect(first?.exchange.batch != nil && first?.exchange.claim?.takesLeasesOnly == false)
        #expect(dispatcher.exchangeFailed(first?.number ?? 0, .aborted, now: moment) == .none)
        #expect(dispatcher.exchangeFailed(first?.number ?? 0, .unstorable, now: moment) == .report)
        let rested = moment + 250_000_000
        let finish = dispatcher.nextExchange(now: rested)
        #expect(finish?.exchange.batch != nil && finish?.exchange.claim == nil)
        _ = dispatcher.finishReturned(finish?.number ?? 0, stored: 1)
        let bare = dispatcher.nextExchange(now: rested)
        #expect(bare?.exchange.claim?.takesLeasesOnly == true)
        dispatcher.takeBack(bare?.number ?? 0, now: rested)
        let later = dispatcher.nextExchange(now: moment + 60_000_000_000)
        #expect(later?.exchange.claim?.takesLeasesOnly == false)
    }
}
