// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The health that a worker reports on its pages.
struct WorkerHealthTests {
    private let moment: UInt64 = 1_000_000_000_000

    @Test(arguments: [
        (true, false, WorkerHealth.Condition.ready), (false, false, .disconnected), (true, true, .draining),
        (false, true, .draining),
    ])
    func `the health condition follows the last turn and becomes stalled after 30 s`(
        isConnected: Bool, isDraining: Bool, condition: WorkerHealth.Condition
    ) {
        let workerHealth = WorkerHealth()
        workerHealth.turned(now: moment, calls: 7, isConnected: isConnected, isDraining: isDraining)
        #expect(workerHealth.calls == 7)
        #expect(workerHealth.condition(now: moment) == condition)
        #expect(workerHealth.condition(now: moment + 29_999_999_999) == condition)
        #expect(workerHealth.condition(now: moment + 30_000_000_000) == .stalled(seconds: 30))
    }

    @Test func `a worker that has not started counts as disconnected`() {
        #expect(WorkerHealth().condition == .disconnected)
    }
}
