// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WorkerCLI

/// The layout of `worker top`.
struct FleetPictureTests {
    private func picture(_ counts: [Int]) -> FleetPicture {
        var summary = FleetSummary()
        (summary.clock, summary.workers, summary.calls, summary.rate) = ("12:00:00", "2 running", (3, 16), "1.5")
        summary.jobs = (10, 3, 4)
        return FleetPicture(
            summary: summary,
            sections: counts.map { count in
                let columns: [StatusView.Column] = [.init("name"), .init("ready", .number), .init("state", .state)]
                let rows = (0..<count).map { ["queue \($0)", "\($0 * 5)", $0 == 0 ? "paused" : "open"] }
                return .init(title: "queues", rows: .init(columns: columns, rows: rows))
            })
    }

    @Test func `a picture has the figures of the fleet, then each table with its title`() {
        #expect(
            picture([3]).lines(width: 80, height: 24, palette: .off) == [
                "12:00:00  workers: 2 running, 3 of 16 calls in flight",
                "jobs: 10 ready, 3 running, 4 scheduled, 1.5 ended a second", "", "queues", "NAME     READY  STATE",
                "queue 0      0  paused", "queue 1      5  open", "queue 2     10  open",
            ])
    }

    @Test(arguments: [1, 2, 8, 12, 24, 200], [1, 10, 40, 120])
    func `a picture fits the terminal and names what it leaves out`(height: Int, width: Int) {
        let lines = picture([30, 4, 9]).lines(width: width, height: height, palette: .off)
        #expect(lines.count <= height)
        #expect(lines.allSatisfy { $0.count <= width })
        if height == 24 && width > 40 { #expect(lines.contains("queues, 25 more not shown")) }
    }

    @Test func `the longest tables lose rows first`() {
        #expect(FleetPicture.shares(of: [30, 4, 9], room: 22) == [5, 4, 4])
        #expect(FleetPicture.shares(of: [30, 4, 9], room: nil) == [30, 4, 9])
        #expect(FleetPicture.shares(of: [2, 1], room: 3) == [0, 0])
    }

    @Test func `colours change no width`() {
        func plain(_ line: String) -> String { line.replacing(/\u{1b}\[\d+m/, with: "") }
        for width in [3, 12, 80] {
            let lines = picture([3]).lines(width: width, palette: Palette(isOn: true))
            #expect(lines.map(plain) == picture([3]).lines(width: width, palette: .off))
        }
        #expect(
            picture([1]).lines(width: 80, palette: Palette(isOn: true)).last?.contains("\u{1b}[33mpaused\u{1b}[0m")
                == true)
    }

    @Test(arguments: [("90s", 90.0), ("30m", 1800), ("2h", 7200), ("7d", 604_800), ("500ms", 0.5)])
    func `an age is read in milliseconds, seconds, minutes, hours and days`(text: String, seconds: Double) {
        #expect(AgeText.seconds(text) == seconds)
    }

    @Test(arguments: ["", "d", "yesterday", "-2h", "2026-12-24"])
    func `a time is no age`(text: String) {
        #expect(AgeText.seconds(text) == nil)
    }
}
