// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

struct ResendTests {
    @Test func `each call has its own resend, however many calls before it had theirs`() throws {
        // A connection answers once and closes when it is used again.
        let target = try TargetServer { request in request.turn % 2 == 1 ? TargetStep.answer(200) : [.close] }
        let driver = try AgentDriver()
        let call = HTTPCall(url: target.url, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        for number in 1...30 {
            #expect(try driver.run(call).response().status == 200, "call \(number)")
        }
        #expect(target.requests.count == 59)
    }

    @Test func `a handle that is made as new keeps its transport`() throws {
        let proxy = try TargetServer { request in request.turn % 2 == 1 ? TargetStep.answer(200, "proxy") : [.close] }
        let driver = try AgentDriver()
        let call = HTTPCall(
            url: "http://127.0.0.1:1/", transport: Transport(proxy: proxy.url),
            limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        for _ in 1...9 { #expect(try driver.run(call).response().text == "proxy") }
    }
}
