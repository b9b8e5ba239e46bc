// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPAgent

struct PlainNameTests {
    @Test(arguments: [
        ("example.com", true), ("a", true), ("a-b_c.D9", true), ("9.example", true), ("example.c0m", true),
        ("127.0.0.1", false), ("1.2.3.4a", false), ("example.1", false), ("[::1]", false), ("", false),
        (".a", false), ("a..b", false), ("a.", false), ("ä.example", false), ("localhost", false),
        ("LocalHost", false), ("n1.localhost", false), ("localhost.example", true),
    ])
    func `only a name that libcurl would look up unchanged is looked up before`(host: String, isPlain: Bool) {
        #expect(NameWaits.isPlainName(host) == isPlain)
    }
}
