// SPDX-License-Identifier: Apache-2.0

/// What a worker knows of the tracks: which may hold work, and up to where it has claimed in each. Pure.
///
/// A claim visits tracks by priority, and among tracks of one priority each in its turn. Each is read from its
/// watermark on, so neither leased nor dead rows are walked over again. A survey, by the way, finds tracks that
/// are not known here and rows that were committed late, below the watermark.
///
/// The cost of a plan is that of its visits, 64 at most, not that of the tracks known: those with work stand in
/// lines for each priority (see `TrackLevel`), the others in one line behind. Up to 4096 tracks are known; a later survey finds the others again. Tracks of a lane with limits are *parked* outside of the lines
/// while nothing is drawn for the lane, so that a lane at its limit costs no visits.
public struct TrackBook: Sendable {
    /// A claim names at most this many tracks: each costs one index descent.
    public static let visitLimit = 64
    /// Beyond this number tracks are forgotten, first those without work. A later survey finds them again.
    public static let memoryLimit = 4096

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

    private struct Entry: Sendable {
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
    }

    private var entries: [Int32: Entry] = [:]
    /// Tracks with work; highest priority first.
    private var hot: [TrackLevel] = []
    private var cold = TrackLevel(priority: 0)
    /// Tracks in no line, by their lanes.
    private var parked: [Int32: [Int32]] = [:]
    /// How many tracks of a lane with limits hold work, parked or not; 0: of lanes without.
    private var hotInLane: [Int32: Int] = [:]
    private var surveys: UInt64 = 0
    private var tickets: UInt64 = 0
    private var regularsAreNext = false

    /// Knows nothing; the first survey fills it.
    public init() {}

    /// How many tracks are known.
    public var count: Int { entries.count }

    /// Whether some track is known to hold more work.
    public var hasHotTracks: Bool { queued > 0 }

    /// How many such tracks stand in the lines.
    private var queued: Int { hot.reduce(0) { $0 + $1.count } }

    /// Whether a claim could visit some track: not all are parked.
    public var hasPlaces: Bool { cold.count > 0 || hasHotTracks }

    /// The lowest priority of which a track is known to hold work.
    public var lowestPriority: Int16? { hot.last { $0.count > 0 }?.priority }

    /// Whether tracks of a lane with limits are known to hold work.
    public func isWanted(_ lane: Int32) -> Bool { hotInLane[lane] != nil }

    /// Whether work is known that no limit holds back.
    public var hasBacklog: Bool { hotInLane[0] != nil }

    /// How many rows a claim of `wanted` may bring: all of them, unless all the work that is known is held back by limits.
    public func expected(of wanted: Int, lanes: inout LaneBook, now: UInt64) -> Int {
        guard !hasBacklog, !hotInLane.isEmpty, hotInLane.count <= TrackBook.visitLimit else { return wanted }
        // Tracks without known work are looked at as well.
        var rows = min(cold.count, 1)
        for lane in hotInLane.keys where rows < wanted { rows += lanes.room(lane, wanted: wanted - rows, now: now) }
        return rows
    }

    /// Takes in a survey: new tracks, tracks with work, and late rows, for which the watermark steps back.
    public mutating func surveyReturned(_ sightings: [Sighting]) {
        var lanes = LaneBook()
        surveyReturned(sightings, lanes: &lanes)
    }

    /// The same; lanes with limits are made known, others forgotten.
    public mutating func surveyReturned(_ sightings: [Sighting], lanes: inout LaneBook) {
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
        forget()
        tidy()
    }

    /// Beyond the limit, forgets down to three quarters of it: tracks without work, of which nothing came for longest, and then those of
    /// the lowest priority, newcomers before regulars, the last that came first.
    private mutating func forget() {
        guard entries.count > TrackBook.memoryLimit else { return }
        let tracks = entries.map { (track: $0.key, entry: $0.value) }.sorted { one, other in
            if one.entry.isHot != other.entry.isHot { return other.entry.isHot }
            if !one.entry.isHot { return one.entry.ticket < other.entry.ticket }
            if one.entry.priority != other.entry.priority { return one.entry.priority < other.entry.priority }
            if one.entry.isRegular != other.entry.isRegular { return other.entry.isRegular }
            return one.entry.ticket > other.entry.ticket
        }
        for (track, entry) in tracks.prefix(entries.count - TrackBook.memoryLimit * 3 / 4) {
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
    public mutating func unpark(_ lanes: inout LaneBook, now: UInt64) -> Bool {
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

    /// Which tracks a claim of `limit` rows should visit, best first; empty if none is known.
    ///
    /// Tracks with work come first, then tracks that have been left alone longest. Tracks of one priority share
    /// the slots evenly, those that their calls hold already included: one whose calls take long would soon have them all. Where there are
    /// more tracks than rows, each in its turn gets a helping of four, and the others keep theirs for the next claims. While some wait
    /// for their turn, no track of a lower priority is visited.
    ///
    /// - Parameter inFlight: how many calls run, by their tracks.
    public mutating func plan(limit: Int, inFlight: [Int32: Int] = [:]) -> [Visit] {
        var lanes = LaneBook()
        return plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: 0)
    }

    /// The same with lanes that have limits: a visit takes no more than is drawn for its lane, and reserves that.
    public mutating func plan(limit: Int, inFlight: [Int32: Int], lanes: inout LaneBook, now: UInt64) -> [Visit] {
        guard limit > 0, !entries.isEmpty else { return [] }
        var visits: [Visit] = []
        visits.reserveCapacity(min(entries.count, TrackBook.visitLimit))
        var shares: [(priority: Int16, cap: Int32)] = []
        var least: Int16?
        let queuedBefore = queued
        for index in hot.indices where hot[index].count > 0 {
            let sharing = min(hot[index].count, TrackBook.visitLimit - visits.count)
            guard sharing > 0 else { break }
            let isCrowded = hot[index].count > limit
            let most = isCrowded ? min(limit, TrackBook.helping) : limit
            shares.append((hot[index].priority, Int32(isCrowded ? most : (limit + sharing - 1) / sharing)))
            let share = max(isCrowded ? most : 1, share(of: limit, among: hot[index], inFlight))
            var level = hot[index]
            hot[index] = TrackLevel(priority: level.priority)
            let before = visits.count
            if level.isCrowded(limit: limit), level.count(.regulars) > 0 {
                split(sharing, rows: limit, of: &level, inFlight, into: &visits, lanes: &lanes, now: now)
            } else {
                _ = take(sharing, rows: limit, from: &level, .both, into: &visits, lanes: &lanes, now: now) { track, _ in
                    let room = share - inFlight[track, default: 0]
                    return room > 0 ? Int32(isCrowded ? most : min(most, room)) : 0
                }
            }
            hot[index] = level
            if level.count > visits.count - before {
                least = hot[index].priority
                break
            }
        }
        let hotCount = visits.count
        var line = cold
        cold = TrackLevel(priority: 0)
        _ = take(
            min(line.count, TrackBook.visitLimit - hotCount), rows: .max, from: &line, .both, into: &visits,
            lanes: &lanes, now: now
        ) { _, priority in
            if let least, priority < least { return 0 }
            return shares.first { $0.priority == priority }?.cap ?? Int32(limit)
        }
        cold = line
        tidy()
        // Who had room left in its share has been parked meanwhile: that is the others' now.
        if visits.isEmpty, hasHotTracks, queued < queuedBefore {
            return plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: now)
        }
        return visits.count > hotCount ? byPriority(visits) : visits
    }

    /// Half of the rows for the regulars, and half for a crowd of newcomers; of one row each, in turn. Together the regulars may hold half
    /// of the slots. What they leave goes to the newcomers.
    private mutating func split(
        _ count: Int, rows limit: Int, of level: inout TrackLevel, _ inFlight: [Int32: Int], into visits: inout [Visit],
        lanes: inout LaneBook, now: UInt64
    ) {
        regularsAreNext.toggle()
        let helping = min(limit, TrackBook.helping)
        let half = (limit + (regularsAreNext ? 1 : 0)) / 2
        let slots = limit + inFlight.values.reduce(0, +)
        let share = max(helping, slots / (2 * max(1, level.count(.regulars))))
        var left = limit
        for (lines, rows) in [(TrackLevel.Lines.regulars, half), (.newcomers, limit)] {
            let most = lines == .regulars ? min(half, max(helping, half / max(1, level.count(.regulars)))) : helping
            guard visits.count < TrackBook.visitLimit, min(rows, left) > 0 else { continue }
            left -= take(
                min(count, level.count(lines), TrackBook.visitLimit - visits.count), rows: min(rows, left), from: &level, lines,
                into: &visits, lanes: &lanes, now: now
            ) { track, _ in
                let room = (lines == .regulars ? share : helping) - inFlight[track, default: 0]
                return room > 0 ? Int32(min(most, room)) : 0
            }
        }
    }

    /// How many calls the tracks of a priority that have work may each have behind a claim of `limit` rows.
    private func share(of limit: Int, among level: TrackLevel, _ inFlight: [Int32: Int]) -> Int {
        guard level.count > 1 else { return .max }
        let held = inFlight.filter { track, _ in
            entries[track].map { $0.isHot && !$0.isParked && $0.priority == level.priority } ?? false
        }
        return FairShare(free: limit, held: Array(held.values), sharers: level.count).calls
    }

    /// A look at one track that news named, while no other is known to hold work; nil where a claim is to look farther. It says
    /// nothing of what else the track may hold: that is announced as well.
    public func visit(announced track: Int32) -> Visit? {
        guard hotInLane.isEmpty, let entry = entries[track], entry.lane == 0 else { return nil }
        return Visit(track: track, cap: .max, mark: entry.mark, surveys: surveys)
    }

    /// Of one track at once, where there are more tracks than rows wanted.
    private static let helping = 4

    /// Moves up to `count` tracks to the end of their line, and has them visited, until `rows` are planned. A cap of 0: the
    /// track is passed over. Returns how many rows are planned.
    private mutating func take(
        _ count: Int, rows wanted: Int, from level: inout TrackLevel, _ lines: TrackLevel.Lines, into visits: inout [Visit],
        lanes: inout LaneBook, now: UInt64, cap: (_ track: Int32, _ priority: Int16) -> Int32
    ) -> Int {
        var missing = count
        var planned = 0
        // Who was visited stands at the end again, and is not visited twice.
        let waiting = level.count(lines)
        var turns = wanted == .max ? min(waiting, TrackBook.visitLimit) : waiting
        while missing > 0, planned < wanted, turns > 0, let place = level.next(lines) {
            guard var entry = entries[place.track], entry.ticket == place.ticket else { continue }
            let isRegular = entry.isHot && entry.isRegular
            turns -= 1
            tickets += 1
            entry.ticket = tickets
            var rows = cap(place.track, entry.priority)
            guard rows > 0 else {
                entries[place.track] = entry
                level.left(isRegular: isRegular)
                level.join(place.track, ticket: tickets, isRegular: isRegular)
                continue
            }
            if entry.lane != 0 {
                lanes.know(entry.lane)
                rows = Int32(clamping: lanes.room(entry.lane, wanted: Int(rows), now: now))
                if rows <= 0 {
                    level.left(isRegular: isRegular)
                    entry.isParked = true
                    entries[place.track] = entry
                    parked[entry.lane, default: []].append(place.track)
                    continue
                }
                lanes.reserve(entry.lane, Int(rows))
            }
            missing -= 1
            planned += Int(rows)
            entries[place.track] = entry
            level.left(isRegular: isRegular)
            level.join(place.track, ticket: tickets, isRegular: isRegular)
            visits.append(
                Visit(track: place.track, cap: rows, mark: entry.mark, lane: entry.lane, surveys: surveys))
        }
        return planned
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

    private mutating func tidy() {
        let known = entries
        let isValid = { (place: TrackLine.Place) in known[place.track]?.ticket == place.ticket }
        for index in hot.indices { hot[index].tidy(isValid) }
        cold.tidy(isValid)
    }

    /// The same visits by priority; within one, tracks with work stay before those without.
    private func byPriority(_ visits: [Visit]) -> [Visit] {
        let ranks = visits.indices.map { (priority: entries[visits[$0].track]?.priority ?? 0, place: $0) }
        return ranks.sorted { ($1.priority, $0.place) < ($0.priority, $1.place) }.map { visits[$0.place] }
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
        guard entry.isHot, !entry.isParked, let index = hot.firstIndex(where: { $0.priority == entry.priority }) else { return }
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
            if rows > 0 { entry.isSingle = false }
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
