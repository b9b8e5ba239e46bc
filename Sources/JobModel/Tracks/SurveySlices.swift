// SPDX-License-Identifier: Apache-2.0

/// Divides the rows of busy tracks into slices, of which each survey reads one. Pure.
///
/// An old transaction keeps the dead rows of these tracks. A survey that reads all of them takes hundreds of
/// milliseconds, one that reads a slice takes a few. The surveys read the slices in turn, so each round finds every row
/// that was committed late.
///
/// A slice that takes long is halved, and short neighbours are joined. Each round also has one survey without a slice.
/// The time of a slice is the time by which its survey takes longer than that one.
public struct SurveySlices: Sendable {
    /// A slice takes long if its survey takes this much longer than one without a slice: 4 ms.
    static let long: UInt64 = 4_000_000
    /// Neighbours are joined if their survey would probably take at most this much longer: 2 ms. The distance to
    /// `long` keeps them from being joined and halved in turn.
    static let short: UInt64 = 2_000_000
    /// The most slices. At the limit no slice is halved.
    static let limit = 1024
    /// The most late rows that are remembered. A round finds the others.
    static let lateLimit = 64

    /// The rows of one slice.
    public struct Slice: Equatable, Sendable {
        /// It begins after this seq.
        public var after: Int64
        /// It ends with this seq.
        public var end: Int64

        /// All rows.
        public static let all = Slice(after: 0, end: .max)
        /// No rows.
        public static let none = Slice(after: .max, end: .max)
    }

    private struct Part {
        /// The last seq of the slice. The last slice is open: it grows until its turn comes, and is halved then.
        var end: Int64
        /// How long its last survey took; nil: not known.
        var cost: UInt64?
        /// Whether the round under way has read it.
        var isRead: Bool
    }

    private var parts = [Part(end: .max, cost: nil, isRead: true)]
    /// The slice whose turn it is; behind the last one it is the turn of a survey without a slice.
    private var turn = 0
    /// How long a survey without a slice takes.
    private var base: UInt64 = 0
    /// Rows that were probably committed late.
    private var late: [Int64] = []
    /// How many of them were known when the last survey began. It may have begun before the commit of the others.
    private var knownLate = 0
    private var isTurnOfLateRow = false

    /// One slice with all rows.
    public init() {}

    /// How many slices there are.
    public var count: Int { parts.count }

    /// Whether each slice has been read since the round began.
    public var isRoundComplete: Bool { parts.allSatisfy(\.isRead) }

    /// Begins a round: each slice is to be read.
    public mutating func beginRound() {
        for place in parts.indices { parts[place].isRead = false }
    }

    /// Lets one of the next surveys read the slice of a row.
    public mutating func mayBeLate(_ seq: Int64) {
        if count > 1, late.count < SurveySlices.lateLimit { late.append(seq) }
    }

    /// The slice of the next survey. Slices of late rows and slices of the round take turns.
    public mutating func next() -> Slice {
        isTurnOfLateRow.toggle()
        knownLate = late.count
        let place = isTurnOfLateRow ? late.first.map(place) ?? turn : turn
        guard place < count else { return .none }
        return Slice(after: place == 0 ? 0 : parts[place - 1].end, end: parts[place].end)
    }

    private func place(of seq: Int64) -> Int { parts.firstIndex { seq <= $0.end } ?? 0 }

    /// Records that a survey has read a slice.
    ///
    /// - Parameters:
    ///   - took: nanoseconds.
    ///   - top: the highest seq from which on all rows are read anyway. No slice is divided above it.
    public mutating func returned(_ slice: Slice, took: UInt64, top: Int64) {
        guard slice != .none else {
            // A survey that waited for something else says nothing.
            base = min(took, parts.lazy.compactMap(\.cost).min() ?? took)
            turn = 0
            return
        }
        late = late.prefix(knownLate).filter { $0 <= slice.after || slice.end < $0 } + late.dropFirst(knownLate)
        let read = place(of: slice.end)
        parts[read].cost = took
        parts[read].isRead = true
        base = min(base, took)
        let middle = slice.after + (min(slice.end, top) - slice.after) / 2
        if took > SurveySlices.long + base, middle > slice.after, count < SurveySlices.limit {
            halve(read, at: middle)
        } else {
            if read == turn { turn = count == 1 ? 0 : read + 1 }
            joinWithNeighbour(read)
        }
    }

    /// If it was the turn of this slice, its halves are read next. When the first slice is halved, a survey without a
    /// slice comes before them.
    private mutating func halve(_ place: Int, at middle: Int64) {
        parts[place].cost = nil
        parts[place].isRead = false
        parts.insert(Part(end: middle, cost: nil, isRead: false), at: place)
        if turn > place { turn += 1 }
        if count == 2 { turn = count }
    }

    private mutating func joinWithNeighbour(_ place: Int) {
        guard place > 0, let cost = parts[place].cost, let before = parts[place - 1].cost else { return }
        // With two slices the result is a single one. Its whole survey must be short, not only what it adds to the base.
        guard before + cost <= SurveySlices.short + (count > 2 ? 2 : 1) * base else { return }
        parts[place].cost = max(before + cost, base) - base
        parts[place].isRead = parts[place].isRead && parts[place - 1].isRead
        parts.remove(at: place - 1)
        if turn >= place { turn -= 1 }
        if count == 1 {
            turn = 0
            base = 0
        }
    }
}
