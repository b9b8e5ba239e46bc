// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct CookieTests {
    private func call(
        _ url: String, cookies: [String] = [], headers: [HTTPHeader] = [], keeps: Bool = true
    ) -> HTTPCall {
        HTTPCall(
            url: url, headers: headers, keepsCookies: keeps, cookies: cookies, limits: CallLimits(total: .seconds(10)),
            allowsPrivateNetwork: true)
    }

    private func line(_ domain: String, _ name: String, path: String = "/") -> String {
        "\(domain)\tFALSE\t\(path)\tFALSE\t0\t\(name)\tvalue"
    }

    @Test func `cookies that an answer sets are sent after the redirect and reported in the outcome`() throws {
        let httpbin = try HttpbinServer()
        let driver = try AgentDriver()
        let outcome = try driver.run(call(httpbin.url + "/cookies/set?flavour=oat&size=2"))
        #expect(try outcome.response().text.contains(#""flavour": "oat""#))
        let jar = try #require(outcome.cookies).set
        #expect(jar.count == 2 && jar.contains { $0.hasSuffix("\tflavour\toat") })
        #expect(try driver.run(call(httpbin.url + "/cookies", cookies: jar)).response().text.contains("oat"))
        let plain = try driver.run(call(httpbin.url + "/cookies", keeps: false))
        #expect(try !plain.response().text.contains("oat") && plain.cookies == nil)
    }

    @Test func `only cookies that match domain and path join the job's own in one header`() throws {
        let jar = [
            line("127.0.0.1", "here"), line("example.org", "there"), line("127.0.0.1", "deep", path: "/deep"),
            "Set-Cookie: named=value; Domain=127.0.0.1; Path=/",
        ]
        let server = try HostileServer()
        let own = [HTTPHeader("Cookie", "own=1")]
        let text = try AgentDriver().run(call(server.url("/echo"), cookies: jar, headers: own)).response().text
        let sent = text.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("cookie:") }
        #expect(sent.count == 1)
        let all = Set((sent.first ?? "").dropFirst(8).split(separator: "; "))
        #expect(all == ["here=value", "named=value", "own=1"])
    }

    @Test func `a redirect to another origin sends no cookies and leaves the jar unchanged`() throws {
        let (first, second) = try (HostileServer(), HostileServer())
        let own = [HTTPHeader("Cookie", "own=1")]
        let away = first.url("/redirect?to=" + second.url("/echo"))
        let outcome = try AgentDriver().run(call(away, cookies: [line("127.0.0.1", "mine")], headers: own))
        let text = try outcome.response().text
        #expect(text.hasPrefix("GET /echo") && !text.lowercased().contains("cookie"))
        #expect(first.lastRequest(for: "/redirect").contains("mine=value"))
        #expect(outcome.cookies == nil)
    }

    @Test func `the outcome of a call reports no cookies that the answers left unchanged`() throws {
        let server = try HostileServer()
        let jar = [
            line("127.0.0.1", "plain"), ".example.org\tTRUE\t/a\tTRUE\t4102444800\tmany\ta=b; c",
            "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4102444799\thidden\t1", "127.0.0.1\tFALSE\t/\tFALSE\t0\tempty\t",
            "127.0.0.1\tFALSE\t/deep/\tFALSE\t0\tdeep\t\"quoted\"", "127.0.0.1\tFALSE\t/\tTRUE\t0\t__Host-a\t\u{E9}",
        ]
        #expect(try AgentDriver().run(call(server.url("/ok"), cookies: jar)).cookies == nil)
        // The cookie of another origin is added.
        let away = server.url("/cookies?to=" + (try HostileServer()).url("/ok"))
        let changes = try #require(try AgentDriver().run(call(away, cookies: jar)).cookies)
        #expect(changes.set.count == 1 && changes.set[0].hasSuffix("\town\t1") && changes.gone.isEmpty)
    }

    @Test func `the outcome of a call lists the cookie lines that are new or gone`() throws {
        let server = try TargetServer { _ in
            TargetStep.answer(200, headers: ["Set-Cookie: sid=TWO; Path=/", "Set-Cookie: del=; Path=/; Max-Age=0"])
        }
        let sid = line("127.0.0.1", "sid")
        let (del, old) = (line("127.0.0.1", "del"), "127.0.0.1\tFALSE\t/\tFALSE\t100\told\t1")
        let outcome = try AgentDriver().run(
            call(server.url, cookies: [sid, line("127.0.0.1", "stays"), del, old]))
        let changes = try #require(outcome.cookies)
        #expect(changes.set == [sid.replacing("value", with: "TWO")])
        #expect(Set(changes.gone) == [sid, del, old])
        let again = try AgentDriver().run(call(server.url, cookies: changes.set))
        #expect(again.cookies == nil)
    }

    @Test(arguments: [
        "FLUSH", "ALL", "RELOAD", "Set-Cookie: a=b", "Set-Cookie: a=b; Domain=", "a=b",
        "h\tFALSE\t/\tFALSE\t0\ta\tb\r\nX: y",
        "\tFALSE\t/\tFALSE\t0\ta\tb", "unknown\tFALSE\t/\tFALSE\t0\ta\tb",
    ])
    func `a jar line that is not a cookie with a domain is refused`(bad: String) throws {
        let failure = try AgentDriver().run(call(Hostile.server.url("/ok"), cookies: [bad])).failure()
        #expect(failure.code == .config && failure.sent == .no, "\(failure)")
    }
}
