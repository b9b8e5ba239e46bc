// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

@testable import Engine

/// The moments at which the leader searches for due schedules, and the start of each search.
struct TickCursorTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = TickCursor()

    @Test mutating func `the first look is due at once and starts at the beginning, the next comes a second later`() {
        #expect(marks.due == 0)
        #expect(marks.begin(now: 5) == nil)
        #expect(marks.due == 5 + Self.second)
        marks.end(at: nil, hasMore: false, wait: nil, now: 10)
        #expect(marks.due == 5 + Self.second)
    }

    @Test mutating func `a tick that is due sooner is looked for a millisecond after it`() {
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

    @Test mutating func `between looks from the beginning it starts a second before the latest tick done`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: false, wait: 100, now: 0)
        #expect(marks.begin(now: marks.due)?.microseconds == 8_000_000)
        marks.end(at: PGTimestamp(microseconds: 7_000_000), hasMore: false, wait: 100, now: marks.due)
        #expect(marks.begin(now: Self.second / 2)?.microseconds == 8_000_000)
        #expect(marks.begin(now: Self.second) == nil)
    }

    @Test mutating func `a look from the beginning keeps a distance of 50 times its cost`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: false, wait: nil, now: 100_000_000)
        #expect(marks.begin(now: 4 * Self.second) != nil)
        #expect(marks.begin(now: 6 * Self.second) == nil)
        // The tick made many jobs.
        marks.end(at: nil, hasMore: false, wait: nil, now: 10 * Self.second)
        #expect(marks.begin(now: 19 * Self.second) != nil)
        #expect(marks.begin(now: 20 * Self.second) == nil)
    }

    @Test mutating func `what is due already is looked for at once, from the beginning`() {
        _ = marks.begin(now: 0)
        marks.end(at: PGTimestamp(microseconds: 9_000_000), hasMore: true, wait: 10, now: 50)
        #expect(marks.due == 50)
        #expect(marks.begin(now: 50) == nil)
    }
}
