// SPDX-License-Identifier: Apache-2.0
import JobModel
import Testing

struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let date: Int64 = 784_111_777

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `all three forms of an HTTP date are read`(text: String) {
        #expect(HTTPDate.parse(text, now: date) == date)
    }

    @Test func `leap days and the ends of centuries are counted right`() {
        #expect(HTTPDate.parse("Tue, 29 Feb 2000 00:00:00 GMT", now: 0) == 951_782_400)
        #expect(HTTPDate.parse("Wed, 31 Dec 1969 23:59:59 GMT", now: 0) == -1)
        #expect(HTTPDate.parse("Mon, 29 Feb 2100 00:00:00 GMT", now: 0) == nil)
        #expect(HTTPDate.parse("Friday, 01-Jan-27 00:00:00 GMT", now: 1_790_000_000) == 1_798_761_600)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "-1", "1e3",
        "1.", ".5", "+5",
    ])
    func `what cannot be read or is negative is no wait`(text: String) {
        #expect(RetryAfter.parse(text, now: date) == nil)
    }

    @Test func `seconds, decimals and dates become waits from now`() {
        #expect(RetryAfter.parse("0", now: date) == .zero)
        #expect(RetryAfter.parse("120", now: date) == .seconds(120))
        #expect(RetryAfter.parse("1.25", now: date) == .milliseconds(1_250))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:50:37 GMT", now: date) == .seconds(60))
        #expect(RetryAfter.parse("Sun, 06 Nov 1994 08:48:37 GMT", now: date) == .zero)
        #expect(RetryAfter.parse("99999999999999999999999", now: date) == .seconds(100 * 366 * 86_400))
    }
}
