// SPDX-License-Identifier: Apache-2.0

/// The facts about one track that a worker remembers.
struct TrackEntry: Sendable {
    var priority: Int16
    /// The watermark. The next visit takes rows after it.
    var mark: Int64
    /// Whether the last visit or survey found work and did not exhaust it.
    var isHot = true
    /// Its place in its line.
    var ticket: UInt64 = 0
    /// The number of its lane if the lane has limits, otherwise 0.
    var lane: Int32
    var isParked = false
    /// Whether this worker has claimed from it.
    var isRegular = false
    /// Whether the last survey saw a single row.
    var isSingle = false
    /// The last version that saw work here, and the last one that moved the watermark back (`KnownTracks`).
    var sighted: UInt64
    var steppedBack: UInt64 = 0
    /// The last survey that saw work here, or the last one before a claim that brought rows.
    var used: UInt64
    /// How many rows this worker has claimed here.
    var claimed: Int64 = 0
    /// The highest watermarks up to the last two moments of `KnownTracks.ageMarks`. Nil: not known.
    private(set) var floor: Int64?
    private var recent: Int64?

    init(priority: Int16, mark: Int64, lane: Int32, sighted: UInt64, used: UInt64) {
        self.priority = priority
        self.mark = mark
        self.lane = lane
        self.sighted = sighted
        self.used = used
    }

    /// Moves the watermark back to a row that is claimable below it.
    mutating func stepBack(to seq: Int64, version: UInt64) {
        mark = seq - 1
        steppedBack = version
    }

    /// Takes over the watermark as the recent one, and the recent one as the floor.
    mutating func ageMark() {
        floor = recent
        recent = max(recent ?? mark, mark)
    }
}
