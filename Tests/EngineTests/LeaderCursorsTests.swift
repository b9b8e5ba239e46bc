// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

@testable import Engine

/// The positions from which the leader folds, promotes and expires.
struct LeaderCursorsTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = LeaderCursors()

    @Test mutating func `folding starts at the beginning a minute after the last time that was answered`() {
        #expect(marks.foldAfter(now: 0) == 0)
        marks.foldedTo(50_000, now: 2 * Self.second)
        #expect(marks.foldAfter(now: 61 * Self.second) == 50_000 - LeaderCursors.overlapTallies)
        marks.foldedTo(60_000, now: 61 * Self.second)
        #expect(marks.foldAfter(now: 62 * Self.second) == 0)
        // The fold failed at a lock, or the session was lost.
        #expect(marks.foldAfter(now: 63 * Self.second) == 0)
        marks.foldedTo(nil, now: 63 * Self.second)
        #expect(marks.foldAfter(now: 122 * Self.second) == 60_000 - LeaderCursors.overlapTallies)
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

    /// The worker leads twice without a sign of the leader between:
    /// - 1. The worker leads, and its session stalls for longer than the lease of the leader.
    /// - 2. Another worker leads, and ends.
    /// - 3. The worker asks again and leads. It has received no answer that it had stopped to lead.
    @Test
    mutating func `a new epoch starts everything at the beginning, also where the lease was never seen to be gone`() {
        for (epoch, isNew) in [(Int64(5), true), (5, false), (7, true)] {
            #expect(marks.lead(epoch: epoch) == isNew)
            let since = marks.promoteFrom(now: Self.second)
            #expect((since == nil) == isNew)
            #expect((marks.foldAfter(now: Self.second) == 0) == isNew)
            #expect(marks.expiresFromStart(now: Self.second) == isNew)
            marks.promotedTo(PGTimestamp(microseconds: 1), wasFull: isNew, cost: 0, now: Self.second)
            marks.foldedTo(50_000, now: Self.second)
            marks.expired(now: Self.second)
        }
    }
}
