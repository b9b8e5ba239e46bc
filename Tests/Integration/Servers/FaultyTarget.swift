// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport

/// A target that answers 200 until the test lets it fail. With `everyNth`, only each nth request fails.
final class FaultyTarget: Sendable {
    let target: TargetServer
    private let faults: Faults

    /// Fails with these steps from the start; nil lets it succeed.
    init(failing steps: [TargetStep]? = nil, everyNth: Int = 1) throws {
        let faults = Faults(steps, everyNth)
        target = try TargetServer { _ in faults.answer() }
        self.faults = faults
    }

    /// Fails with these steps from now on; nil lets it succeed.
    func fail(_ steps: [TargetStep]?) { faults.steps.withLock { $0 = steps } }

    /// The number of requests so far.
    var count: Int { target.requests.count }

    private final class Faults: Sendable {
        let steps: Mutex<[TargetStep]?>
        private let turn = Mutex(0)
        private let everyNth: Int

        init(_ steps: [TargetStep]?, _ everyNth: Int) {
            self.steps = Mutex(steps)
            self.everyNth = everyNth
        }

        func answer() -> [TargetStep] {
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            if turn % everyNth == 0, let steps = steps.withLock({ $0 }) { return steps }
            return TargetStep.answer(200)
        }
    }
}
