// SPDX-License-Identifier: Apache-2.0

/// What a worker knows of the tracks: which may hold work, and up to where it has claimed in each. Pure.
///
/// A claim visits tracks by priority, and among tracks of one priority each in its turn. Each is read from its
/// watermark on, so neither leased nor dead rows are walked over again. A survey, by the way, finds tracks that
/// are not known here and rows that were committed late, below the watermark.
///
/// The cost of a plan is that of its visits, 64 at most, not that of the tracks known: those with work stand in lines
/// for each priority (see `TrackLevel`), the others in one line behind. Up to 4096 tracks are known; a later survey
/// finds the others again. Tracks of a lane with limits are *parked* outside of the lines while nothing is drawn for
/// the lane, so that a lane at its limit costs no visits.
public struct KnownTracks: Sendable {
    /// A claim names at most this many tracks: each costs one index descent.
    public static let visitLimit = 64
    /// Beyond this number tracks are forgotten, first those without work. A later survey finds them again.
    public static let memoryLimit = 4096
    /// A track without rows during so many surveys, 17 minutes to six hours, is forgotten. The leader removes tracks
    /// after a day.
    static let surveysKept: UInt64 = 4096

    /// One line of a survey.
    public struct Sighting: Equatable, Sendable {
        /// The track's number.
        public var track: Int32
        /// Higher is visited first.
        public var priority: Int16
        /// The first claimable row.
        public var firstSeq: Int64
        /// Its lane's number if the lane has limits, else 0.
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

    /// One track of a claim.
    public struct Visit: Equatable, Sendable {
        /// The track's number.
        public var track: Int32
        /// How many rows at most.
        public var cap: Int32
        /// Only rows after this one.
        public var mark: Int64
        /// Its lane's number if the lane has limits that this worker keeps, else 0.
        public var lane: Int32 = 0
        /// How many surveys had been read when it was planned: a later one knows more than this visit will.
        var surveys: UInt64
    }

    struct Entry: Sendable {
        var priority: Int16
        var mark: Int64
        /// Whether the last look found work and did not exhaust it.
        var isHot = true
        /// Its place in the line of its kind.
        var ticket: UInt64 = 0
        /// Its lane's number if the lane has limits, else 0.
        var lane: Int32
        var isParked = false
        /// Whether this worker has claimed from it before.
        var isRegular = false
        /// Whether the last survey saw a single row.
        var isSingle = false
        /// The last survey that saw work here, and the last that moved the watermark back.
        var sighted: UInt64
        var steppedBack: UInt64 = 0
        /// The last survey that saw work here, or before the last claim that brought some.
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
    /// Tracks with work; highest priority first.
    var hot: [TrackLevel] = []
    var cold = TrackLevel(priority: 0)
    /// Tracks in no line, by their lanes.
    var parked: [Int32: [Int32]] = [:]
    /// How many tracks of a lane with limits hold work, parked or not; 0: of lanes without.
    var hotInLane: [Int32: Int] = [:]
    var surveys: UInt64 = 0
    var tickets: UInt64 = 0
    var regularsAreNext = false

    /// Knows nothing; the first survey fills it.
    public init() {}

    /// How many tracks are known.
    public var count: Int { entries.count }

    /// Whether some track is known to hold more work.
    public var hasHotTracks: Bool { queued > 0 }

    /// How many such tracks stand in the lines.
    var queued: Int { hot.reduce(0) { $0 + $1.count } }

    /// Whether a claim could visit some track: not all are parked.
    public var hasPlaces: Bool { cold.count > 0 || hasHotTracks }

    /// The lowest priority of which a track is known to hold work.
    public var lowestPriority: Int16? { hot.last { $0.count > 0 }?.priority }

    /// Whether tracks of a lane with limits are known to hold work.
    public func isWanted(_ lane: Int32) -> Bool { hotInLane[lane] != nil }

    /// Whether work is known that no limit holds back.
    public var hasBacklog: Bool { hotInLane[0] != nil }

    /// How many rows a claim of `wanted` may bring: all of them, unless all the work that is known is held back by
    /// limits.
    public func expected(of wanted: Int, lanes: inout LanePermits, now: UInt64) -> Int {
        guard !hasBacklog, !hotInLane.isEmpty, hotInLane.count <= KnownTracks.visitLimit else { return wanted }
        // Tracks without known work are looked at as well.
        var rows = min(cold.count, 1)
        for lane in hotInLane.keys where rows < wanted { rows += lanes.room(lane, wanted: wanted - rows, now: now) }
        return rows
    }

    /// Takes in a survey: new tracks, tracks with work, and late rows, for which the watermark steps back.
    public mutating func surveyReturned(_ sightings: [Sighting]) {
        var lanes = LanePermits()
        surveyReturned(sightings, lanes: &lanes)
    }

    /// The same; lanes with limits are made known, others forgotten.
    public mutating func surveyReturned(_ sightings: [Sighting], lanes: inout LanePermits) {
        defer { if !lanes.isEmpty { lanes.forget { !isWanted($0) && parked[$0] == nil } } }
        surveys += 1
        for sighting in sightings {
            if sighting.lane != 0 { lanes.know(sighting.lane) }
            guard var entry = entries[sighting.track] else {
                // Below the first claimable row are leased and dead ones only.
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

    /// Beyond the limit, forgets down to three quarters of it: tracks without work, of which nothing came for longest,
    /// and then those of the lowest priority, newcomers before regulars, the last that came first.
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

    /// The lane of a track has limits now, or has none any more.
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

    /// Puts the tracks of lanes that something is drawn for back into their lines. Returns whether some hold work.
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

    /// From the line of its priority, or from none.
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

    /// A row that this worker had claimed is at its place again, below the watermark: the next claim is to begin there.
    public mutating func stepBack(_ track: Int32, to seq: Int64) {
        guard var entry = entries[track], entry.mark >= seq else { return }
        // Claims under way were planned before, and say nothing of it.
        surveys += 1
        entry.mark = seq - 1
        entry.steppedBack = surveys
        entries[track] = entry
    }

    /// A claim has brought rows of the track.
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

    /// Takes in what a claim brought: for each visit in order, how many rows, and the last seq among them.
    ///
    /// - Parameter limit: of the whole claim: visits after it was reached have not been made.
    public mutating func claimReturned(_ visits: [Visit], limit: Int, found: [Int32: (count: Int, last: Int64)]) {
        var total = 0
        for visit in visits {
            guard var entry = entries[visit.track] else { continue }
            let rows = found[visit.track]?.count ?? 0
            // A visit from before a step back has begun above the late row: only one from below may go past it.
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
