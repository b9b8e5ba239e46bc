// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPAgent
@testable import JobModel

/// The check of lines from the database, which libcurl reads by bytes.
struct CookieLineTests {
    @Test(arguments: [
        // libcurl takes it as a header without a Domain, and would send the cookie to each host.
        "Set-Cookie:\u{301}a=b\tc\td\te\tf\tg\th",
        "set-cookie: a=b; Domain=", "Set-Cookie: a=b; Path=/",
    ])
    func `a cookie without a domain is refused`(line: String) {
        #expect(throws: CallRefusal.self) { try CookieLines.check([line]) }
    }

    @Test func `cookies of a host are accepted`() throws {
        try CookieLines.check(["h\tFALSE\t/\tFALSE\t0\ta\tb", "Set-Cookie: a=b; Domain = h.example"])
    }

    @Test func `a note of a part with a negative size has no size`() {
        #expect(PartNote(text: "url a\ntotal -4\n")?.total == nil)
        #expect(PartNote(text: "url a\ntotal 4\n")?.total == 4)
    }
}
