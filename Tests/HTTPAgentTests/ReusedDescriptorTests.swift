// SPDX-License-Identifier: Apache-2.0
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// Numbers of descriptors: the system gives the lowest that is free.
struct ReusedDescriptorTests {
    @Test func `the first download of an agent may get the number of a call's socket, closed in the same turn`() throws
    {
        let target = try TargetServer { request in
            request.path == "/hang" ? [.hang] : TargetStep.answer(200, "hello")
        }
        // Other tests open and close descriptors meanwhile: the number may be somebody else's.
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
            guard let number, driver.agent.disk?.descriptor == number else { continue }
            #expect(try driver.wait(for: 1, seconds: 5).first?.outcome.download?.isComplete == true)
            return
        }
        Issue.record("no disk got the number of a call's socket")
    }
}
