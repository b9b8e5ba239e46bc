// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Times in answers of servers whose clocks differ from the worker's clock.
struct AnswerClockTests {
    private static func date(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = unsafe tm()
        unsafe gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 64)
        unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The waits that an answer asks for.
    ///
    /// The answer claims that its clock is `clock` seconds ahead, and gives times from `base` on.
    private func waits(clock: Int?, age: String? = nil, base: Int) throws -> (Duration?, Duration?) {
        let now = time(nil)
        var lines = [
            "Retry-After: \(Self.date(now + base + 90))", "X-RateLimit-Remaining: 0",
            "X-RateLimit-Reset: \(now + base + 60)",
        ]
        if let clock { lines.append("Date: \(Self.date(now + clock))") }
        if let age { lines.append("Age: \(age)") }
        let target = try TargetServer { [lines] _ in TargetStep.answer(429, headers: lines) }
        let response = try AgentDriver().run(HTTPCall(url: target.url, allowsPrivateNetwork: true)).response()
        return (response.retryAfter, response.quotaReset)
    }

    @Test(arguments: [-7_200, -600, 600, 7_200])
    func `Retry-After and rate-limit times are measured from the answer's own Date and Age`(clock: Int) throws {
        #expect(try waits(clock: clock, base: clock) == (.seconds(90), .seconds(60)))
        #expect(try waits(clock: clock - 20, age: "20", base: clock) == (.seconds(90), .seconds(60)))
    }

    @Test(arguments: [nil, -900_000, 900_000])
    func `the worker's clock is used if the answer's Date is missing or days off`(clock: Int?) throws {
        let (wait, quota) = try waits(clock: clock, base: 0)
        #expect([88, 89, 90].map { .seconds($0) }.contains(wait), "\(wait as Any)")
        #expect([58, 59, 60].map { .seconds($0) }.contains(quota), "\(quota as Any)")
    }
}
