// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The pictures of attempts.
struct TimelineTests {
    private static func attempt(
        start: Double = 0, length: Double = 1, phases: [Double] = [0, 0, 0, 0], total: Double? = 1,
        phase: String? = nil, isBad: Bool = false
    ) -> JobAttempts.Attempt {
        JobAttempts.Attempt(
            number: 1, start: start, clock: "10:00:00", length: length, dns: phases[0], connect: phases[1],
            tls: phases[2], firstByte: phases[3], total: total, phase: phase, outcome: "", isBad: isBad)
    }

    @Test func `the phases of a call follow each other`() {
        let row = JobAttempts.call(Self.attempt(phases: [0.1, 0.2, 0.4, 0.9], total: 1))
        #expect(row.bars.map(\.name) == ["DNS", "connect", "TLS", "first byte", "receive"])
        #expect(row.bars.map(\.start) == [0, 0.1, 0.2, 0.4, 0.9] && row.bars.map(\.end) == [0.1, 0.2, 0.4, 0.9, 1])
    }

    @Test func `a reused connection has no DNS, connect and TLS bars, and a timeout no answer`() {
        #expect(
            JobAttempts.call(Self.attempt(phases: [0, 0, 0, 0.5])).bars.map(\.name) == ["first byte", "receive"])
        #expect(
            JobAttempts.call(Self.attempt(phases: [0.1, 0.2, 0, 0])).bars.map(\.name) == [
                "DNS", "connect", "no answer",
            ])
        #expect(
            JobAttempts.call(Self.attempt(total: nil, phase: "tls")).bars.map(\.name) == ["running: tls"])
        #expect(JobAttempts.call(Self.attempt(total: nil)).bars.isEmpty)
    }

    @Test func `the life of a job has waits and attempts in turn`() {
        let attempts = [
            Self.attempt(start: 2, length: 1, isBad: true), Self.attempt(start: 10, length: 1),
        ]
        let life = JobAttempts.life(attempts)
        #expect(life?.bars.map(\.kind) == ["wait", "bad", "backoff", "ended"])
        #expect(life?.bars.last?.end == 11)
        #expect(JobAttempts.life(attempts.reversed()) == nil)
    }

    @Test(
        arguments: [
            (1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0.034, [0, 0.01, 0.02, 0.03]), (250, [0, 60, 120, 180, 240]),
            (150, [0, 30, 60, 90, 120, 150]),
            (864_000, [0, 259_200, 518_400, 777_600]), (.infinity, [0]),
        ] as [(Double, [Double])])
    func `an axis has round times`(end: Double, ticks: [Double]) {
        let found = Timeline.ticks(end)
        #expect(found.count == ticks.count && zip(found, ticks).allSatisfy { abs($0 - $1) < 1e-9 }, "\(found)")
    }

    @Test(
        arguments: [
            (0, "0 ms"), (0.0002, "0.2 ms"), (0.00105, "1.05 ms"), (0.00525, "5.25 ms"), (0.003, "3 ms"),
            (0.02, "20 ms"),
            (1.5, "1.5 s"),
        ] as [(Double, String)])
    func `a short phase has decimals`(seconds: Double, words: String) {
        #expect(Timeline.span(seconds) == words)
    }

    @Test func `each bar has its name and times as a title, and no style attribute is used`() {
        var html = HTML()
        let row = JobAttempts.call(Self.attempt(phases: [0.1, 0.2, 0.4, 0.9]))
        Timeline(rows: [row], title: "Phases").write(to: &html)
        #expect(html.markup.contains("<title>TLS: 200 ms, from 200 ms to 400 ms</title>"), "\(html.markup)")
        #expect(!html.markup.contains("style=") && html.markup.contains("x=\"20.0%\""))
    }

    @Test func `a progress bar counts ended and failed members`() {
        var html = HTML()
        ProgressBar(ended: 9000, failed: 1, all: 10000).write(to: &html)
        #expect(html.markup.contains("aria-label=\"9000 of 10\u{2009}000 ended, 1 failed\""))
        #expect(html.markup.ranges(of: "<rect").count == 2)
    }
}
