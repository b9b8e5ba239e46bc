// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The messages to the service manager, without a socket.
struct ServiceReportsTests {
    private let second: UInt64 = 1_000_000_000

    /// Reports one condition after the other, one second apart. Returns the messages.
    private func messages(
        _ conditions: [ServiceReports.Condition], watchdogTimeout: UInt64? = nil, refusing: Set<Int> = []
    ) -> [String] {
        var reports = ServiceReports(watchdogTimeout: watchdogTimeout, drain: .seconds(30))
        var messages: [String] = []
        for (turn, condition) in conditions.enumerated() {
            reports.report(condition, now: UInt64(turn + 1) * second) { text in
                messages.append(text)
                return !refusing.contains(turn)
            }
        }
        return messages
    }

    private let connecting = "STATUS=Connects to the database."
    private let claiming = "STATUS=Claims jobs and makes their calls."

    @Test func `READY=1 is sent once, when the worker first claims`() {
        #expect(
            messages([.disconnected, .disconnected, .claiming, .claiming, .disconnected, .claiming]) == [
                connecting, "READY=1\n" + claiming, connecting, claiming,
            ])
    }

    @Test func `a drain is reported once, with the time that the stop may take`() {
        #expect(
            messages([.claiming, .draining(calls: 1), .draining(calls: 0)]) == [
                "READY=1\n" + claiming,
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=40000000\nSTATUS=Finishes 1 call and claims no more jobs.",
            ])
    }

    @Test func `WATCHDOG=1 is sent in half of the timeout`() {
        let sent = messages(Array(repeating: .claiming, count: 9), watchdogTimeout: 6 * second)
        #expect(sent == ["READY=1\n\(claiming)\nWATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"])
        var reports = ServiceReports(watchdogTimeout: 6 * second, drain: .zero)
        reports.report(.claiming, now: 10 * second) { _ in true }
        #expect(reports.deadline == 13 * second)
        #expect(ServiceReports(watchdogTimeout: nil, drain: .zero).deadline == nil)
    }

    @Test func `a message that the socket refuses is sent again after one second`() {
        let ready = "READY=1\n" + claiming
        #expect(messages([.claiming, .claiming, .claiming], refusing: [0]) == [ready, ready])
        var reports = ServiceReports(watchdogTimeout: 6 * second, drain: .zero)
        reports.report(.claiming, now: 10 * second) { _ in false }
        #expect(reports.deadline == 11 * second)
        reports.report(.claiming, now: 10 * second + 1) { _ in
            Issue.record("sent before the second is over")
            return true
        }
    }
}
