// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Calls for which the worker has no pool of connections left.
@Suite(.serialized, .enabled(if: sysconf(Int32(_SC_OPEN_MAX)) >= 8_192, "needs 2,100 descriptors"))
struct LackTests {
    /// An agent that has used all its pools. The transports of ended calls keep their pools.
    private func exhausted(filesRoot: String) throws -> AgentDriver {
        let driver = try AgentDriver(slots: 520, filesRoot: filesRoot)
        for slot in 0..<513 {
            let transport = Transport(interface: "127.1.\(slot / 200).\(slot % 200 + 1)")
            driver.agent.start(
                HTTPCall(url: "http://127.0.0.1:1/", transport: transport, allowsPrivateNetwork: true), slot: slot)
        }
        for call in try driver.wait(for: 513) { #expect(try call.outcome.failure().code != .internal) }
        return driver
    }

    @Test func `a download without a free connection pool fails retryably and sends nothing`() throws {
        let folder = try TestFolder()
        let driver = try exhausted(filesRoot: folder.path)
        let failure = try driver.run(
            HTTPCall(url: "https://127.0.0.1:1/", download: Download(path: "file"), allowsPrivateNetwork: true)
        ).failure()
        #expect(failure.code == .internal && failure.isRetryable && failure.isLocal && failure.sent == .no)
    }

    @Test func `a redirect without a free connection pool fails retryably after its first request`() throws {
        let folder = try TestFolder()
        let driver = try exhausted(filesRoot: folder.path)
        let target = try TargetServer { _ in TargetStep.answer(302, headers: ["Location: https://127.0.0.1:1/"]) }
        let call = HTTPCall(url: target.url, download: Download(path: "file"), allowsPrivateNetwork: true)
        let failure = try driver.run(call).failure()
        #expect(failure.code == .internal && failure.isRetryable && failure.isLocal && failure.sent == .maybe)
        #expect(target.requests.count == 1)
    }
}
