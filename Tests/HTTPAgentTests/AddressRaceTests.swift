// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// A name with addresses of both families, one of which is silent.
///
/// After 200 ms libcurl also tries the other address. It then closes the first socket without notice.
@Suite(.serialized)
struct AddressRaceTests {
    private func call(_ url: String) -> HTTPCall {
        HTTPCall(url: url, limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
    }

    @Test func `a call uses the second address if the first is silent, and reuses that connection`() throws {
        let silent = try SilentPort()
        let target = try TargetServer(beside: silent) { _ in TargetStep.answer(200, "right") }
        let driver = try AgentDriver()
        for number in 1...3 {
            let outcome = try driver.run(call("http://localhost:\(silent.port)/"))
            #expect(try outcome.response().text == "right", "\(outcome)")
            #expect(outcome.remoteIP == "::1" && outcome.reused == (number > 1), "\(outcome)")
            for _ in 1...3 { try driver.turn(for: 10) }
        }
        #expect(target.requests.count == 3)
    }

    @Test func `a call is answered although its socket reuses the number of a silently closed socket`() throws {
        let silent = try SilentPort()
        let slow = try TargetServer(beside: silent) { _ in TargetStep.answer(200, "slow") }
        let quick = try TargetServer { _ in TargetStep.answer(200, "quick") }
        // Other tests open and close descriptors at the same time. In one round another test may take the number.
        for _ in 1...3 {
            let driver = try AgentDriver()
            #expect(try driver.run(call("http://localhost:\(silent.port)/")).response().text == "slow")
            #expect(try driver.run(call("http://no-such-host.invalid/")).failure().code == .dns)
            // Without a watched descriptor, libcurl would find the answer only at its own checks: first after 200 ms,
            // then after 10 s.
            for _ in 1...2 {
                var innocent = call(quick.url)
                innocent.limits.total = .seconds(8)
                driver.agent.start(innocent, slot: 0)
                // In the turn in which the name lookup ended, as in a worker.
                driver.agent.timeout()
                let outcome = try #require(try driver.wait(for: 1).first?.outcome)
                #expect(try outcome.response().text == "quick", "\(outcome)")
            }
        }
        #expect(slow.requests.count == 3)
    }
}
