// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The states of a worker's number, with and without a drain.
struct LifecycleTests {
    @Test func `a worker takes jobs only with a number, while heartbeats reach the database`() {
        var lifecycle = Lifecycle()
        #expect(lifecycle == .working(.unregistered(former: 0)) && !lifecycle.takesJobs)
        #expect(lifecycle.requestNumber() == 0)
        #expect(lifecycle == .working(.registering(former: 0)) && !lifecycle.takesJobs)
        lifecycle.numberGiven(7)
        #expect(lifecycle == .working(.active(worker: 7)) && lifecycle.takesJobs)
        lifecycle.heartbeats(areOverdue: true)
        #expect(lifecycle == .working(.unheard(worker: 7)) && !lifecycle.takesJobs && lifecycle.worker == 7)
        lifecycle.heartbeats(areOverdue: false)
        #expect(lifecycle == .working(.active(worker: 7)))
    }

    @Test func `only one request for a number is under way, and a failed one may be repeated`() {
        var lifecycle = Lifecycle()
        _ = lifecycle.requestNumber()
        #expect(lifecycle.requestNumber() == nil)
        lifecycle.requestFailed()
        #expect(lifecycle == .working(.unregistered(former: 0)))
        #expect(lifecycle.requestNumber() == 0)
    }

    @Test func `the next number takes over the leases of the last one, however the last one was lost`() {
        var lifecycle = Lifecycle()
        lifecycle.numberGiven(7)
        lifecycle.heartbeats(areOverdue: true)
        lifecycle.numberLost()
        #expect(lifecycle == .working(.unregistered(former: 7)) && lifecycle.worker == 0)
        #expect(lifecycle.requestNumber() == 7)
        // The connection is lost while the request is under way.
        lifecycle.numberLost()
        #expect(lifecycle.requestNumber() == 7)
        lifecycle.numberGiven(8)
        // The database has declared the worker lost, so the request begins with a number.
        #expect(lifecycle.requestNumber() == 8)
        #expect(lifecycle.worker == 0)
    }

    @Test func `a draining worker registers again, but takes no jobs`() {
        var lifecycle = Lifecycle()
        lifecycle.numberGiven(7)
        lifecycle.drain()
        lifecycle.heartbeats(areOverdue: true)
        #expect(lifecycle == .draining(.unheard(worker: 7)) && lifecycle.isUnheard)
        lifecycle.numberLost()
        #expect(lifecycle.requestNumber() == 7)
        lifecycle.numberGiven(8)
        #expect(lifecycle == .draining(.active(worker: 8)))
        #expect(lifecycle.isDraining && !lifecycle.takesJobs)
    }

    @Test func `a worker without a number ignores overdue heartbeats and failed requests`() {
        var lifecycle = Lifecycle()
        lifecycle.heartbeats(areOverdue: true)
        #expect(lifecycle == .working(.unregistered(former: 0)))
        lifecycle.numberGiven(7)
        lifecycle.requestFailed()
        #expect(lifecycle == .working(.active(worker: 7)))
    }
}
