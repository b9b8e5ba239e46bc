// SPDX-License-Identifier: Apache-2.0

/// The tracks that a worker knows: which may hold work, and how far it has claimed in each. Pure.
///
/// A claim visits tracks by priority. Tracks of one priority take turns. Each is read from its watermark on, which
/// skips leased and dead rows. A survey finds unknown tracks, and rows below the watermark that were committed late.
///
/// A plan costs as much as its visits, at most 64, however many tracks are known. The tracks with work stand in lines
/// for each priority (see `TrackLevel`), the others in one line after them. Up to 4096 tracks are known, and a later
/// survey finds the others again.
///
/// Tracks of a lane with limits are *parked* outside of the lines while the worker holds no permit of the lane. So a
/// lane at its limit costs no visits.
public struct KnownTracks: Sendable {
    /// The most tracks of a claim. Each costs one index descent.
    public static let visitLimit = 64
    /// Above this number tracks are dropped, those without work first. A later survey finds them again.
    public static let memoryLimit = 4096
    /// A track without rows during so many surveys is dropped, after 17 minutes to six hours. The leader removes unused
    /// tracks after a day.
    static let surveysKept: UInt64 = 4096

    /// One line of a survey.
    public struct Sighting: Equatable, Sendable {
        /// The track's number.
        public var track: Int32
        /// Tracks with a higher value are visited first.
        public var priority: Int16
        /// The first claimable row.
        public var firstSeq: Int64
        /// The number of its lane if the lane has limits, otherwise 0.
        public var lane: Int32
        /// Whether another claimable row follows.
        public var hasMore: Bool

        /// A track that holds a claimable row.
        public init(track: Int32, priority: Int16, firstSeq: Int64, lane: Int32 = 0, hasMore: Bool = true) {
            self.track = track
            self.priority = priority
            self.firstSeq = firstSeq
            self.lane = lane
            self.hasMore = hasMore
        }
    }

    /// The visit of one track by a claim.
    public struct Visit: Equatable, Sendable {
        /// The track's number.
        public var track: Int32
        /// The most rows to take.
        public var cap: Int32
        /// Only rows after this one are taken.
        public var mark: Int64
        /// The number of its lane if this worker keeps limits of the lane, otherwise 0.
        public var lane: Int32 = 0
        /// How many surveys had been read when it was planned. A later survey is more recent than this visit.
        var surveys: UInt64
    }

    struct Entry: Sendable {
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
        /// The last survey that saw work here, and the last one that moved the watermark back.
        var sighted: UInt64
        var steppedBack: UInt64 = 0
        /// The last survey that saw work here, or the last one before a claim that brought rows.
        var used: UInt64

        init(priority: Int16, mark: Int64, lane: Int32, sighted: UInt64) {
            self.priority = priority
            self.mark = mark
            self.lane = lane
            self.sighted = sighted
            used = sighted
        }
    }

    var entries: [Int32: Entry] = [:]
    /// The tracks with work, the highest priority first.
    var hot: [TrackLevel] = []
    /// The tracks without known work.
    var cold = TrackLevel(priority: 0)
    /// The tracks outside of the lines, by lane.
    var parked: [Int32: [Int32]] = [:]
    /// How many tracks of each lane hold work, parked ones included. Key 0 counts tracks of lanes without limits.
    var hotInLane: [Int32: Int] = [:]
    var surveys: UInt64 = 0
    var tickets: UInt64 = 0
    var regularsAreNext = false

    /// An empty set of tracks. The first survey fills it.
    public init() {}

    /// How many tracks are known.
    public var count: Int { entries.count }

    /// Whether a track in the lines is known to hold work.
    public var hasHotTracks: Bool { queued > 0 }

    /// How many tracks with work stand in the lines.
    var queued: Int { hot.reduce(0) { $0 + $1.count } }

    /// Whether a claim could visit a track. False if all are parked.
    public var canVisit: Bool { cold.count > 0 || hasHotTracks }

    /// The lowest priority of the tracks that are known to hold work.
    public var lowestPriority: Int16? { hot.last { $0.count > 0 }?.priority }

    /// Whether tracks of a lane with limits are known to hold work.
    public func isWanted(_ lane: Int32) -> Bool { hotInLane[lane] != nil }

    /// Whether some known work is free of lane limits.
    public var hasBacklog: Bool { hotInLane[0] != nil }

    /// How many rows a claim of `wanted` may bring: all of them, unless lane limits hold back all known work.
    public func expected(of wanted: Int, lanes: inout LanePermits, now: UInt64) -> Int {
        guard !hasBacklog, !hotInLane.isEmpty, hotInLane.count <= KnownTracks.visitLimit else { return wanted }
        // A claim also visits tracks without known work.
        var rows = min(cold.count, 1)
        for lane in hotInLane.keys where rows < wanted { rows += lanes.room(lane, wanted: wanted - rows, now: now) }
        return rows
    }

    /// Takes a survey: new tracks, tracks with work, and late rows, to which the watermark moves back.
    public mutating func surveyReturned(_ sightings: [Sighting]) {
        var lanes = LanePermits()
        surveyReturned(sightings, lanes: &lanes)
    }

    /// The same. Lanes with limits become known, and other lanes are dropped.
    public mutating func surveyReturned(_ sightings: [Sighting], lanes: inout LanePermits) {
        defer { if !lanes.isEmpty { lanes.forget { !isWanted($0) && parked[$0] == nil } } }
        surveys += 1
        for sighting in sightings {
            if sighting.lane != 0 { lanes.know(sighting.lane) }
            guard var entry = entries[sighting.track] else {
                // All rows below the first claimable row are leased or dead.
                var entry = Entry(
                    priority: sighting.priority, mark: sighting.firstSeq - 1, lane: sighting.lane, sighted: surveys)
                entry.isSingle = !sighting.hasMore
                joinHot(sighting.track, &entry)
                entries[sighting.track] = entry
                continue
            }
            entry.sighted = surveys
            entry.used = surveys
            entry.isSingle = !sighting.hasMore
            if sighting.firstSeq <= entry.mark {
                entry.mark = sighting.firstSeq - 1
                entry.steppedBack = surveys
            }
            if entry.lane != sighting.lane { move(sighting.track, &entry, to: sighting.lane) }
            if !entry.isHot {
                if !entry.isParked { cold.left(isRegular: false) }
                joinHot(sighting.track, &entry)
            }
            entries[sighting.track] = entry
        }
        if surveys % 256 == 0 { forgetUnused() }
        forget()
        tidy()
    }

    private mutating func forgetUnused() {
        for (track, entry) in entries where !entry.isHot && entry.used + KnownTracks.surveysKept < surveys {
            entries[track] = nil
            if entry.isParked {
                parked[entry.lane]?.removeAll { $0 == track }
                if parked[entry.lane]?.isEmpty == true { parked[entry.lane] = nil }
            } else {
                cold.left(isRegular: false)
            }
        }
    }

    /// Reduces the known tracks to three quarters of the limit. Tracks without work go first, the longest unused one
    /// first. Then tracks of the lowest priority go, new ones before regular ones, the latest first.
    private mutating func forget() {
        guard entries.count > KnownTracks.memoryLimit else { return }
        let tracks = entries.map { (track: $0.key, entry: $0.value) }.sorted { one, other in
            if one.entry.isHot != other.entry.isHot { return other.entry.isHot }
            if !one.entry.isHot { return one.entry.ticket < other.entry.ticket }
            if one.entry.priority != other.entry.priority { return one.entry.priority < other.entry.priority }
            if one.entry.isRegular != other.entry.isRegular { return other.entry.isRegular }
            return one.entry.ticket > other.entry.ticket
        }
        for (track, entry) in tracks.prefix(entries.count - KnownTracks.memoryLimit * 3 / 4) {
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

    /// Moves a track after its lane has got limits or lost them.
    private mutating func move(_ track: Int32, _ entry: inout Entry, to lane: Int32) {
        if entry.isHot { countHot(entry.lane, -1) }
        if entry.isParked {
            parked[entry.lane]?.removeAll { $0 == track }
            if parked[entry.lane]?.isEmpty == true { parked[entry.lane] = nil }
            entry.isParked = false
            entry.lane = lane
            let isHot = entry.isHot
            entry.isHot = false
            if isHot { joinHot(track, &entry) } else { joinCold(track, &entry) }
            return
        }
        entry.lane = lane
        if entry.isHot { countHot(lane, 1) }
    }

    /// Puts tracks back into their lines if their lanes have permits. Returns whether one of them holds work.
    public mutating func unpark(_ lanes: inout LanePermits, now: UInt64) -> Bool {
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

    private mutating func countHot(_ lane: Int32, _ change: Int) {
        let count = hotInLane[lane, default: 0] + change
        hotInLane[lane] = count > 0 ? count : nil
    }

    private mutating func joinHot(_ track: Int32, _ entry: inout Entry) {
        tickets += 1
        entry.ticket = tickets
        entry.isHot = true
        countHot(entry.lane, 1)
        guard !entry.isParked else { return }
        let index = hot.firstIndex { $0.priority <= entry.priority } ?? hot.endIndex
        if index == hot.endIndex || hot[index].priority != entry.priority {
            hot.insert(TrackLevel(priority: entry.priority), at: index)
        }
        hot[index].join(track, ticket: tickets, isRegular: entry.isRegular)
    }

    /// Moves a track from the line of its priority to the line without work.
    private mutating func leaveHot(_ track: Int32, _ entry: inout Entry) {
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

    private mutating func joinCold(_ track: Int32, _ entry: inout Entry) {
        tickets += 1
        entry.ticket = tickets
        entry.isHot = false
        cold.join(track, ticket: tickets, isRegular: false)
    }

    mutating func tidy() {
        let known = entries
        let isValid = { (place: TrackRotation.Place) in known[place.track]?.ticket == place.ticket }
        for index in hot.indices { hot[index].tidy(isValid) }
        cold.tidy(isValid)
    }

    /// Moves the watermark back to a row that this worker had claimed and that is ready again. The next claim begins
    /// there.
    public mutating func stepBack(_ track: Int32, to seq: Int64) {
        guard var entry = entries[track], entry.mark >= seq else { return }
        // Claims under way were planned before this, so they do not count as visits of the row.
        surveys += 1
        entry.mark = seq - 1
        entry.steppedBack = surveys
        entries[track] = entry
    }

    /// Records that a claim has brought rows of the track.
    private mutating func becomeRegular(_ track: Int32, _ entry: inout Entry) {
        defer { entry.isRegular = true }
        guard entry.isHot, !entry.isParked, let index = hot.firstIndex(where: { $0.priority == entry.priority }) else {
            return
        }
        tickets += 1
        entry.ticket = tickets
        hot[index].left(isRegular: false)
        hot[index].join(track, ticket: tickets, isRegular: true)
    }

    /// Takes the result of a claim: for each visit in order the number of rows, and the last seq among them.
    ///
    /// - Parameter limit: the limit of the whole claim. Visits after it was reached did not take place.
    public mutating func claimReturned(_ visits: [Visit], limit: Int, found: [Int32: (count: Int, last: Int64)]) {
        var total = 0
        for visit in visits {
            guard var entry = entries[visit.track] else { continue }
            let rows = found[visit.track]?.count ?? 0
            // A visit that was planned before a step back began above the late row. Only a visit from below may move
            // the watermark past that row.
            if let last = found[visit.track]?.last, entry.steppedBack <= visit.surveys {
                entry.mark = max(entry.mark, last)
            }
            let wasSingle = entry.isSingle && rows == 1
            if rows > 0 {
                entry.isSingle = false
                entry.used = surveys
            }
            if rows > 0, !wasSingle, !entry.isRegular { becomeRegular(visit.track, &entry) }
            if total < limit {
                let hasMore = !wasSingle && (rows >= Int(visit.cap) || (rows > 0 && total + rows >= limit))
                if hasMore && !entry.isHot {
                    if !entry.isParked { cold.left(isRegular: false) }
                    joinHot(visit.track, &entry)
                } else if !hasMore && entry.isHot && entry.sighted <= visit.surveys {
                    leaveHot(visit.track, &entry)
                }
            }
            total += rows
            entries[visit.track] = entry
        }
    }
}
