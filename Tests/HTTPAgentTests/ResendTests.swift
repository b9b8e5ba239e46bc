// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

struct ResendTests {
    @Test func `each of 30 calls on dead connections is sent again and succeeds`() throws {
        // Each connection answers once and closes when it is used again.
        let target = try TargetServer { request in request.turn % 2 == 1 ? TargetStep.answer(200) : [.close] }
        let driver = try AgentDriver()
        let call = HTTPCall(url: target.url, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        for number in 1...30 {
            #expect(try driver.run(call).response().status == 200, "call \(number)")
        }
        #expect(target.requests.count == 59)
    }

    @Test func `a repeated request uses a new connection although other idle connections exist`() throws {
        let target = try TargetServer { request in
            request.path == "/dead" && request.turn == 1 ? [.close] : TargetStep.answer(200)
        }
        let driver = try AgentDriver(slots: 4)
        func call(_ path: String) -> HTTPCall {
            HTTPCall(url: target.url + path, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        }
        for slot in 0..<4 { driver.agent.start(call("/"), slot: slot) }
        _ = try driver.wait(for: 4)
        let outcome = try driver.run(call("/dead"))
        #expect(try outcome.response().status == 200 && !outcome.reused, "\(outcome)")
        #expect(target.requests("/dead").count == 2)
        // The other connections are still open, and the next call takes one.
        #expect(try driver.run(call("/")).reused)
    }

    @Test func `a call that must not repeat uses a new connection and closes it`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200) }
        let driver = try AgentDriver()
        for _ in 1...10 {
            var call = HTTPCall(
                url: target.url, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
            #expect(try driver.run(call).response().status == 200)
            call.isRepeatable = false
            call.mayShareConnection = false
            let outcome = try driver.run(call)
            #expect(try outcome.response().status == 200 && !outcome.reused, "\(outcome)")
        }
        #expect(target.requests.count == 20)
        #expect(target.requests.count { $0.header("connection") == "close" } == 10)
        try TestClock.wait(10, for: "one open connection") {
            try driver.turn(for: 10)
            return driver.watched.count == 1
        }
    }

    @Test func `the error of a broken request says whether the request was repeated`() throws {
        let nginx = try NginxServer(firstPort: 22_040)
        let server = try RefusingServer(as: nginx)
        let driver = try AgentDriver(caFile: nginx.caFile)
        func call(_ method: HTTPMethod) -> HTTPCall {
            HTTPCall(
                method: method, url: server.url, body: method == .post ? .bytes([65], contentType: nil) : .none,
                limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        }
        let post = try driver.run(call(.post)).failure()
        #expect(post.code == .reset && post.message.contains("may have arrived and was not repeated"), "\(post)")
        let get = try driver.run(call(.get)).failure()
        #expect(get.code == .reset && get.sent == .maybe, "\(get)")
        #expect(get.message.contains("the repeated request, which was not sent a third time"), "\(get)")
    }

    @Test func `an HTTP/2 connection that closes before any answer is an empty reply`() throws {
        let nginx = try NginxServer(firstPort: 22_046)
        let server = try RefusingServer(as: nginx, closes: true)
        let driver = try AgentDriver(caFile: nginx.caFile)
        for method in [HTTPMethod.get, .post] {
            let failure = try driver.run(
                HTTPCall(
                    method: method, url: server.url, limits: CallLimits(total: .seconds(20)),
                    allowsPrivateNetwork: true)
            ).failure()
            #expect(failure.code == .emptyReply && failure.sent == .maybe && failure.status == nil, "\(failure)")
        }
    }

    @Test func `a call that is sent again keeps its proxy`() throws {
        let proxy = try TargetServer { request in request.turn % 2 == 1 ? TargetStep.answer(200, "proxy") : [.close] }
        let driver = try AgentDriver()
        let call = HTTPCall(
            url: "http://127.0.0.1:1/", transport: Transport(proxy: proxy.url),
            limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        for _ in 1...9 { #expect(try driver.run(call).response().text == "proxy") }
    }

    @Test func `headers and URLs too large for libcurl fail as bad_header and bad_url`() throws {
        let driver = try AgentDriver()
        let headers = (1...300).map { HTTPHeader("X-\($0)", String(repeating: "a", count: 7_000)) }
        let large = try driver.run(Hostile.call("/ok", headers: headers)).failure()
        #expect(large.code == .badHeader && large.sent == .no && large.message.contains("bytes"), "\(large)")
        let nearly = (1...60).map { HTTPHeader("X-\($0)", String(repeating: "a", count: 8_000)) }
        #expect(try driver.run(Hostile.call("/ok", headers: nearly)).response().status == 200)
        let query = [FormField("q", String(repeating: "a", count: 9_000_000))]
        let long = try driver.run(Hostile.call("/ok", query: query)).failure()
        #expect(long.code == .badURL && long.message.contains("500000 bytes with its query"), "\(long)")
        let path = try driver.run(Hostile.call("/" + String(repeating: "a", count: 600_000))).failure()
        #expect(path.code == .badURL && path.message.contains("500000 bytes"), "\(path)")
    }

    /// A whole answer before the end of the request over HTTP/2.
    ///
    /// nginx sends it without having read the request's body. It ends the stream with RST_STREAM (RFC 9113 §8.1).
    /// libcurl 7.88 sometimes drops the bytes of one read with that frame, or waits. Such a call does not count as a
    /// cut answer.
    @Test func `an HTTP/2 answer counts although the server stops reading the request`() throws {
        let nginx = try NginxServer(firstPort: 22_008)
        let driver = try AgentDriver(slots: 8, caFile: nginx.caFile)
        let call = HTTPCall(
            method: .post, url: "https://localhost:\(nginx.tlsPort)/nothing", body: .bytes([65, 66], contentType: nil),
            limits: CallLimits(total: .seconds(3)), allowsPrivateNetwork: true)
        var whole = 0
        for _ in 0..<10 {
            for slot in 0..<8 { driver.agent.start(call, slot: slot) }
            for finished in try driver.wait(for: 8) {
                switch finished.outcome.ending {
                case .failure(let failure): #expect(failure.code != .truncated, "\(failure)")
                case .response(let answer):
                    #expect(answer.status == 204 && answer.body.isEmpty)
                    #expect(finished.outcome.httpVersion == "2")
                    whole += 1
                }
            }
        }
        #expect(whole > 0)
    }
}
