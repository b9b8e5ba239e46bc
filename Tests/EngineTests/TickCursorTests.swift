// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

@testable import Engine

/// The moments at which the leader searches for due schedules, and the start of each search.
struct TickCursorTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = TickCursor()

    @Test mutating func `the first tick search starts at once from the beginning, the next a second later`() {
        #expect(marks.due == 0)
        #expect(marks.begin(now: 5) == nil)
        #expect(marks.due == 5 + Self.second)
        marks.end(at: nil, hasMore: false, wait: nil, now: 10)
        #expect(marks.due == 5 + Self.second)
    }

    @Test mutating func `a tick due within a second is searched for a millisecond after its time`() {
        _ = marks.begin(now: 0)
        marks.end(at: nil, hasMore: false, wait: 250, now: 0)
        #expect(marks.due == 251_000_000)
        _ = marks.begin(now: marks.due)
        marks.end(at: nil, hasMore: false, wait: -3, now: marks.due)
        #expect(marks.due < 251_000_000 + 2 * Self.second)
        _ = marks.begin(now: 2 * Self.second)
        marks.end(at: nil, hasMore: false, wait: 3_600_000, now: 2 * Self.second)
        #expect(marks.due == 3 * Self.second)
    }

    @Test mutating func `a search between full searches starts a second before the latest handled tick`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: false, wait: 100, now: 0)
        #expect(marks.begin(now: marks.due)?.microseconds == 8_000_000)
        marks.end(at: PGTimestamp(microseconds: 7_000_000), hasMore: false, wait: 100, now: marks.due)
        #expect(marks.begin(now: Self.second / 2)?.microseconds == 8_000_000)
        #expect(marks.begin(now: Self.second) == nil)
    }

    @Test mutating func `full tick searches are 50 times their cost apart, up to a limit`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: false, wait: nil, now: 100_000_000)
        #expect(marks.begin(now: 4 * Self.second) != nil)
        #expect(marks.begin(now: 6 * Self.second) == nil)
        // The tick made many jobs.
        marks.end(at: nil, hasMore: false, wait: nil, now: 10 * Self.second)
        #expect(marks.begin(now: 19 * Self.second) != nil)
        #expect(marks.begin(now: 20 * Self.second) == nil)
    }

    @Test mutating func `if more ticks are already due, a full search starts at once`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: true, wait: 10, now: 50)
        #expect(marks.due == 50)
        #expect(marks.begin(now: 50) == nil)
    }
}
