// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// The speed below which a download fails.
struct DownloadPaceTests {
    @Test func `a download whose server stalls after a pause for the disk fails as slow`() throws {
        let folder = try TestFolder()
        let driver = try AgentDriver(filesRoot: folder.path)
        let target = try TargetServer { _ in
            [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n0123".utf8)), .hang]
        }
        let limits = CallLimits(
            total: CallLimits.unlimited, firstByte: nil, lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        driver.agent.start(
            HTTPCall(
                url: target.url, download: Download(path: "file"), limits: limits, allowsPrivateNetwork: true), slot: 0)
        try TestClock.wait(10, for: "a request") {
            try driver.turn(for: 10)
            // The part file is open, and the request is sent.
            if target.requests.isEmpty { _ = driver.agent.takeFinished() }
            return target.requests.count == 1
        }
        // The test takes no bytes, like a busy disk does. So the body waits, and libcurl pauses.
        let transfer = try #require(driver.agent.table[0]?.transfer)
        try TestClock.wait(10, for: "a pause") {
            try driver.turn(for: 10)
            return unsafe ccurl_transfer_is_paused(transfer.handle)
        }
        let due = driver.agent.table.sweep.dueAt
        try TestClock.wait(10, for: "a look at the pace") {
            driver.agent.timeout()
            return driver.agent.table.sweep.dueAt != due
        }
        let failure = try #require(try driver.wait(for: 1, seconds: 20).first).outcome.failure()
        #expect(failure.code == .slow, "\(failure)")
        #expect(folder.size("file.part") == 4)
    }
}
