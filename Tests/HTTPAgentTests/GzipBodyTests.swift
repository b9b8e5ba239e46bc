// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct GzipBodyTests {
    private func call(_ url: String, _ body: RequestBody, headers: [HTTPHeader] = []) -> HTTPCall {
        HTTPCall(
            method: .post, url: url, headers: headers, body: body, compressesBody: true,
            limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
    }

    @Test func `a compressed request body arrives unchanged and takes fewer bytes on the wire`() throws {
        let server = try FormServer()
        let driver = try AgentDriver()
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 100) }
        let outcome = try driver.run(call(server.url, .bytes(body, contentType: "application/x-test")))
        #expect(try outcome.response().body == body)
        #expect(outcome.bytesSent < 100_000)
        #expect(try driver.run(call(server.url, .bytes([7], contentType: "a/b"))).response().body == [7])
        let plain = HTTPCall(
            method: .post, url: server.url, body: .bytes([9], contentType: "a/b"), allowsPrivateNetwork: true)
        #expect(try driver.run(plain).response().body == [9])
    }

    @Test func `Content-Encoding: gzip is sent only with a compressed body, also after redirects`() throws {
        let driver = try AgentDriver()
        func text(_ path: String, _ body: RequestBody, _ headers: [HTTPHeader] = []) throws -> String {
            try driver.run(call(Hostile.server.url(path), body, headers: headers)).response().text
        }
        let form = try text("/echo", .form([FormField("a", "b")]))
        #expect(form.contains("Content-Encoding: gzip\r\n") && form.contains("x-www-form-urlencoded"))
        let moved = try text("/redirect?status=307&to=/echo", .bytes([1, 2], contentType: nil))
        #expect(moved.contains("Content-Encoding: gzip\r\n"))
        let got = try text("/redirect?status=303&to=/echo", .bytes([1, 2], contentType: nil))
        #expect(!got.contains("Content-Encoding"))
        let own = try text("/echo", .bytes([65, 66], contentType: nil), [HTTPHeader("content-encoding", "br")])
        #expect(
            own.contains("content-encoding: br\r\n") && !own.contains("Content-Encoding: gzip")
                && own.hasSuffix("\r\n\r\nAB"))
        let empty = try text("/echo", .bytes([], contentType: nil))
        #expect(!empty.contains("Content-Encoding"))
    }

    @Test func `the agent reports the progress of a call in flight`() throws {
        let driver = try AgentDriver()
        driver.agent.start(try Hostile.call("/drip"), slot: 5)
        var seen = driver.agent.progress(slot: 4)
        #expect(seen == nil)
        try TestClock.wait(15, for: "progress of a slow answer") {
            try driver.turn(for: 20)
            seen = driver.agent.progress(slot: 5)
            return (seen?.received ?? 0) > 1
        }
        #expect(seen?.slot == 5 && seen?.receiveTotal == 100_000 && seen?.sendTotal == nil)
        driver.agent.cancel(slot: 5)
    }
}
