// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

struct RedirectTests {
    private let body = RequestBody.bytes([UInt8]("payload".utf8), contentType: "text/plain")

    @Test(arguments: [
        (HTTPMethod.get, 301, "GET", true), (.post, 301, "GET", false), (.post, 302, "GET", false),
        (.post, 303, "GET", false),
        (.put, 301, "PUT", true), (.delete, 303, "GET", false), (.head, 303, "HEAD", false), (.post, 307, "POST", true),
        (.post, 308, "POST", true), (.patch, 302, "PATCH", true),
    ])
    func `a redirect changes the method and drops the body as RFC 9110 demands`(
        method: HTTPMethod, status: Int, next: String, keepsBody: Bool
    ) throws {
        let server = try HostileServer()
        let call = HTTPCall(
            method: method, url: server.url("/redirect?status=\(status)&to=/echo"), body: body,
            allowsPrivateNetwork: true)
        #expect(try AgentDriver().run(call).response().status == 200)
        let request = server.lastRequest(for: "/echo")
        #expect(request.hasPrefix("\(next) /echo "))
        #expect(request.hasSuffix("payload") == keepsBody)
        #expect(request.contains("Content-Type") == keepsBody)
    }

    @Test func `a redirect to another origin sends no secrets and keeps Accept, Accept-Language and User-Agent`() throws
    {
        let other = try HostileServer()
        let headers = [
            HTTPHeader("Authorization", "secret"), HTTPHeader("X-Api-Key", "secret"), HTTPHeader("Cookie", "secret"),
            HTTPHeader("Accept", "a/b"), HTTPHeader("Accept-Language", "de"), HTTPHeader("User-Agent", "me"),
        ]
        let path = "/redirect?to=\(other.url("/echo"))"
        #expect(try AgentDriver().run(Hostile.call(path, headers: headers)).response().status == 200)
        let request = other.lastRequest(for: "/echo")
        #expect(!request.contains("secret"))
        #expect(
            request.contains("Accept: a/b") && request.contains("Accept-Language: de")
                && request.contains("User-Agent: me"))
        #expect(
            try AgentDriver().run(Hostile.call("/redirect?to=/echo", headers: headers)).response().text.contains(
                "X-Api-Key"))
    }

    @Test(arguments: ["#part", ""])
    func `a Location without path or query leads to the same URL`(location: String) throws {
        let target = try TargetServer { request in
            request.turn > 1
                ? TargetStep.answer(200, "there") : TargetStep.answer(302, headers: ["Location: \(location)"])
        }
        let outcome = try AgentDriver().run(HTTPCall(url: target.url + "/a/b/c?z=1", allowsPrivateNetwork: true))
        #expect(try outcome.response().text == "there")
        #expect(target.requests.map(\.path) == ["/a/b/c?z=1", "/a/b/c?z=1"])
    }

    @Test func `a non-ASCII byte in Location is percent-encoded without conversion`() throws {
        for (bytes, path) in [([0xE9], "/caf%E9"), ([0xC3, 0xA9], "/caf%C3%A9")] as [([UInt8], String)] {
            let target = try TargetServer { request in
                if request.path != "/" { return TargetStep.answer(200, "there") }
                let head = [UInt8]("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: /caf".utf8)
                return [.send(head + bytes + [UInt8]("\r\n\r\n".utf8))]
            }
            let outcome = try AgentDriver().run(HTTPCall(url: target.url + "/", allowsPrivateNetwork: true))
            #expect(try outcome.response().text == "there")
            #expect(target.requests.last?.path.uppercased() == path.uppercased())
        }
    }

    @Test func `a redirect does not send the body to another origin`() throws {
        let other = try HostileServer()
        let call = try Hostile.call("/redirect?status=307&to=\(other.url("/echo"))", method: .post, body: body)
        let failure = try AgentDriver().run(call).failure()
        #expect(failure.code == .deniedRedirect && failure.status == 307 && failure.sent == .maybe)
        // Both origins have the same host. Only the ports in the message distinguish them.
        let from = try Hostile.server.url("")
        #expect(failure.message.contains("from \(from) to another origin, \(other.url(""));"), "\(failure.message)")
        #expect(other.requests(for: "/echo") == 0)
    }

    @Test(arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "http:///x", "gopher://127.0.0.1/"])
    func `a redirect to a forbidden scheme or an invalid URL is denied`(target: String) throws {
        let failure = try AgentDriver().run(Hostile.call("/redirect?to=\(target)")).failure()
        #expect(failure.code == .deniedRedirect, "\(failure)")
    }

    @Test func `a redirect loop ends after the allowed number of redirects`() throws {
        let server = try HostileServer()
        let call = HTTPCall(url: server.url("/loop"), limits: CallLimits(maxRedirects: 5), allowsPrivateNetwork: true)
        #expect(try AgentDriver().run(call).failure().code == .deniedRedirect)
        #expect(server.requests(for: "/loop") == 6)
    }

    @Test func `a 3xx is the answer if redirects are disabled or Location is missing`() throws {
        let driver = try AgentDriver()
        let limits = CallLimits(maxRedirects: 0)
        #expect(try driver.run(Hostile.call("/loop", limits: limits)).response().status == 302)
        #expect(try driver.run(Hostile.call("/status?code=302")).response().status == 302)
        #expect(try driver.run(Hostile.call("/redirect?status=304&to=/ok")).response().status == 304)
    }

    @Test func `credentials that a server puts into Location are not used`() throws {
        let url = try Hostile.server.url("/echo").replacing("http://", with: "http://a:b@")
        let text = try AgentDriver().run(Hostile.call("/redirect?to=\(url)")).response().text
        #expect(!text.contains("Authorization"))
    }

    @Test func `a redirect sends the URL's user and password only within the same origin`() throws {
        let other = try HostileServer()
        for (target, isTold) in [("/echo", true), (other.url("/echo"), false)] {
            var call = try Hostile.call("/redirect?to=\(target)")
            call.url = call.url.replacing("http://", with: "http://a:b@")
            let text = try AgentDriver().run(call).response().text
            #expect(text.contains("Authorization: Basic YTpi") == isTold, "\(text)")
        }
    }
}
