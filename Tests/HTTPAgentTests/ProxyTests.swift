// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct ProxyTests {
    private func call(_ url: String, _ proxy: String, headers: [HTTPHeader] = [], allow: Bool = true) -> HTTPCall {
        HTTPCall(
            url: url, headers: headers, transport: Transport(proxy: proxy), limits: CallLimits(total: .seconds(10)),
            allowsPrivateNetwork: allow)
    }

    @Test(arguments: [ProxyServer.Kind.http, .socks])
    func `a proxied call succeeds with the proxy's password and fails as proxy without it`(kind: ProxyServer.Kind)
        throws
    {
        let nginx = try NginxServer(firstPort: 21_950)
        let proxy = try ProxyServer(kind)
        let driver = try AgentDriver(caFile: nginx.caFile)
        let urls = ["http://localhost:\(nginx.port)/text", "https://localhost:\(nginx.tlsPort)/text"]
        for url in urls {
            #expect(try driver.run(call(url, proxy.url())).response().text == "hello")
            // For plain HTTP, tinyproxy keeps no connection. Its 401 for a wrong password looks like an answer of the
            // server.
            let isForwarded = kind == .http && url.hasPrefix("http:")
            #expect(try isForwarded || driver.run(call(url, proxy.url())).reused)
            let wrong = isForwarded ? "http://127.0.0.1:\(proxy.port)" : proxy.url(password: "wr0ng-pass")
            let failure = try driver.run(call(url, wrong)).failure()
            #expect(failure.code == .proxy && failure.sent == .no, "\(failure)")
            #expect(!failure.message.contains("wr0ng-pass") && !failure.message.contains(ProxyServer.user))
            let plain = HTTPCall(url: url, limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
            #expect(try !driver.run(plain).reused)
        }
        // An HTTP proxy answers in place of a missing server. SOCKS reports the error.
        if kind == .socks {
            let dead = try driver.run(call("http://localhost:1/", proxy.url())).failure()
            #expect(dead.code == .proxy, "\(dead)")
        }
    }

    @Test func `a call through an unreachable proxy fails as proxy`() throws {
        let driver = try AgentDriver()
        for proxy in [
            "http://127.0.0.1:1", "socks5h://127.0.0.1:1", "socks5://127.0.0.1:1",
            "http://u:pa55w@no-such-host.invalid:3128",
        ] {
            let failure = try driver.run(call(Hostile.server.url("/ok"), proxy)).failure()
            #expect(failure.code == .proxy && failure.sent == .no && !failure.message.contains("pa55w"), "\(failure)")
        }
    }

    @Test(arguments: [("http", "https"), ("socks5h", "http"), ("socks5h", "https"), ("socks5", "http")])
    func `a call through a silent proxy fails as proxy`(kind: String, scheme: String) throws {
        let silent = try TargetServer { _ in [.hang] }
        let limits = CallLimits(total: .seconds(20), connect: .milliseconds(300))
        let call = HTTPCall(
            url: "\(scheme)://127.0.0.1:1/", transport: Transport(proxy: "\(kind)://127.0.0.1:\(silent.port)"),
            limits: limits, allowsPrivateNetwork: true)
        let failure = try AgentDriver().run(call).failure()
        #expect(failure.code == .proxy && failure.sent == .no && failure.message.contains("0.3 seconds"), "\(failure)")
    }

    @Test func `a silent server behind a working proxy fails the call as connect_timeout`() throws {
        let silent = try TargetServer { _ in [.hang] }
        let limits = CallLimits(total: .seconds(20), connect: .seconds(3))
        let tunnel = try TargetServer { _ in [.send([UInt8]("HTTP/1.1 200 Go\r\n\r\n".utf8)), .hang] }
        let socks = try ProxyServer(.socks)
        for proxy in [tunnel.url, socks.url()] {
            let call = HTTPCall(
                url: "https://127.0.0.1:\(silent.port)/", transport: Transport(proxy: proxy), limits: limits,
                allowsPrivateNetwork: true)
            let failure = try AgentDriver().run(call).failure()
            #expect(failure.code == .connectTimeout && failure.sent == .no, "\(failure)")
        }
    }

    @Test(arguments: [
        "127.0.0.1", "ftp://h:1", "socks4://h:1", "http://h:0",
        "http://u:pa55w%0d@h:1", "http://h:1\r\nX: y", "file:///etc/passwd", "http://u:pa55w@:1", "//h:1",
    ])
    func `an invalid proxy URL fails as config, and the message hides its password`(proxy: String) throws {
        let failure = try AgentDriver().run(call(Hostile.server.url("/ok"), proxy)).failure()
        #expect(failure.code == .config && failure.sent == .no && !failure.message.contains("pa55w"), "\(failure)")
    }

    @Test func `a proxy gets no job headers, and its error status is not the answer`() throws {
        let server = try HostileServer()
        let own = [HTTPHeader("Authorization", "Bearer t0ken"), HTTPHeader("X-Own", "1")]
        let outcome = try AgentDriver().run(call("https://example.org/", server.url(""), headers: own))
        let failure = try outcome.failure()
        #expect(failure.code == .proxy && failure.message.contains("404") && failure.status == nil, "\(failure)")
        let connect = server.lastRequest(for: "example.org:443")
        #expect(
            connect.hasPrefix("CONNECT example.org:443") && !connect.contains("t0ken") && !connect.contains("X-Own"))
    }

    @Test(arguments: [
        "http://127.0.0.1/", "http://localhost/", "http://a.localhost./", "http://0x7f.1/", "http://[::1]/",
        "http://169.254.169.254/", "http://①②⑦.⓪.⓪.①/", "http://10.0.0.1./",
        "http://2130706433.:80/", "http://0x7f.1./", "http://127.1./", "http://017700000001./", "http://127.1../",
        "http://a.0x./",
    ])
    func `a public-only call cannot reach a private address through a proxy`(url: String) throws {
        let server = try HostileServer()
        let failure = try AgentDriver().run(call(url, server.url(""), allow: false)).failure()
        #expect(failure.code == .deniedAddress && failure.sent == .no, "\(failure)")
        // The operator chooses the proxy's address. This one is private, and the agent uses it.
        for url in ["https://example.org/", "https://1.0x1g.example./", "https://8.8.8.8./"] {
            let outcome = try AgentDriver().run(call(url, server.url(""), allow: false))
            #expect(try outcome.failure().code == .proxy)
        }
    }
}
