// SPDX-License-Identifier: Apache-2.0
import JobModel
import Testing

@testable import HTTPAgent

/// What goes along when a redirect leads from http to https on the same host, the only way for a body to another origin.
struct UpgradeTests {
    private func call(_ body: RequestBody) -> HTTPCall {
        let headers = [
            HTTPHeader("Content-Type", "application/json"), HTTPHeader("Content-Encoding", "br"),
            HTTPHeader("Content-Language", "de"), HTTPHeader("Idempotency-Key", "secret"),
        ]
        return HTTPCall(
            method: .post, url: "http://127.0.0.1/", headers: headers, body: body, allowsPrivateNetwork: true,
            isRepeatable: true)
    }

    /// The header lines of the request behind the redirect.
    private func lines(_ flight: Flight, _ agent: HTTPAgent) throws -> String {
        defer { flight.transfer.stop() }
        try #require(agent.send(flight))
        return String(decoding: agent.lines.map { $0 == 0 ? 10 : $0 }, as: UTF8.self)
    }

    private func flight(_ call: HTTPCall, _ agent: HTTPAgent) throws -> Flight {
        let transfer = try #require(unsafe CurlTransfer(in: agent.loop))
        var flight = try Flight(transfer: transfer, call: call, url: CallURL.parse("https://127.0.0.1/"))
        (flight.leftOrigin, flight.redirects) = (true, 1)
        return flight
    }

    @Test func `the headers that say how to read a body go along with it, and only with it`() throws {
        let agent = try HTTPAgent(slots: 1)
        var flight = try flight(call(.bytes([1], contentType: nil)), agent)
        let withBody = try lines(flight, agent)
        #expect(withBody == "Content-Type: application/json\nContent-Encoding: br\nContent-Language: de\nExpect:\n")
        (flight.method, flight.keepsBody) = (.get, false)
        #expect(try !lines(flight, agent).contains("Content-"))
        let bare = try lines(self.flight(call(.none), agent), agent)
        #expect(!bare.contains("Encoding") && !bare.contains("secret"), "\(bare)")
    }

    @Test func `a POST whose idempotency key stayed behind is not sent again at once`() throws {
        let agent = try HTTPAgent(slots: 1)
        var flight = try flight(call(.bytes([1], contentType: nil)), agent)
        #expect(!flight.isRepeatable)
        flight.method = .get
        #expect(flight.isRepeatable)
        (flight.method, flight.leftOrigin) = (.post, false)
        #expect(flight.isRepeatable)
    }
}
