// SPDX-License-Identifier: Apache-2.0
import Glibc
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// Reuse of descriptor numbers: the system gives the lowest free number.
struct ReusedDescriptorTests {
    @Test func `a download works although its descriptor reuses the number of a just closed socket`() throws {
        let target = try TargetServer { request in
            request.path == "/hang" ? [.hang] : TargetStep.answer(200, "hello")
        }
        // Other tests open and close descriptors at the same time and may take the number.
        for _ in 1...200 {
            let folder = try TestFolder()
            let driver = try AgentDriver(filesRoot: folder.path)
            let before = target.requests.count
            driver.agent.start(HTTPCall(url: target.url + "/hang", allowsPrivateNetwork: true), slot: 0)
            try TestClock.wait(10, for: "a request") {
                try driver.turn(for: 5)
                return target.requests.count > before
            }
            let number = driver.watched.first
            driver.agent.cancel(slot: 0)
            let download = Download(path: "file")
            driver.agent.start(
                HTTPCall(url: target.url + "/file", download: download, allowsPrivateNetwork: true), slot: 1)
            guard let number, driver.agent.folder.disk?.descriptor == number else { continue }
            #expect(try driver.wait(for: 1, seconds: 5).first?.outcome.download?.isComplete == true)
            return
        }
        Issue.record("no disk got the number of a call's socket")
    }

    @Test func `the agent ignores a foreign socket that reuses an idle connection's descriptor number`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, "right") }
        let driver = try AgentDriver()
        let call = HTTPCall(url: target.url, allowsPrivateNetwork: true)
        #expect(try driver.run(call).response().text == "right")
        try driver.turn(for: 10)
        let number = try #require(driver.watched.first)
        let connection = dup(number)
        var pair: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair + [connection] { close(descriptor) } }
        // dup2 leaves no moment in which the number is free for another test.
        dup2(pair[0], number)
        var byte: UInt8 = 65
        #expect(unsafe send(pair[1], &byte, 1, 0) == 1)
        driver.agent.socketReady(number, readable: true, writable: true)
        #expect(unsafe recv(pair[0], &byte, 1, Int32(MSG_DONTWAIT)) == 1 && byte == 65)
        #expect(unsafe send(pair[0], &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
        dup2(connection, number)
    }
}
