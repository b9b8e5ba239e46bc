// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The moments at which a worker settles batches and chains, and the first delta of each search.
struct TreeCursorTests {
    private static let second: UInt64 = 1_000_000_000
    private var marks = TreeCursor()

    @Test mutating func `a tree search is due at once after a member ended, and not before`() {
        #expect(marks.due == .max)
        marks.membersEnded(now: 5)
        #expect(marks.due == 5)
        let look = marks.begin(leads: false, now: 5)
        #expect(look.after == 0 && !look.endsOrphans)
        #expect(marks.due == .max)
    }

    @Test mutating func `a tree search continues where the last search ended, at least 2 ms later`() {
        _ = marks.begin(leads: false, now: 0)
        marks.settled(to: 42, hasMore: false, leads: false, now: 100)
        #expect(marks.due == .max)
        marks.membersEnded(now: 200)
        #expect(marks.due == 100 + TreeCursor.pause)
        #expect(marks.begin(leads: false, now: marks.due).after == 42)
    }

    @Test mutating func `after an overrun, each search settles one tree alone until all deltas are counted`() {
        #expect(!marks.begin(leads: false, now: 0).oneTree)
        marks.failed(isOverrun: true, leads: false, now: 100)
        #expect(marks.due < .max)
        #expect(marks.begin(leads: false, now: 200).oneTree)
        marks.settled(to: nil, hasMore: true, leads: false, now: 300)
        #expect(marks.begin(leads: false, now: 400).oneTree)
        marks.settled(to: nil, hasMore: false, leads: false, now: 500)
        #expect(!marks.begin(leads: false, now: 600).oneTree)
    }

    @Test mutating func `the next tree search waits 8 times the last search's cost, at most 20 ms`() {
        _ = marks.begin(leads: false, now: 0)
        marks.settled(to: 1, hasMore: false, leads: false, now: 1_000_000)
        marks.membersEnded(now: 1_000_000)
        #expect(marks.due == 9_000_000)
        _ = marks.begin(leads: false, now: 9_000_000)
        marks.settled(to: 2, hasMore: false, leads: false, now: 19_000_000)
        marks.membersEnded(now: 19_000_000)
        #expect(marks.due == 19_000_000 + TreeCursor.longestPause)
    }

    @Test mutating func `a member that ends during a search causes another search after it`() {
        _ = marks.begin(leads: false, now: 0)
        marks.membersEnded(now: 10)
        marks.settled(to: nil, hasMore: false, leads: false, now: 100)
        #expect(marks.due == 100 + TreeCursor.pause)
    }

    @Test mutating func `a tree that was locked is searched again after 10 ms`() {
        _ = marks.begin(leads: false, now: 0)
        marks.settled(to: 7, hasMore: true, leads: false, now: 100)
        #expect(marks.due == 100 + TreeCursor.patience)
    }

    @Test mutating func `the leader searches trees every 100 ms, regardless of the last search's cost`() {
        marks.leads(now: 0)
        #expect(marks.due == 0)
        let first = marks.begin(leads: true, now: 0)
        #expect(first.after == 0 && first.endsOrphans)
        // The search took 400 ms. The next search of the rest must not wait 20 s because of that.
        marks.settled(to: 9, hasMore: false, leads: true, now: 400_000_000)
        #expect(marks.due == 400_000_000 + TreeCursor.interval)
        let next = marks.begin(leads: true, now: marks.due)
        #expect(next.endsOrphans)
    }

    @Test
    mutating func `the leader's full searches are 50 times their cost apart, other searches look back seconds`() {
        var now: UInt64 = 0
        var fromStart: [UInt64] = []
        var id: Int64 = 0
        marks.leads(now: 0)
        while now < 60 * Self.second {
            now = max(now, marks.due)
            let begun = now
            let look = marks.begin(leads: true, now: now)
            if look.after == 0 { fromStart.append(begun) }
            // A search from the beginning takes 100 ms, and each search finds 100 new deltas.
            now += look.after == 0 ? 100_000_000 : 1_000_000
            if begun > 3 * Self.second, look.after > 0 { #expect(id - look.after >= 800 && id - look.after <= 2200) }
            id += 100
            marks.settled(to: id, hasMore: false, leads: true, now: now)
        }
        // In the first seconds, the cursor knows no earlier id.
        let later = fromStart.filter { $0 > 3 * Self.second }
        #expect(later.count >= 8 && later.count <= 13)
    }

    @Test(arguments: [true, false])
    mutating func
        `after a full search of 6 s, the next full search starts within 17 s`(
            fails: Bool
        )
    {
        var now: UInt64 = 0
        var fromStart: [UInt64] = []
        marks.leads(now: 0)
        while now < 60 * Self.second {
            now = max(now, marks.due)
            let look = marks.begin(leads: true, now: now)
            guard look.after == 0 else {
                marks.settled(to: 1, hasMore: false, leads: true, now: now)
                continue
            }
            fromStart.append(now)
            now += 6 * Self.second
            if fails {
                marks.failed(isOverrun: true, leads: true, now: now)
            } else {
                marks.settled(to: 1, hasMore: false, leads: true, now: now)
            }
        }
        // In the first seconds, two searches know no earlier id.
        #expect(zip(fromStart, fromStart.dropFirst()).allSatisfy { $1 - $0 <= 17 * Self.second })
        #expect(fromStart.count >= 4)
    }

    @Test mutating func `a worker that does not lead makes no full tree search`() {
        marks.membersEnded(now: 0)
        for _ in 0..<100 {
            let look = marks.begin(leads: false, now: marks.due)
            #expect(!look.endsOrphans)
            marks.settled(to: nil, hasMore: false, leads: false, now: look.after > 0 ? 1 : 0)
            marks.membersEnded(now: 0)
        }
    }
}
