// SPDX-License-Identifier: Apache-2.0
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// The parts of a call that follow a redirect from http to https on the same host, on the usual ports.
struct UpgradeTests {
    /// A POST with all parts that other origins must not get.
    private func call(_ path: String, _ proxy: String) -> HTTPCall {
        let headers = [
            HTTPHeader("Authorization", "Bearer t0ken"), HTTPHeader("Idempotency-Key", "k3y"),
            HTTPHeader("Content-Type", "application/json"), HTTPHeader("Content-Language", "de"),
            HTTPHeader("X-Api-Key", "s3cret"),
        ]
        return HTTPCall(
            method: .post, url: "http://localhost" + path, headers: headers,
            body: .bytes([UInt8]("payload".utf8), contentType: nil), transport: Transport(proxy: proxy),
            keepsCookies: true, cookies: ["localhost\tFALSE\t/\tFALSE\t0\tsession\tc00kie"],
            allowsPrivateNetwork: true)
    }

    private static let withheld = ["Bearer t0ken", "k3y", "s3cret", "c00kie"]

    @Test func `an upgrade to https keeps headers, credentials and cookies, and the body with the method`() throws {
        let proxy = try UpgradeProxy()
        let driver = try AgentDriver(caFile: proxy.caFile)
        for status in [301, 302, 303, 307, 308] {
            let outcome = try driver.run(call("/\(status)/a", proxy.url))
            let text = try outcome.response().text
            #expect(Self.withheld.allSatisfy { text.contains($0) }, "\(text)")
            let keepsBody = status >= 307
            #expect(text.hasPrefix(keepsBody ? "POST " : "GET ") && text.hasSuffix("payload") == keepsBody, "\(text)")
            #expect(text.contains("Content-Language: de") == keepsBody)
            #expect(outcome.redirected && !outcome.leftOrigin)
            #expect(outcome.landedAt == "https://localhost/\(status)/a")
        }
        var call = call("/307/a", proxy.url)
        call.headers = []
        call.url = "http://a:b@localhost/307/a"
        let text = try driver.run(call).response().text
        #expect(text.contains("Authorization: Basic YTpi"), "\(text)")
    }

    @Test func `a redirect from https to http drops all secrets, even after another upgrade`() throws {
        let proxy = try UpgradeProxy()
        let driver = try AgentDriver(caFile: proxy.caFile)
        var call = call("/down/a", proxy.url)
        call.url = "https://localhost/down/a"
        #expect(try driver.run(call).failure().code == .deniedRedirect)
        (call.method, call.body) = (.get, .none)
        let outcome = try driver.run(call)
        let text = try outcome.response().text
        #expect(text.hasPrefix("GET /a ") && !Self.withheld.contains { text.contains($0) }, "\(text)")
        #expect(outcome.leftOrigin && outcome.landedAt == nil)
    }

    @Test(arguments: [
        ("http://h/", "https://h/", true), ("http://H:80/a", "https://h:443/b", true),
        ("https://h/", "http://h/", false),
        ("http://h/", "https://h:8443/", false), ("http://h:8080/", "https://h/", false),
        ("http://h/", "https://h.other/", false), ("http://h:443/", "https://h/", false),
        ("https://h/", "https://h/", false), ("http://127.0.0.1/", "https://127.0.0.2/", false),
    ])
    func `only a redirect from port 80 to port 443 of one host is an upgrade`(from: String, to: String, isOne: Bool)
        throws
    {
        #expect(try CallURL.parse(from).isUpgrade(to: CallURL.parse(to)) == isOne)
    }

    @Test func `a POST that left its origin without its idempotency key is not sent again`() throws {
        let agent = try HTTPAgent(slots: 1)
        let transfer = try #require(CurlTransfer(in: agent.loop))
        var call = call("/", "")
        call.isRepeatable = true
        var flight = try Flight(transfer: transfer, call: call, url: CallURL.parse("https://127.0.0.1/"))
        flight.leftOrigin = true
        #expect(!flight.isRepeatable)
        flight.method = .get
        #expect(flight.isRepeatable)
        (flight.method, flight.leftOrigin) = (.post, false)
        #expect(flight.isRepeatable)
    }
}
