// SPDX-License-Identifier: Apache-2.0

/// The moments at which calls of a lane may begin, in order. Monotonic nanoseconds.
///
/// They are stored as the granted runs: a lane with 10,000 calls a second has 2,500 slots granted ahead.
struct LaneSlots: Equatable, Sendable {
    private struct Run: Equatable, Sendable {
        var first: UInt64
        var spacing: UInt64
        var count: Int

        func moment(_ place: Int) -> UInt64 { first + UInt64(place) * spacing }

        /// How many slots are not later than a moment.
        func count(until moment: UInt64) -> Int {
            guard moment >= first, count > 0 else { return 0 }
            guard spacing > 0 else { return count }
            return Int(min(UInt64(count), (moment - first) / spacing + 1))
        }
    }

    private var runs: [Run] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: UInt64? { runs.first?.first }
    var last: UInt64? { runs.last.map { $0.moment($0.count - 1) } }

    /// Adds a grant. Its slots are later than all others.
    mutating func append(first: UInt64, spacing: UInt64, count added: Int) {
        guard added > 0 else { return }
        runs.append(Run(first: first, spacing: spacing, count: added))
        count += added
    }

    /// Removes up to `number` slots from the front.
    mutating func removeFirst(_ number: Int = 1) {
        var left = min(number, count)
        count -= left
        while left > 0 {
            let dropped = min(left, runs[0].count)
            left -= dropped
            runs[0].first = runs[0].moment(dropped)
            runs[0].count -= dropped
            if runs[0].count == 0 { runs.removeFirst() }
        }
    }

    /// How many slots are not later than a moment.
    func count(until moment: UInt64) -> Int {
        var found = 0
        for run in runs {
            let near = run.count(until: moment)
            found += near
            if near < run.count { break }
        }
        return found
    }

    /// The slot at a place, counted from 0. Nil after the last one.
    subscript(place: Int) -> UInt64? {
        var place = place
        for run in runs {
            if place < run.count { return run.moment(place) }
            place -= run.count
        }
        return nil
    }
}
