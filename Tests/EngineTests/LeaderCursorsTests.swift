// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

@testable import Engine

/// The positions from which the leader folds, promotes and expires.
struct LeaderCursorsTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = LeaderCursors()

    @Test mutating func `the leader folds from the beginning a minute after the last answered full fold`() {
        #expect(marks.foldAfter(now: 0) == 0)
        marks.foldedTo(50_000, now: 2 * Self.second)
        #expect(marks.foldAfter(now: 61 * Self.second) == 50_000 - LeaderCursors.overlapDeltas)
        marks.foldedTo(60_000, now: 61 * Self.second)
        #expect(marks.foldAfter(now: 62 * Self.second) == 0)
        // The fold failed at a lock, or the session was lost.
        #expect(marks.foldAfter(now: 63 * Self.second) == 0)
        marks.foldedTo(nil, now: 63 * Self.second)
        #expect(marks.foldAfter(now: 122 * Self.second) == 60_000 - LeaderCursors.overlapDeltas)
    }

    @Test mutating func `the leader searches all jobs for expiry ten seconds after the last answered full search`() {
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

    /// The worker leads twice and does not notice the leader in between:
    /// - 1. The worker leads, and its session stalls for longer than the lease of the leader.
    /// - 2. Another worker leads, and ends.
    /// - 3. The worker asks again and leads. It has received no answer that it had stopped to lead.
    @Test
    mutating func `a new leader epoch resets all cursors even if the worker missed the change`() {
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
