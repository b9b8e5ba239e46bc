// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// From where on the leader folds and expires.
struct LeaderMarksTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = LeaderMarks()

    @Test mutating func `folding starts at the beginning a minute after the last time that was answered`() {
        #expect(marks.foldAfter(now: 0) == 0)
        marks.foldedTo(50_000, now: 2 * Self.second)
        #expect(marks.foldAfter(now: 61 * Self.second) == 50_000 - LeaderMarks.overlapTallies)
        marks.foldedTo(60_000, now: 61 * Self.second)
        #expect(marks.foldAfter(now: 62 * Self.second) == 0)
        // It failed at a lock, or the session was lost.
        #expect(marks.foldAfter(now: 63 * Self.second) == 0)
        marks.foldedTo(nil, now: 63 * Self.second)
        #expect(marks.foldAfter(now: 122 * Self.second) == 60_000 - LeaderMarks.overlapTallies)
    }

    @Test mutating func `expiring starts at the beginning ten seconds after the last time that was answered`() {
        for now in [0, Self.second] {
            let isFull = marks.expiresFromStart(now: now)
            #expect(isFull)
        }
        marks.expired(now: Self.second)
        let early = marks.expiresFromStart(now: 10 * Self.second)
        #expect(!early)
        marks.expired(now: 10 * Self.second)
        let again = marks.expiresFromStart(now: 11 * Self.second)
        #expect(again)
    }
}
