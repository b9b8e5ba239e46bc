// SPDX-License-Identifier: Apache-2.0

import JobModel
import TestSupport
import Testing

struct QuotaHeadersTests {
    private static let now: Int64 = 1_795_000_000

    private static func read(_ block: [UInt8], now: Int64 = now) -> Duration? {
        RequestedWait(block, status: 200, now: now).quotaReset
    }

    private func reset(_ lines: String...) -> Duration? {
        Self.read([UInt8](("content-type: text/plain\n" + lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test(arguments: ["ratelimit", "x-ratelimit", "x-rate-limit"])
    func `an exhausted quota waits for its reset in every supported notation`(prefix: String) {
        #expect(reset("\(prefix)-remaining: 0", "\(prefix)-reset: 30") == .seconds(30))
        #expect(reset("\(prefix)-remaining: 0", "\(prefix)-reset: 1.5") == .milliseconds(1500))
        #expect(reset("\(prefix)-remaining: 0", "\(prefix)-reset: \(Self.now + 60)") == .seconds(60))
        #expect(
            reset("\(prefix)-remaining: 0", "\(prefix)-reset: \((Self.now + 60) * 1000 + 250)") == .milliseconds(60_250)
        )
        #expect(reset("\(prefix)-remaining: 0", "\(prefix)-reset: 86400") == .seconds(3600))
    }

    @Test func `the RateLimit header of old and new drafts is read per policy`() {
        #expect(reset("ratelimit: \"default\";r=0;t=30") == .seconds(30))
        #expect(reset("ratelimit: default;r=0;t=30") == .seconds(30))
        #expect(reset("ratelimit: \"a\";r=50;t=90, \"b\";r=0;t=7") == .seconds(7))
        #expect(reset("ratelimit: \"a\";r=0;t=9", "ratelimit: \"b\";r=0;t=70") == .seconds(70))
        #expect(reset("ratelimit: limit=100, remaining=0, reset=12") == .seconds(12))
        #expect(reset("ratelimit: limit=100, remaining=1, reset=12") == nil)
        #expect(reset("ratelimit: \"a\";r=1;t=30") == nil)
    }

    @Test(arguments: [
        "x-ratelimit-remaining: 1", "x-ratelimit-remaining: -1", "x-ratelimit-remaining:",
        "x-ratelimit-remaining: none",
        "ratelimit-remaining: 0", "x-ratelimit-remaining-day: 0", "x-ratelimit-remaining: 00x",
    ])
    func `a quota that has calls left or is unreadable causes no wait`(line: String) {
        #expect(reset(line, "x-ratelimit-reset: 30") == nil)
    }

    @Test(arguments: ["", "-5", "soon", "1e3", ".", "0", "\(now)", "\(now - 5)"])
    func `a quota reset that has passed or is unreadable causes no wait`(value: String) {
        #expect(reset("x-ratelimit-remaining: 0", "x-ratelimit-reset: \(value)") == nil)
        #expect(reset("ratelimit: \"a\";r=0;t=\(value)") == nil)
    }

    @Test(arguments: [
        ("2026-11-18T11:07:10Z", 30), ("2026-11-18t11:07:10z", 30), ("2026-11-18 11:07:10Z", 30),
        ("2026-11-18T11:07:09.001Z", 30), ("2026-11-18T11:07:10.000Z", 30), ("2026-11-18T12:07:10+01:00", 30),
        ("2026-11-18T05:37:10-05:30", 30), ("2026-11-18T11:06:40Z", 0), ("2020-02-29T00:00:00Z", 0),
        ("2030-01-01T00:00:00Z", 3600),
        // Texts that are not dates.
        ("2026-11-18T11:07:10", 0), ("2026-11-18", 0), ("2026-13-18T11:07:10Z", 0), ("2027-02-29T11:07:10Z", 0),
        ("2026-11-18T24:07:10Z", 0), ("2026-11-18T11:07:10.Z", 0), ("2026-11-18T11:07:10+1:00", 0),
        ("2026-11-18T11:07:10+25:00", 0), ("2026/11/18T11:07:10Z", 0), ("2026-11-18T11:07:10ZZ", 0),
        ("+026-11-18T11:07:10Z", 0),
    ])
    func `an RFC 3339 reset date is read with its offset, and invalid dates are ignored`(date: String, seconds: Int) {
        let expected: Duration? = seconds > 0 ? .seconds(seconds) : nil
        #expect(reset("x-ratelimit-remaining: 0", "x-ratelimit-reset: \(date)") == expected)
        #expect(reset("ratelimit-remaining: 0", "ratelimit-reset: \(date)") == expected)
    }

    @Test func `100,000 RateLimit headers are read within 2 s of CPU time`() {
        let lines = [UInt8](String(repeating: "ratelimit:a\n", count: 100_000).utf8)
        let before = TestClock.threadTime
        // Joining them one by one would copy all earlier lines each time: 10 GB here, five seconds.
        #expect(Self.read(lines) == nil)
        let took = TestClock.threadTime - before
        print("100,000 lines of a quota: \(took) s of the processor")
        #expect(took < 2 || Sanitizer.isOn)
    }

    @Test func `an HTTP reset date is read, and bytes that are not text are ignored`() {
        #expect(reset("x-ratelimit-remaining: 0", "x-ratelimit-reset: Sun, 06 Nov 1994 08:49:37 GMT") == nil)
        #expect(reset("x-ratelimit-remaining: 0", "x-ratelimit-reset: Fri, 06 Nov 2099 08:49:37 GMT") == .seconds(3600))
        #expect(Self.read([0xff, 0x3a, 0x0a, 0x00, 0x72], now: 0) == nil)
        #expect(Self.read([], now: 0) == nil)
    }
}
