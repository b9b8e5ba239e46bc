// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

@testable import Engine

/// Log lines about statements that failed.
struct EngineEventTests {
    @Test(arguments: [("26000", true), ("42P05", true), ("42883", false)])
    func `the log hints at --prepare off after an error about prepared statements`(state: String, isHinted: Bool) {
        let error = PGError(.server, operation: "runQueueDuties", "no", sqlState: SQLState(rawValue: state))
        guard
            case .statementFailed("runQueueDuties", let reason) = EngineEvent.statementFailed(
                verb: "runQueueDuties", error: error)
        else {
            Issue.record("it is another event")
            return
        }
        #expect(reason.hasPrefix("no (SQLSTATE \(state))"))
        #expect(reason.contains("--prepare off") == isHinted)
    }
}
