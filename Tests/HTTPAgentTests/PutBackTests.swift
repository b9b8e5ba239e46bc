// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import Testing

/// Finished calls that the owner of the agent could not yet process.
struct PutBackTests {
    @Test func `finished calls that are put back come first at once and can still be cancelled`() throws {
        let driver = try AgentDriver()
        for slot in 0..<4 { driver.agent.start(HTTPCall(url: "none:", allowsPrivateNetwork: true), slot: slot) }
        let calls = driver.agent.takeFinished()
        #expect(calls.map(\.slot) == [0, 1, 2, 3] && driver.agent.nextDeadline == nil)
        driver.agent.start(HTTPCall(url: "none:", allowsPrivateNetwork: true), slot: 0)
        driver.agent.putBack(calls[1...])
        #expect(driver.agent.nextDeadline == 0)
        #expect(driver.agent.cancel(slot: 2) == .no)
        #expect(driver.agent.takeFinished().map(\.slot) == [1, 3, 0])
        #expect(driver.agent.nextDeadline == nil)
    }
}
