// SPDX-License-Identifier: Apache-2.0

/// The known tracks, and the lines in which they wait for a visit. Pure.
///
/// The tracks with work stand in lines for each priority (see `TrackLevel`), the others in one line after them.
///
/// Tracks of a lane with limits are *parked* outside of the lines while the worker holds no permit of the lane. So a
/// lane at its limit costs no visits.
struct TrackLines: Sendable {
    /// The line of a priority, by its index, or the line of tracks without known work.
    enum Line {
        case hot(Int)
        case cold
    }

    private var entries: [Int32: TrackEntry] = [:]
    /// The tracks with work, the highest priority first.
    private var hot: [TrackLevel] = []
    /// The tracks without known work.
    private var cold = TrackLevel(priority: 0)
    /// The tracks outside of the lines, by lane.
    private var parked: [Int32: [Int32]] = [:]
    /// How many tracks of each lane hold work, parked ones included. Key 0 counts tracks of lanes without limits.
    private var hotInLane: [Int32: Int] = [:]
    private var tickets: UInt64 = 0
    private var regularsAreNext = false

    /// How many tracks are known.
    var count: Int { entries.count }

    /// A track. The caller has moved it to its line before it sets the entry.
    subscript(track: Int32) -> TrackEntry? {
        get { entries[track] }
        set { entries[track] = newValue }
    }

    /// How many tracks with work stand in the lines.
    var queued: Int { hot.reduce(0) { $0 + $1.count } }

    /// Whether a track could be visited. False if all are parked.
    var canVisit: Bool { cold.count > 0 || queued > 0 }

    /// Whether a track holds work, parked ones included.
    var hasWork: Bool { !hotInLane.isEmpty }

    /// Whether some known work is free of lane limits.
    var hasBacklog: Bool { hotInLane[0] != nil }

    /// The lowest priority of the tracks that are known to hold work.
    var lowestPriority: Int16? { hot.last { $0.count > 0 }?.priority }

    /// Whether tracks of a lane with limits are known to hold work.
    func isWanted(_ lane: Int32) -> Bool { hotInLane[lane] != nil }

    /// Whether tracks of a lane with limits hold work or are parked.
    func isUsed(_ lane: Int32) -> Bool { isWanted(lane) || parked[lane] != nil }

    /// How many rows a claim of `wanted` may bring: all of them, unless lane limits hold back all known work.
    func expected(of wanted: Int, lanes: inout LanePermits, now: UInt64) -> Int {
        guard !hasBacklog, hasWork, hotInLane.count <= KnownTracks.visitLimit else { return wanted }
        // A claim also visits tracks without known work.
        var rows = min(cold.count, 1)
        for lane in hotInLane.keys where rows < wanted { rows += lanes.room(lane, wanted: wanted - rows, now: now) }
        return rows
    }

    // MARK: a plan reads the lines

    /// The indices of the lines with work, the highest priority first.
    var levels: Range<Int> { hot.indices }

    /// The priority of a line with work.
    func priority(of level: Int) -> Int16 { hot[level].priority }

    /// How many tracks stand in a line with work.
    func count(of level: Int, _ lines: TrackLevel.Lines = .both) -> Int { hot[level].count(lines) }

    /// Whether a claim of so many rows would leave newcomers of a line waiting.
    func isCrowded(_ level: Int, limit: Int) -> Bool { hot[level].isCrowded(limit: limit) }

    /// How many tracks without known work stand in line.
    var coldCount: Int { cold.count }

    /// Whether a track stands in the line with work of this priority.
    func isQueued(_ track: Int32, priority: Int16) -> Bool {
        entries[track].map { $0.isHot && !$0.isParked && $0.priority == priority } ?? false
    }

    /// Whether the regular tracks are the first half of a divided claim. It alternates.
    mutating func takeTurnOfRegulars() -> Bool {
        regularsAreNext.toggle()
        return regularsAreNext
    }

    /// The track whose last visit is oldest. The caller lets it `rejoin` or parks it. Nil at the end of the line.
    mutating func next(in line: Line, _ lines: TrackLevel.Lines) -> (track: Int32, entry: TrackEntry)? {
        while let place = nextPlace(in: line, lines) {
            if let entry = entries[place.track], entry.ticket == place.ticket { return (place.track, entry) }
        }
        return nil
    }

    private mutating func nextPlace(in line: Line, _ lines: TrackLevel.Lines) -> TrackRotation.Place? {
        switch line {
        case .hot(let level): hot[level].next(lines)
        case .cold: cold.next(lines)
        }
    }

    /// Puts a track at the end of its line.
    mutating func rejoin(_ line: Line, _ track: Int32, _ entry: TrackEntry) {
        var entry = entry
        let isRegular = entry.isHot && entry.isRegular
        giveTicket(&entry)
        entries[track] = entry
        switch line {
        case .hot(let level):
            hot[level].left(isRegular: isRegular)
            hot[level].join(track, ticket: entry.ticket, isRegular: isRegular)
        case .cold:
            cold.left(isRegular: isRegular)
            cold.join(track, ticket: entry.ticket, isRegular: isRegular)
        }
    }

    /// Takes a track out of its line, because its lane is at its limit.
    mutating func park(_ line: Line, _ track: Int32, _ entry: TrackEntry) {
        var entry = entry
        let isRegular = entry.isHot && entry.isRegular
        giveTicket(&entry)
        entry.isParked = true
        entries[track] = entry
        parked[entry.lane, default: []].append(track)
        switch line {
        case .hot(let level): hot[level].left(isRegular: isRegular)
        case .cold: cold.left(isRegular: isRegular)
        }
    }

    // MARK: tracks change their lines

    /// Puts tracks back into their lines if their lanes have permits. Returns whether one of them holds work.
    mutating func unpark(_ lanes: inout LanePermits, now: UInt64) -> Bool {
        var isFound = false
        for (lane, tracks) in parked where isWanted(lane) && lanes.room(lane, now: now) > 0 {
            parked[lane] = nil
            for track in tracks {
                guard var entry = entries[track], entry.isParked else { continue }
                entry.isParked = false
                if entry.isHot {
                    countHot(lane, -1)
                    joinHot(track, &entry)
                    isFound = true
                } else {
                    joinCold(track, &entry)
                }
                entries[track] = entry
            }
        }
        return isFound
    }

    /// Adds a track with work to the line of its priority.
    mutating func joinHot(_ track: Int32, _ entry: inout TrackEntry) {
        giveTicket(&entry)
        entry.isHot = true
        countHot(entry.lane, 1)
        guard !entry.isParked else { return }
        let index = hot.firstIndex { $0.priority <= entry.priority } ?? hot.endIndex
        if index == hot.endIndex || hot[index].priority != entry.priority {
            hot.insert(TrackLevel(priority: entry.priority), at: index)
        }
        hot[index].join(track, ticket: entry.ticket, isRegular: entry.isRegular)
    }

    /// Moves a track from the line without work to the line of its priority.
    mutating func becomeHot(_ track: Int32, _ entry: inout TrackEntry) {
        if !entry.isParked { cold.left(isRegular: false) }
        joinHot(track, &entry)
    }

    /// Moves a track from the line of its priority to the line without work.
    mutating func becomeCold(_ track: Int32, _ entry: inout TrackEntry) {
        countHot(entry.lane, -1)
        guard !entry.isParked else {
            entry.isHot = false
            return
        }
        if let index = hot.firstIndex(where: { $0.priority == entry.priority }) {
            hot[index].left(isRegular: entry.isRegular)
        }
        joinCold(track, &entry)
    }

    private mutating func joinCold(_ track: Int32, _ entry: inout TrackEntry) {
        giveTicket(&entry)
        entry.isHot = false
        cold.join(track, ticket: entry.ticket, isRegular: false)
    }

    /// Records that a claim has brought rows of the track.
    mutating func becomeRegular(_ track: Int32, _ entry: inout TrackEntry) {
        defer { entry.isRegular = true }
        guard entry.isHot, !entry.isParked, let index = hot.firstIndex(where: { $0.priority == entry.priority }) else {
            return
        }
        giveTicket(&entry)
        hot[index].left(isRegular: false)
        hot[index].join(track, ticket: entry.ticket, isRegular: true)
    }

    /// Moves a track after its lane has got limits or lost them.
    mutating func move(_ track: Int32, _ entry: inout TrackEntry, to lane: Int32) {
        if entry.isHot { countHot(entry.lane, -1) }
        if entry.isParked {
            leaveParked(track, entry.lane)
            entry.isParked = false
            entry.lane = lane
            if entry.isHot { joinHot(track, &entry) } else { joinCold(track, &entry) }
            return
        }
        entry.lane = lane
        if entry.isHot { countHot(lane, 1) }
    }

    private mutating func leaveParked(_ track: Int32, _ lane: Int32) {
        parked[lane]?.removeAll { $0 == track }
        if parked[lane]?.isEmpty == true { parked[lane] = nil }
    }

    private mutating func giveTicket(_ entry: inout TrackEntry) {
        tickets += 1
        entry.ticket = tickets
    }

    private mutating func countHot(_ lane: Int32, _ change: Int) {
        let count = hotInLane[lane, default: 0] + change
        hotInLane[lane] = count > 0 ? count : nil
    }

    // MARK: floors

    /// Lets the watermarks of all tracks become older.
    mutating func ageMarks() {
        for track in entries.keys { entries[track]?.ageMark() }
    }

    /// The floors of the tracks with the most claimed rows.
    func floors(_ most: Int, claimed least: Int64) -> [KnownTracks.Floor] {
        let candidates = entries.compactMap { track, entry in
            entry.claimed < least ? nil : entry.floor.map { (track: track, floor: $0, claimed: entry.claimed) }
        }
        return candidates.sorted { ($1.claimed, $0.track) < ($0.claimed, $1.track) }.prefix(most)
            .map { KnownTracks.Floor(track: $0.track, seq: $0.floor) }
    }

    // MARK: tracks are forgotten

    /// Removes tracks without work that are unused.
    mutating func removeCold(where isUnused: (TrackEntry) -> Bool) {
        for (track, entry) in entries where !entry.isHot && isUnused(entry) {
            entries[track] = nil
            if entry.isParked { leaveParked(track, entry.lane) } else { cold.left(isRegular: false) }
        }
    }

    /// Removes so many tracks. Tracks without work go first, the longest unused one first. Then tracks of the lowest
    /// priority go, new ones before regular ones, the latest first.
    mutating func remove(_ count: Int) {
        let tracks = entries.map { (track: $0.key, entry: $0.value) }.sorted { one, other in
            if one.entry.isHot != other.entry.isHot { return other.entry.isHot }
            if !one.entry.isHot { return one.entry.ticket < other.entry.ticket }
            if one.entry.priority != other.entry.priority { return one.entry.priority < other.entry.priority }
            if one.entry.isRegular != other.entry.isRegular { return other.entry.isRegular }
            return one.entry.ticket > other.entry.ticket
        }
        for (track, entry) in tracks.prefix(count) {
            entries[track] = nil
            if entry.isHot { countHot(entry.lane, -1) }
            guard !entry.isParked else { continue }
            if !entry.isHot {
                cold.left(isRegular: false)
            } else if let index = hot.firstIndex(where: { $0.priority == entry.priority }) {
                hot[index].left(isRegular: entry.isRegular)
            }
        }
        parked = parked.mapValues { tracks in tracks.filter { entries[$0] != nil } }.filter { !$0.value.isEmpty }
    }

    /// Removes void places from the lines.
    mutating func tidy() {
        let known = entries
        let isValid = { (place: TrackRotation.Place) in known[place.track]?.ticket == place.ticket }
        for index in hot.indices { hot[index].tidy(isValid) }
        cold.tidy(isValid)
    }
}
