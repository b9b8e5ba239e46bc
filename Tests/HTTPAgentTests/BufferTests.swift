// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

/// The memory of the buffers into which answers are read.
struct BufferTests {
    @Test func `answers stay whole while the memory of unused buffers is returned`() throws {
        let server = try HostileServer()
        let driver = try AgentDriver(slots: 80)
        // More than 64 calls, so that more than one word of the bitmap is in use.
        for round in 0..<3 {
            let bodies = (0..<80).map { slot in
                (0..<30_000).map { UInt8(truncatingIfNeeded: ($0 + slot) &* 31 &+ round) }
            }
            for (slot, body) in bodies.enumerated() {
                driver.agent.start(
                    HTTPCall(
                        method: .put, url: server.url("/echo"), body: .bytes(body, contentType: nil),
                        allowsPrivateNetwork: true),
                    slot: slot)
            }
            var left = 80
            let limit = TestClock.now + 20_000_000_000
            while left > 0 {
                try driver.turn(for: 10)
                driver.agent.returnMemory()
                for ended in driver.agent.takeFinished() {
                    let answer = try ended.outcome.response().body
                    #expect(Array(answer.suffix(30_000)) == bodies[ended.slot], "slot \(ended.slot)")
                    left -= 1
                }
                try #require(TestClock.now < limit, "\(left) calls did not end in time")
            }
        }
    }

    /// The pages of the 16,384 buffers that are in memory, in KiB.
    private func resident() throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let area = try #require(text.firstRange(of: " 262144 kB\nKernelPageSize"))
        let line = try #require(text[area.upperBound...].split(separator: "\n").first { $0.hasPrefix("Rss:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has areas of the same size"))
    func `the memory of buffers is returned after the calls`() throws {
        let server = try HostileServer()
        let driver = try AgentDriver(slots: 400)
        let body = [UInt8](repeating: 7, count: 40_000)
        for slot in 0..<400 {
            driver.agent.start(
                HTTPCall(
                    method: .put, url: server.url("/echo"), body: .bytes(body, contentType: nil),
                    allowsPrivateNetwork: true),
                slot: slot)
        }
        _ = try driver.wait(for: 400)
        let before = try resident()
        driver.agent.returnMemory()
        let after = try resident()
        // Calls of other tests use buffers, too.
        #expect(before > 1_600 && after < before / 2, "\(before) KiB before, \(after) KiB after")
    }
}
