// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct RealServerTests {
    private func call(_ url: String) -> HTTPCall {
        HTTPCall(url: url, limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
    }

    @Test func `bodies arrive intact over plain HTTP, gzip, TLS and HTTP/2`() throws {
        let nginx = try NginxServer(firstPort: 21_900)
        let driver = try AgentDriver(slots: 32, caFile: nginx.caFile)
        let plain = try driver.run(call("http://localhost:\(nginx.port)/big"))
        #expect(try plain.response().body == [UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
        #expect(try plain.response().headerLines.contains("content-encoding: gzip"))
        #expect(plain.bytesReceived < 2_000 && plain.httpVersion == "1.1")
        let secure = try driver.run(call("https://localhost:\(nginx.tlsPort)/big"))
        #expect(try secure.response().body.count == 100_000)
        #expect(secure.httpVersion == "2" && secure.timings.tls > secure.timings.connect && secure.timings.connect > 0)

        for slot in 0..<32 { driver.agent.start(call("https://localhost:\(nginx.tlsPort)/text"), slot: slot) }
        let many = try driver.wait(for: 32)
        for finished in many { #expect(try finished.outcome.response().text == "hello") }
        #expect(many.allSatisfy { $0.outcome.reused && $0.outcome.httpVersion == "2" })
    }

    @Test func `calls that must not repeat all succeed on a server that closes its connections`() throws {
        let nginx = try NginxServer(firstPort: 21_908)
        let driver = try AgentDriver(slots: 8, caFile: nginx.caFile)
        func call(shares: Bool) -> HTTPCall {
            var call = self.call("https://alt.localhost:\(nginx.tlsPort)/text")
            call.isRepeatable = shares
            call.mayShareConnection = shares
            return call
        }
        #expect(try driver.run(call(shares: true)).httpVersion == "2")
        for slot in 0..<8 { driver.agent.start(call(shares: false), slot: slot) }
        var left = 192
        while driver.agent.callsInFlight > 0 {
            for finished in try driver.wait(for: 1) {
                #expect(try finished.outcome.response().text == "hello" && finished.outcome.httpVersion == "1.1")
                if left > 0 { driver.agent.start(call(shares: false), slot: finished.slot) }
                left -= 1
            }
        }
        #expect(left == -8)
        let other = try driver.run(call(shares: true))
        #expect(other.httpVersion == "2" && other.reused)
    }

    @Test func `an untrusted or mismatched certificate fails as tls_verify, and a non-TLS server as tls`() throws {
        let nginx = try NginxServer(firstPort: 21_903)
        let trusting = try AgentDriver(caFile: nginx.caFile)
        let unknown = try AgentDriver().run(call("https://localhost:\(nginx.tlsPort)/text")).failure()
        #expect(unknown.code == .tlsVerify && unknown.sent == .no)
        let wrong = try trusting.run(call("https://localhost:\(nginx.wrongNamePort)/text")).failure()
        #expect(wrong.code == .tlsVerify && wrong.sent == .no)
        let plain = try trusting.run(call("https://localhost:\(nginx.port)/text")).failure()
        #expect(plain.code == .tls && plain.sent == .no)
        let answer = try trusting.run(call("http://localhost:\(nginx.wrongNamePort)/text")).response()
        #expect(answer.status == 400)
    }

    @Test func `a redirect to TLS on another port is followed for GET but not for POST`() throws {
        let nginx = try NginxServer(firstPort: 21_906)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let url = "http://localhost:\(nginx.port)/up"
        #expect(try driver.run(call(url)).response().text == "hello")
        let post = HTTPCall(
            method: .post, url: url, body: .bytes([65], contentType: nil), allowsPrivateNetwork: true)
        #expect(try driver.run(post).failure().code == .deniedRedirect)
    }

    @Test func `a call to an unknown host name fails as dns and sends nothing`() throws {
        let failure = try AgentDriver().run(call("http://no-such-host.invalid/")).failure()
        #expect(failure.code == .dns && failure.sent == .no)
    }

    @Test func `fast calls complete while silent calls hold a third of the slots`() throws {
        let driver = try AgentDriver(slots: 24)
        for slot in 0..<8 { driver.agent.start(try Hostile.call("/silent"), slot: slot) }
        var ended = 0
        for slot in 8..<24 { driver.agent.start(try Hostile.call("/ok"), slot: slot) }
        while ended < 400 {
            for finished in try driver.wait(for: 1) {
                #expect(try finished.outcome.response().text == "ok")
                ended += 1
                driver.agent.start(try Hostile.call("/ok"), slot: finished.slot)
            }
        }
        #expect(driver.agent.callsInFlight == 24)
    }
}
