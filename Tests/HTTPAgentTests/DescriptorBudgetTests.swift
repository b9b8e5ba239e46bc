// SPDX-License-Identifier: Apache-2.0
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// The descriptors that connections may use, over all pools.
struct DescriptorBudgetTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer { request in
            request.path == "/held" ? [.held] + TargetStep.answer(200) : TargetStep.answer(200)
        }
    }

    private func start(_ path: String, from number: Int, slots: Range<Int>, in driver: AgentDriver) {
        let transport = number == 0 ? nil : Transport(interface: "127.0.0.\(number + 1)")
        for slot in slots {
            driver.agent.start(
                HTTPCall(
                    url: target.url + path, transport: transport, limits: CallLimits(total: .seconds(60)),
                    allowsPrivateNetwork: true), slot: slot)
        }
    }

    @Test func `the descriptor budget serves calls first and gives idle connections the rest`() {
        #expect(DescriptorBudget.needed(forCalls: 10_000) == 20_064)
        #expect(DescriptorBudget(allowed: 20_064).mostCalls == 10_000)
        #expect(DescriptorBudget(allowed: 20).mostCalls == 1)
        #expect(DescriptorBudget(allowed: 1024).connections(slots: 64) == 768)
        // However low the limit is, the pool keeps connections.
        #expect(DescriptorBudget(allowed: 192).connections(slots: 64) == 112)
    }

    @Test func `transports used one after the other keep idle connections within the descriptor budget`() throws {
        let driver = try AgentDriver(descriptors: DescriptorBudget(allowed: 144))
        for number in 0..<20 {
            start("/ok", from: number, slots: 0..<8, in: driver)
            for call in try driver.wait(for: 8) { #expect(try call.outcome.response().status == 200) }
            #expect(driver.agent.loop.descriptorsHeld < 56 + 8 + 8)
        }
        let last = try driver.run(
            HTTPCall(
                url: target.url + "/ok", transport: Transport(interface: "127.0.0.20"), allowsPrivateNetwork: true))
        #expect(last.reused)
    }

    @Test func `transports in use at the same time keep idle connections within the descriptor budget`() throws {
        let driver = try AgentDriver(slots: 20, descriptors: DescriptorBudget(allowed: 204))
        for number in 0..<10 { start("/held", from: number, slots: number..<(number + 1), in: driver) }
        for round in 0..<3 {
            for number in 0..<10 {
                start("/ok\(round)", from: number, slots: 10..<20, in: driver)
                for call in try driver.wait(for: 10) { #expect(try call.outcome.response().status == 200) }
                #expect(driver.agent.loop.descriptorsHeld < 80 + 20)
            }
        }
        target.release()
        for call in try driver.wait(for: 10) { #expect(try call.outcome.response().status == 200) }
    }

    @Test func `the agent frees the descriptors of idle connections and keeps connections in use`() throws {
        let driver = try AgentDriver()
        start("/held", from: 1, slots: 0..<1, in: driver)
        start("/ok", from: 0, slots: 1..<4, in: driver)
        start("/ok", from: 2, slots: 4..<8, in: driver)
        for call in try driver.wait(for: 7) { #expect(try call.outcome.response().status == 200) }
        let before = driver.agent.loop.descriptorsHeld
        // This process still has free descriptors.
        driver.agent.closeIdleConnectionsIfShort()
        #expect(driver.agent.loop.descriptorsHeld == before)
        driver.agent.loop.closeIdleConnections()
        #expect(driver.agent.loop.descriptorsHeld == before - 7)
        target.release()
        let held = try driver.wait(for: 1)
        #expect(try held[0].outcome.response().status == 200)
    }
}
