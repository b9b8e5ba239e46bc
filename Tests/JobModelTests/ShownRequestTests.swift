// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JobModel

/// A request for people, with its secrets masked.
struct ShownRequestTests {
    private func shown(_ lines: [String], _ body: RequestBody = .none, sendsBody: Bool = true) -> ShownRequest {
        ShownRequest(
            SentRequest(
                method: .post, url: "https://h/?key=MASK1x", lines: lines, body: body, sendsBody: sendsBody,
                isGzip: false, transport: nil), mask: "MASK1x")
    }

    @Test func `secrets in URL, headers and bodies are shown as asterisks`() {
        let login = Base64.encode(Array("ada:MASK1x".utf8))
        let request = shown(
            ["Authorization: Basic \(login)", "X-Key: a MASK1x", "Empty;", "Expect:", "Accept: */*"],
            .bytes(Array(#"{"key": "MASK1x", "pin": "MASK1xn"}"#.utf8), contentType: nil))
        #expect(request.url == "https://h/?key=***")
        #expect(
            request.headers == [
                HTTPHeader("Authorization", "Basic ***"), HTTPHeader("X-Key", "a ***"), HTTPHeader("Empty", ""),
                HTTPHeader("Accept", "*/*"),
            ])
        #expect(request.body == .bytes(Array(#"{"key": "***", "pin": ***}"#.utf8), contentType: nil))
    }

    @Test func `forms and parts are masked, and bytes that are no text stay`() {
        #expect(shown([], .form([FormField("key", "MASK1x")])).body == .form([FormField("key", "***")]))
        let part = BodyPart(name: "key", content: .bytes(Array("MASK1x".utf8)))
        #expect(
            shown([], .parts([part])).body == .parts([BodyPart(name: "key", content: .bytes(Array("***".utf8)))]))
        #expect(shown([], .bytes([0xff, 0], contentType: nil)).body == .bytes([0xff, 0], contentType: nil))
        #expect(shown([], .form([FormField("a", "b")]), sendsBody: false).body == .none)
    }
}
