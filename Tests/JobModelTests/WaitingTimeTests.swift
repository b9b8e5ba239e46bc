// SPDX-License-Identifier: Apache-2.0
import JobModel
import Testing

struct WaitingTimeTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private let date: Int64 = 784_111_777
    /// Thu, 01 Jan 2026 00:00:00 GMT.
    private let newYear: Int64 = 1_767_225_600

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 10:19:37 +0130",
        "Sun, 06 Nov 1994 00:49:37 -0800", "Sun, 06 Nov 1994 03:49:37 EST", "06 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
    ])
    func `every form of an HTTP date is read with its time zone`(text: String) {
        #expect(HTTPDate.parse(text, now: date) == date)
    }

    @Test func `HTTP dates on leap days, before 1970 and with two-digit years are computed correctly`() {
        #expect(HTTPDate.parse("Tue, 29 Feb 2000 00:00:00 GMT", now: 0) == 951_782_400)
        #expect(HTTPDate.parse("Wed, 31 Dec 1969 23:59:59 GMT", now: 0) == -1)
        #expect(HTTPDate.parse("Mon, 29 Feb 2100 00:00:00 GMT", now: 0) == nil)
        #expect(HTTPDate.parse("Friday, 01-Jan-27 00:00:00 GMT", now: 1_790_000_000) == 1_798_761_600)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "-1", "1e3",
        "1.", ".5", "+5", "Sun, 06 Nov 1994 08:49:37 +2500", "1.2.3", "3x", "1s2m", "s", "3s4", "1h1h", "-3s", "3,5s",
        "2026-01-01T00:00:03", "3 4",
    ])
    func `an unknown date form or a negative number gives no wait`(text: String) {
        #expect(WaitingTime.parse(text, now: date) == nil)
        #expect(WaitingTime.parse(text, unit: .milliseconds, now: date) == nil)
    }

    @Test func `small numbers are waits from now, and large numbers are Unix times`() {
        #expect(WaitingTime.parse("0", now: date) == .zero)
        #expect(WaitingTime.parse(" 120\t", now: date) == .seconds(120))
        #expect(WaitingTime.parse("1.25", now: date) == .milliseconds(1_250))
        #expect(WaitingTime.parse("\(newYear + 3)", now: newYear) == .seconds(3))
        #expect(WaitingTime.parse("\(newYear - 3)", now: newYear) == .zero)
        #expect(WaitingTime.parse("\(newYear + 3).5", now: newYear) == .milliseconds(3_500))
        #expect(WaitingTime.parse("\(newYear * 1000 + 250)", now: newYear) == .milliseconds(250))
        // The boundaries between the three readings of a number: 10⁹ and 10¹².
        #expect(WaitingTime.parse("999999999", now: 999_999_990) == .seconds(3_600))
        #expect(WaitingTime.parse("1000000000", now: 999_999_990) == .seconds(10))
        #expect(WaitingTime.parse("1000000000000", now: 999_999_990) == .seconds(10))
        #expect(WaitingTime.parse("1500", unit: .milliseconds, now: newYear) == .milliseconds(1_500))
        #expect(WaitingTime.parse("0.5", unit: .milliseconds, now: newYear) == .milliseconds(1))
        #expect(WaitingTime.parse("\(newYear * 1000 + 250)", unit: .milliseconds, now: newYear) == .milliseconds(250))
    }

    @Test(arguments: [
        ("Thu, 01 Jan 2026 00:00:03 +0000", 3_000), ("Thu, 01 Jan 2026 01:00:03 +0100", 3_000),
        ("2026-01-01T00:00:03Z", 3_000), ("2026-01-01T02:00:03+02:00", 3_000), ("2026-01-01T02:00:03+0200", 3_000),
        ("Wed, 31 Dec 2025 23:59:59 GMT", 0), ("3s", 3_000), ("1m0s", 60_000), ("500ms", 500), ("1m0.5s", 60_500),
        ("20M30S", 1_230_000), ("1h", 3_600_000), ("90000us", 90), ("2s500ms", 2_500),
    ])
    func `HTTP dates, RFC 3339 dates and durations are read as waits`(text: String, milliseconds: Int) {
        #expect(WaitingTime.parse(text, now: newYear) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "3601", "99999999999999999999999", "2h", "1d", "Thu, 01 Jan 2099 00:00:00 GMT", "9999-12-31T23:59:59Z",
        "9999999999999",
    ])
    func `no wait is longer than an hour`(text: String) {
        #expect(WaitingTime.parse(text, now: newYear) == .seconds(3_600))
    }

    private func wait(_ lines: String..., status: Int = 403) -> RequestedWait {
        RequestedWait([UInt8](lines.map { $0 + "\n" }.joined().utf8), status: status, now: newYear)
    }

    @Test func `the longest readable wait of all Retry-After headers counts`() {
        #expect(wait("retry-after-ms: 1500").retryAfter == .milliseconds(1_500))
        #expect(wait("x-ms-retry-after-ms: 700").retryAfter == .milliseconds(700))
        #expect(wait("retry-after: 2", "retry-after-ms: 1500").retryAfter == .seconds(2))
        #expect(wait("retry-after: soon", "retry-after: 2").retryAfter == .seconds(2))
        #expect(wait("retry-after-x: 2", "x-retry-after: 2").retryAfter == nil)
    }

    @Test func `an unreadable wait is quoted unless another header gives a readable wait`() {
        #expect(wait("retry-after: soon").unreadable == "retry-after \"soon\"")
        #expect(wait("retry-after: \(String(repeating: "x", count: 50))").unreadable?.utf8.count == 54)
        #expect(wait("retry-after: a\u{1b}[1mb").unreadable == "retry-after \"a\\u{1b}[1mb\"")
        #expect(wait("retry-after: soon", "retry-after-ms: 5").unreadable == nil)
        #expect(wait("retry-after:").unreadable == nil)
        let resets = wait("x-ratelimit-remaining: 0", "x-ratelimit-reset: soon")
        #expect(resets.unreadable == "x-ratelimit-reset \"soon\"")
        #expect(wait("x-ratelimit-remaining: 5", "x-ratelimit-reset: soon").unreadable == nil)
        #expect(wait("retry-after: soon", "x-ratelimit-remaining: 0", "x-ratelimit-reset: 5").unreadable == nil)
    }

    @Test func `only a 429 uses a quota reset without a remaining count`() {
        for line in ["x-ratelimit-reset: 5", "ratelimit: \"a\";t=5", "x-rate-limit-reset: 2026-01-01T00:00:05Z"] {
            #expect(wait(line, status: 429).quotaReset == .seconds(5))
            #expect(wait(line).quotaReset == nil)
        }
        #expect(wait("x-ratelimit-remaining: 1", "x-ratelimit-reset: 5", status: 429).quotaReset == nil)
        #expect(wait("x-ratelimit-reset: 1m0s", status: 429).quotaReset == .seconds(60))
    }
}
