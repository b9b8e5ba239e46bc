// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JobModel

/// Texts for programs that read bytes. U+0301 is a combining mark: Swift joins it with the character in front of it.
struct ByteTextTests {
    private static let joined = "'\u{301}"

    @Test func `parts of a text are found by their bytes`() {
        #expect(ByteText.split("a,b,", by: ",") == ["a", "b", ""])
        #expect(ByteText.split("a", by: ",") == ["a"])
        #expect(ByteText.split("a", by: "") == ["a"])
        #expect(ByteText.replace("ab", with: "x", in: "aab\u{301}abab") == "ax\u{301}xx")
        #expect(ByteText.count("é", in: "e\u{301}é") == 1)
    }

    @Test func `a quote with a combining mark stays inside its SQL literal`() {
        #expect(Array(SQLText.quoted(Self.joined).utf8) == Array("'''\u{301}'".utf8))
        #expect(Array(SQLText.quoted("\\\u{301}").utf8) == Array("E'\\\\\u{301}'".utf8))
    }

    @Test func `a quote with a combining mark stays inside its word of a shell`() throws {
        let request = SentRequest(
            method: .get, url: "http://h/\(Self.joined);id", lines: ["X-A: \(Self.joined)"], body: .none,
            sendsBody: false,
            isGzip: false, transport: nil)
        let command = try CurlCommand.text(of: request, mask: "MASK")
        #expect(
            Array(command.utf8) == Array("curl 'http://h/'\\''\u{301};id' \\\n  -H 'X-A: '\\''\u{301}'".utf8))
    }

    @Test func `a secret with a combining mark behind it is masked`() throws {
        let secrets = Secrets(pairs: ["access_token", "token1"])
        #expect(Array(secrets.masked("bad token1\u{301}").utf8) == Array("bad ***\u{301}".utf8))
        let request = SentRequest(
            method: .get, url: "http://h/", lines: ["X-A: MASK\u{301}"], body: .none, sendsBody: false, isGzip: false,
            transport: nil)
        let command = try CurlCommand.text(of: request, mask: "MASK")
        #expect(ByteText.count("$POSTRIDER_SECRET", in: command) == 1)
        #expect(ShownRequest(request, mask: "MASK").headers == [HTTPHeader("X-A", "***\u{301}")])
    }

    @Test(arguments: [
        ("http://h/a?\u{301}key=1", "http://h/a"), ("http://h/a#\u{301}key", "http://h/a"),
        ("http://u:p@\u{301}h/a", "http://\u{301}h/a"), ("HTTPS://u:p@H:8443/a?b", "https://H:8443/a"),
        ("http://u:p/q", "http://u:p/q"), ("a?b", "a"), ("http://[::1]:81/", "http://[::1]:81/"),
    ])
    func `a URL for other systems has neither login nor query`(url: String, shown: String) {
        #expect(Array(MaskedURL(url).text.utf8) == Array(shown.utf8))
    }

    @Test func `an argument with a combining mark behind its equals sign is replaced`() {
        #expect(HTTPCall.dropping("key", from: "http://h/?key=\u{301}1&a=2#f") == "http://h/?a=2#f")
        #expect(HTTPCall.dropping("key", from: "http://h/#?key=1") == "http://h/#?key=1")
        #expect(HTTPCall.dropping("k\u{5}", from: "http://h/?k%+5=1") == "http://h/?k%+5=1")
    }
}
