// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

struct RequestTests {
    @Test(arguments: HTTPMethod.allCases)
    func `every method keeps its name and headers, with and without a body`(method: HTTPMethod) throws {
        let driver = try AgentDriver()
        let body: [UInt8] = [0, 13, 10, 255, 65]
        for sent in [RequestBody.none, .bytes(body, contentType: "application/x-test"), .none] {
            let server = try HostileServer()
            let call = HTTPCall(method: method, url: server.url("/echo"), body: sent, allowsPrivateNetwork: true)
            #expect(try driver.run(call).response().status == 200)
            let request = server.lastRequest(for: "/echo")
            #expect(request.hasPrefix("\(method.rawValue) /echo HTTP/1.1\r\n"))
            #expect(!request.contains("Expect:"))
            let carries = sent != .none && method != .head
            #expect(request.contains("Content-Type: application/x-test") == carries)
            #expect(request.contains("form-urlencoded") == false)
            #expect(
                request.contains("Content-Length: \(carries ? 5 : 0)")
                    == (carries || [.post, .put, .patch].contains(method)))
        }
    }

    @Test func `a request body of 200,000 bytes arrives unchanged`() throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let response = try AgentDriver().run(
            Hostile.call("/echo", method: .put, body: .bytes(body, contentType: nil))
        ).response()
        #expect(Array(response.body.suffix(body.count)) == body)
        #expect(response.text.contains("Content-Length: 200000\r\n\r\n"))
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func `a large request body is sent without an Expect header`(method: HTTPMethod) throws {
        let large = [UInt8](repeating: 65, count: (1 << 20) + 1)
        let bodies: [RequestBody] = [
            .bytes(large, contentType: nil), .form([FormField("a", String(decoding: large, as: UTF8.self))]),
            .parts([BodyPart(name: "a", content: .bytes(large))]),
        ]
        for (body, gzip) in bodies.map({ ($0, false) }) + [(bodies[0], true)] {
            let target = try TargetServer { _ in TargetStep.answer(200) }
            var call = HTTPCall(
                method: method, url: target.url, body: body, limits: CallLimits(total: .seconds(20)),
                allowsPrivateNetwork: true)
            call.compressesBody = gzip
            #expect(try AgentDriver().run(call).response().status == 200)
            let request = try #require(target.requests.first)
            #expect(request.header("expect") == nil && Int(request.header("content-length") ?? "") ?? 0 > 1_000)
        }
    }

    @Test func `a query uses percent-encoding and a form uses form encoding`() throws {
        let fields = [FormField("a b", "c/d&e=f~g"), FormField("ü", "+")]
        let query = try AgentDriver().run(Hostile.call("/echo?x=1", query: fields)).response().text
        #expect(query.lowercased().hasPrefix("get /echo?x=1&a%20b=c%2fd%26e%3df~g&%c3%bc=%2b http/1.1"))
        let form = try AgentDriver().run(Hostile.call("/echo", method: .post, body: .form(fields))).response().text
        #expect(form.hasSuffix("\r\n\r\na+b=c%2Fd%26e%3Df~g&%C3%BC=%2B"))
        #expect(form.contains("Content-Type: application/x-www-form-urlencoded"))
    }

    @Test func `headers keep their order and duplicates, and an empty value is sent`() throws {
        let headers = [
            HTTPHeader("X-A", "1"), HTTPHeader("X-B", ""), HTTPHeader("x-a", "2"), HTTPHeader("Accept", "text/x"),
        ]
        let text = try AgentDriver().run(Hostile.call("/echo", headers: headers)).response().text
        #expect(text.contains("X-A: 1\r\nX-B:\r\nx-a: 2\r\nAccept: text/x\r\n"))
        #expect(!text.contains("*/*"))
        #expect(text.contains("User-Agent: postrider/\(ProductVersion.current)\r\n"))
    }

    @Test func `the URL's user and password become Basic authorization unless the job sets Authorization`() throws {
        let driver = try AgentDriver()
        let url = try Hostile.server.url("/echo").replacing("http://", with: "http://us%65r:p%20%3A@")
        let call = HTTPCall(url: url, allowsPrivateNetwork: true)
        #expect(try driver.run(call).response().text.contains("Authorization: Basic dXNlcjpwIDo=\r\n"))
        let own = HTTPCall(url: url, headers: [HTTPHeader("authorization", "mine")], allowsPrivateNetwork: true)
        let text = try driver.run(own).response().text
        #expect(text.contains("authorization: mine") && !text.contains("Basic"))
    }

    @Test(arguments: [
        "", "127.0.0.1/x", "ftp://h/", "http:/h/", "http:///h", "http://", "http://h:0/", "http://h:70000/",
        "http://a b/",
        "http://h/a b", "http://h/\r\nX: 1", "http://h\\@i/", "http://@h/", "file:///etc/passwd", "http://h%00/",
        "http://u%0d:p@h/", "http://u%3Av:p@h/", "/x", "http:h", "gopher://h/",
    ])
    func `an invalid URL is refused before any network access`(url: String) throws {
        let outcome = try AgentDriver().run(HTTPCall(url: url, allowsPrivateNetwork: true))
        let failure = try outcome.failure()
        #expect(failure.code == .badURL, "\(failure)")
        #expect(failure.sent == .no)
        #expect(outcome.timings == CallTimings())
    }

    @Test(arguments: [
        HTTPHeader("X-A", "a\r\nX-B: b"), HTTPHeader("X-A", "a\nb"), HTTPHeader("X-A", "a\0b"), HTTPHeader("X A", "a"),
        HTTPHeader("", "a"), HTTPHeader("X:", "a"), HTTPHeader(":authority", "h"), HTTPHeader("Hüt", "a"),
        HTTPHeader("Host", "h"), HTTPHeader("content-length", "3"), HTTPHeader("Transfer-Encoding", "chunked"),
        HTTPHeader("Proxy-Authorization", "x"), HTTPHeader("TE", "trailers"),
    ])
    func `a header with invalid syntax or reserved for the transport is refused`(header: HTTPHeader) throws {
        let failure = try AgentDriver().run(Hostile.call("/ok", headers: [header])).failure()
        #expect(failure.code == .badHeader)
        #expect(failure.sent == .no)
    }

    @Test func `a second call reuses the connection and reports zero connect time`() throws {
        let driver = try AgentDriver()
        let first = try driver.run(Hostile.call("/ok"))
        let second = try driver.run(Hostile.call("/ok"))
        #expect(!first.reused && first.timings.connect > 0)
        #expect(second.reused && second.timings.connect == 0)
        #expect(second.remoteIP == "127.0.0.1" && second.httpVersion == "1.1")
        #expect(second.timings.total >= second.timings.firstByte && second.timings.firstByte > 0)
        #expect(second.bytesReceived == 40 && second.bytesSent > 80)
    }

    @Test func `a refused connection fails as connect with nothing sent`() throws {
        let failure = try AgentDriver().run(HTTPCall(url: "http://127.0.0.1:1/", allowsPrivateNetwork: true)).failure()
        #expect(failure.code == .connect && failure.sent == .no)
    }

    @Test func `a cancelled call has no outcome and its slot is free`() throws {
        let driver = try AgentDriver()
        driver.agent.start(try Hostile.call("/ok"), slot: 3)
        #expect(driver.agent.cancel(slot: 3) == .no)
        driver.agent.start(try Hostile.call("/silent"), slot: 3)
        let server = try Hostile.server
        let before = server.requests(for: "/silent")
        while server.requests(for: "/silent") == before { try driver.turn(for: 5) }
        #expect(driver.agent.cancel(slot: 3) == .maybe)
        #expect(driver.agent.callsInFlight == 0)
        driver.agent.start(try Hostile.call("/ok"), slot: 3)
        #expect(try driver.wait(for: 1).map(\.slot) == [3])
    }

    @Test func `Retry-After is reported as a duration, and a negative value is ignored`() throws {
        let driver = try AgentDriver()
        #expect(
            try driver.run(Hostile.call("/status?code=503&retry-after=1.5")).response().retryAfter
                == .milliseconds(1_500))
        #expect(try driver.run(Hostile.call("/status?code=429&retry-after=-1")).response().retryAfter == nil)
    }
}
