// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import Reactor
import Testing

/// Stubs, which the agent answers without a network.
struct AgentStubTests {
    /// The host does not exist, so a real call would fail.
    private func call(_ stub: StubAnswer, method: HTTPMethod = .get) -> HTTPCall {
        var call = HTTPCall(method: method, url: "http://api.invalid/")
        call.stub = stub
        return call
    }

    private func response(_ outcome: CallOutcome) throws -> HTTPResponse {
        var found: HTTPResponse?
        if case .response(let response) = outcome.ending { found = response }
        return try #require(found, "no answer: \(outcome)")
    }

    @Test func `a stub answers after its delay, with lower-case header names`() throws {
        let driver = try AgentDriver()
        let began = MonotonicClock.now
        let outcome = try driver.run(
            call(
                StubAnswer(
                    status: 429, headers: [HTTPHeader("Retry-After", "7")], body: [65], delay: .milliseconds(100))))
        #expect(MonotonicClock.now - began >= 100_000_000)
        let response = try response(outcome)
        #expect(response.status == 429 && response.body == [65])
        #expect(response.headerBlock == [UInt8]("retry-after: 7\n".utf8))
        #expect(response.retryAfter == .seconds(7))
        #expect(outcome.remoteIP == nil && outcome.timings.total >= 100_000)
        #expect(driver.agent.callsInFlight == 0 && driver.watched.isEmpty)
    }

    @Test func `a stub slower than the timeout ends its call with timeout`() throws {
        let driver = try AgentDriver()
        var slow = call(StubAnswer(status: 200, delay: .seconds(60)))
        slow.limits.total = .milliseconds(50)
        guard case .failure(let failure) = try driver.run(slow).ending else {
            Issue.record("it answered")
            return
        }
        #expect(failure.code == .timeout && failure.sent == .maybe)
    }

    @Test func `a stub above max_response is too large, and HEAD has no body`() throws {
        let driver = try AgentDriver()
        var large = call(StubAnswer(status: 200, body: Array(repeating: 65, count: 11)))
        large.limits.maxResponseBytes = 10
        guard case .failure(let failure) = try driver.run(large).ending else {
            Issue.record("it answered")
            return
        }
        #expect(failure.code == .tooLarge)
        #expect(try response(driver.run(call(StubAnswer(status: 200, body: [65]), method: .head))).body.isEmpty)
    }

    @Test func `a cancelled stub frees its slot for another call, and the others still end`() throws {
        let driver = try AgentDriver()
        driver.agent.start(call(StubAnswer(status: 200, delay: .seconds(60))), slot: 0)
        driver.agent.start(call(StubAnswer(status: 201, delay: .milliseconds(20))), slot: 1)
        #expect(driver.agent.cancel(slot: 0) == .no)
        driver.agent.start(call(StubAnswer(status: 202)), slot: 0)
        let ended = try driver.wait(for: 2)
        #expect(try Set(ended.map { try response($0.outcome).status }) == [201, 202])
        #expect(driver.agent.callsInFlight == 0 && driver.agent.nextDeadline == nil)
    }
}
