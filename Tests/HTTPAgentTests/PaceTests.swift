// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// The time that a server may take before and after its interim answers.
struct PaceTests {
    private func limits(_ total: Duration, firstByte: Duration? = nil) -> CallLimits {
        CallLimits(total: total, firstByte: firstByte, lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
    }

    @Test func `a download or upload without a total limit fails as slow if no answer comes`() throws {
        let folder = try TestFolder()
        try folder.write("up", [UInt8](repeating: 65, count: 2_000))
        let target = try TargetServer { _ in [.hang] }
        let driver = try AgentDriver(filesRoot: folder.path)
        driver.agent.start(
            HTTPCall(
                url: target.url, download: Download(path: "down"), limits: limits(CallLimits.unlimited),
                allowsPrivateNetwork: true), slot: 0)
        driver.agent.start(
            HTTPCall(
                method: .post, url: target.url, body: .parts([BodyPart(name: "f", content: .file(path: "up"))]),
                limits: limits(CallLimits.unlimited), allowsPrivateNetwork: true), slot: 1)
        for call in try driver.wait(for: 2) {
            let failure = try call.outcome.failure()
            #expect(failure.code == .slow && failure.sent == .maybe, "\(failure)")
        }
        #expect(target.requests.count == 2)
    }

    @Test func `a first-byte limit replaces the low-speed limit while a call waits for its answer`() throws {
        let folder = try TestFolder()
        let target = try TargetServer { _ in [.pause(milliseconds: 3_500)] + TargetStep.answer(200, "there") }
        let driver = try AgentDriver(filesRoot: folder.path)
        var call = HTTPCall(
            url: target.url, download: Download(path: "down"),
            limits: limits(CallLimits.unlimited, firstByte: .seconds(15)), allowsPrivateNetwork: true)
        #expect(try driver.run(call).response().status == 200)
        call.limits.firstByte = .seconds(2)
        #expect(try driver.run(call).failure().code == .firstByteTimeout)
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func `an interim answer does not end the wait for the first byte`(status: String) throws {
        let interim = TargetStep.send([UInt8]("HTTP/1.1 \(status)\r\nLink: </a>\r\n\r\n".utf8))
        let target = try TargetServer { request in
            request.path == "/never"
                ? [interim, .hang] : [interim, .pause(milliseconds: 3_500)] + TargetStep.answer(200, "there")
        }
        let driver = try AgentDriver()
        var call = HTTPCall(
            method: .post, url: target.url, body: .bytes([1], contentType: nil), limits: limits(.seconds(15)),
            allowsPrivateNetwork: true)
        #expect(try driver.run(call).response().text == "there")
        (call.url, call.limits.firstByte) = (target.url + "/never", .seconds(1))
        let failure = try driver.run(call).failure()
        #expect(failure.code == .firstByteTimeout && failure.status == nil, "\(failure)")
    }
}
