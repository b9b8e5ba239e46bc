// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Answers over HTTP/2 with more headers than libcurl usually reads at once.
@Suite(.serialized)
struct LargeHeadersTests {
    private func call(_ nginx: NginxServer, _ kilobytes: Int) -> HTTPCall {
        HTTPCall(
            url: "https://localhost:\(nginx.tlsPort)/headers\(kilobytes)", limits: CallLimits(total: .seconds(15)),
            allowsPrivateNetwork: true)
    }

    @Test func `HTTP/2 answers with up to 120 KB of headers arrive complete, alone and concurrently`() throws {
        let nginx = try NginxServer(firstPort: 21_990)
        let driver = try AgentDriver(slots: 16, caFile: nginx.caFile)
        for kilobytes in [15, 17, 24, 120] {
            for count in [1, 1, 16] {
                for slot in 0..<count { driver.agent.start(call(nginx, kilobytes), slot: slot) }
                for finished in try driver.wait(for: count) {
                    let outcome = finished.outcome
                    let answer = try outcome.response()
                    #expect(answer.text == "hello" && outcome.httpVersion == "2", "\(kilobytes) KB")
                    #expect(answer.headerLines.count { $0.hasPrefix("1") || $0.hasPrefix("2") } == kilobytes)
                }
            }
        }
    }

    @Test func `an HTTP/2 answer with more than 128 KiB of headers fails as headers_too_large`() throws {
        let nginx = try NginxServer(firstPort: 21_996)
        let driver = try AgentDriver(slots: 16, caFile: nginx.caFile)
        for isRepeatable in [true, false, true] {
            var large = call(nginx, 160)
            large.isRepeatable = isRepeatable
            let failure = try driver.run(large).failure()
            #expect(failure.code == .headersTooLarge, "\(failure)")
            // Uses the same handle, and the connection of the next large answer.
            #expect(try driver.run(call(nginx, 120)).response().text == "hello")
        }
    }

    /// libcurl's HTTP/2 session does not survive such headers.
    ///
    /// The other calls on the connection see a broken connection and are retried. Sometimes the call with the headers
    /// sees it too.
    @Test func `calls that share a connection with oversized headers complete or fail with connection errors`() throws {
        let nginx = try NginxServer(firstPort: 22_002)
        let driver = try AgentDriver(slots: 16, caFile: nginx.caFile)
        for round in 1...4 {
            for slot in 0..<16 {
                driver.agent.start(call(nginx, slot == 7 ? 160 : slot % 2 == 0 ? 120 : 15), slot: slot)
            }
            for finished in try driver.wait(for: 16) {
                switch finished.outcome.ending {
                case .response(let answer): #expect(answer.text == "hello" && finished.slot != 7)
                case .failure(let failure):
                    let codes: [ErrorCode] = [.reset, .truncated, .emptyReply, .send]
                    let isBroken = codes.contains(failure.code) && failure.sent == .maybe
                    let isTooLarge = failure.code == .headersTooLarge && finished.slot == 7
                    #expect(isBroken || isTooLarge, "\(round), \(finished.slot): \(failure)")
                }
            }
        }
    }
}
