// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// TLS calls that wait for a connection which another call is opening.
struct ParkedCallTests {
    private func call(_ target: TargetServer, total: Duration, connect: Duration) -> HTTPCall {
        HTTPCall(
            url: target.url.replacing("http:", with: "https:"), limits: CallLimits(total: total, connect: connect),
            allowsPrivateNetwork: true)
    }

    @Test func `while a handshake never ends, each waiting call ends at its own limit`() throws {
        // The target reads the TLS bytes and never answers, because they are not HTTP.
        let target = try TargetServer()
        let driver = try AgentDriver()
        for slot in 0..<8 {
            let total: Duration = slot == 7 ? .milliseconds(300) : .seconds(20)
            driver.agent.start(call(target, total: total, connect: .seconds(1)), slot: slot)
        }
        let began = TestClock.now
        let first = try driver.wait(for: 1)
        #expect(first.map(\.slot) == [7])
        let rest = try driver.wait(for: 7)
        #expect(TestClock.now - began < 2_500_000_000, "\(TestClock.now - began) ns")
        for ended in first + rest {
            let failure = try ended.outcome.failure()
            // The total limit of slot 7 counts as a connect timeout too, since no request began.
            #expect(failure.code == .connectTimeout && failure.sent == .no, "\(failure)")
            let total = ended.outcome.timings.total
            #expect(total >= (ended.slot == 7 ? 290_000 : 990_000) && total < 2_000_000, "\(ended)")
        }
    }
}
