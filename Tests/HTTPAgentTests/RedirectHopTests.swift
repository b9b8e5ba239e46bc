// SPDX-License-Identifier: Apache-2.0
import JobModel
import Testing

@testable import HTTPAgent

/// The request that follows a redirect.
struct RedirectHopTests {
    private let agent: HTTPAgent
    private let transfer: CurlTransfer

    init() throws {
        agent = try HTTPAgent(slots: 1)
        transfer = try #require(CurlTransfer(in: agent.loop))
    }

    private func flight(
        _ method: HTTPMethod = .get, _ url: String = "http://h/a", body: RequestBody = .none, proxy: String? = nil
    ) throws -> Flight {
        let call = HTTPCall(
            method: method, url: url, body: body, transport: proxy.map { Transport(proxy: $0) },
            limits: CallLimits(maxRedirects: 2))
        return try Flight(transfer: transfer, call: call, url: CallURL.parse(url))
    }

    private func next(_ hop: RedirectHop) throws -> (flight: Flight, staysWithHost: Bool) {
        guard case .request(let flight, let staysWithHost) = hop else {
            throw RedirectHopDenied(hop: "\(hop)")
        }
        return (flight, staysWithHost)
    }

    private func message(_ hop: RedirectHop) -> String {
        if case .denied(let message) = hop { message } else { "" }
    }

    @Test func `a hop within the origin keeps method, body and secrets as the status demands`() throws {
        let post = try flight(.post, body: .bytes([1], contentType: nil))
        let kept = try next(RedirectHop.after(post, status: 307, location: "/b"))
        #expect(kept.flight.method == .post && kept.flight.keepsBody && kept.staysWithHost)
        #expect(kept.flight.url.text == "http://h/b" && kept.flight.redirects == 1 && !kept.flight.leftOrigin)
        let dropped = try next(RedirectHop.after(post, status: 303, location: "/b"))
        #expect(dropped.flight.method == .get && !dropped.flight.keepsBody)
    }

    @Test func `a hop to another origin leaves it, also if a later hop leads back`() throws {
        let away = try next(RedirectHop.after(flight(), status: 302, location: "http://other/"))
        #expect(!away.staysWithHost && away.flight.leftOrigin)
        let within = try next(RedirectHop.after(away.flight, status: 302, location: "/x"))
        #expect(within.staysWithHost && within.flight.leftOrigin)
        let upgrade = try next(RedirectHop.after(flight(), status: 301, location: "https://h/a"))
        #expect(upgrade.staysWithHost && !upgrade.flight.leftOrigin)
    }

    @Test func `hops beyond the limit, to bad URLs or private hosts, or with a body are denied`() throws {
        var last = try flight()
        last.redirects = 2
        #expect(message(RedirectHop.after(last, status: 302, location: "/b")).hasPrefix("more than 2 redirects"))
        let bad = try RedirectHop.after(flight(), status: 302, location: "ftp://h/")
        #expect(message(bad).hasPrefix("status 302 redirects to a URL that may not be called"))
        let body = try flight(.post, body: .bytes([1], contentType: nil))
        #expect(
            message(RedirectHop.after(body, status: 308, location: "http://other/")).contains("asks to send the body"))
        #expect(message(RedirectHop.after(body, status: 303, location: "http://other/")).isEmpty)
        let proxied = try flight(proxy: "http://proxy:3128")
        #expect(message(RedirectHop.after(proxied, status: 302, location: "http://127.0.0.1/")).contains("the host "))
    }
}

/// A hop that should have been allowed.
private struct RedirectHopDenied: Error {
    let hop: String
}
