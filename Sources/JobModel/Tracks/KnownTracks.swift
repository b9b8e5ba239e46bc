// SPDX-License-Identifier: Apache-2.0

/// The tracks that a worker knows: which may hold work, and how far it has claimed in each. Pure.
///
/// A claim visits tracks by priority. Tracks of one priority take turns. Each is read from its watermark on, which
/// skips leased and dead rows. A survey finds unknown tracks, and rows below the watermark that were committed late.
///
/// A plan costs as much as its visits, at most 64, however many tracks are known, because the tracks stand in lines (see
/// `TrackLines`). Up to 4096 tracks are known, and a later survey finds the others again.
public struct KnownTracks: Sendable {
    /// The most tracks of a claim. Each costs one index descent.
    public static let visitLimit = 64
    /// Above this number tracks are dropped, those without work first. A later survey finds them again.
    public static let memoryLimit = 4096
    /// A track without rows during so many surveys is dropped, after three minutes to six hours. The leader removes unused
    /// tracks after a day.
    static let surveysKept: UInt64 = 4096
    /// An announced job more than so many ids below the watermark is left to a survey. A claim from there would walk
    /// over all rows in between, also over dead ones that an open transaction keeps.
    static let longestStep: Int64 = 1000
    /// The most floors of a survey.
    static let floorLimit = 64
    /// Watermarks become floors after one to two of these intervals: 2 s.
    static let floorAge: UInt64 = 2_000_000_000

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
        /// The version of the tracks when it was planned. Later changes are more recent than this visit.
        var version: UInt64
    }

    /// From where on a survey reads all rows of a track. Of the rows before it reads one slice (`SurveySlices`).
    public struct Floor: Equatable, Sendable {
        /// The track's number.
        public var track: Int32
        /// All rows after this one are read.
        public var seq: Int64
    }

    private var lines = TrackLines()
    private var surveys: UInt64 = 0
    /// How many surveys, announcements and steps back have been recorded.
    private var version: UInt64 = 0
    private var agedAt: UInt64 = 0

    /// A track has a floor from so many claimed rows on.
    private let rowsWorthFloor: Int64

    /// An empty set of tracks. The first survey fills it.
    ///
    /// - Parameter rowsWorthFloor: how many claimed rows make a floor worthwhile. A survey reads 10,000 rows in 2 ms.
    public init(rowsWorthFloor: Int64 = 10_000) { self.rowsWorthFloor = rowsWorthFloor }

    /// How many tracks are known.
    public var count: Int { lines.count }

    /// Whether a track in the lines is known to hold work.
    public var hasHotTracks: Bool { lines.queued > 0 }

    /// Whether a claim could visit a track. False if all are parked.
    public var canVisit: Bool { lines.canVisit }

    /// The lowest priority of the tracks that are known to hold work.
    public var lowestPriority: Int16? { lines.lowestPriority }

    /// Whether tracks of a lane with limits are known to hold work.
    public func isWanted(_ lane: Int32) -> Bool { lines.isWanted(lane) }

    /// Whether some known work is free of lane limits.
    public var hasBacklog: Bool { lines.hasBacklog }

    /// How many rows a claim of `wanted` may bring: all of them, unless lane limits hold back all known work.
    public func expected(of wanted: Int, lanes: inout LanePermits, now: UInt64) -> Int {
        lines.expected(of: wanted, lanes: &lanes, now: now)
    }

    /// The tracks that a claim of `limit` rows visits, best first. Empty if none is known.
    ///
    /// Tracks with work come first, then the tracks whose last visit is oldest. Tracks of one priority share the slots
    /// evenly, and slots in use count. Otherwise a track with long calls would soon hold all slots.
    ///
    /// If there are more tracks than rows, each track in its turn gets four rows, and the others wait for the next
    /// claims. While tracks wait for their turn, no track of a lower priority is visited.
    ///
    /// - Parameter inFlight: how many calls run, by track.
    public mutating func plan(limit: Int, inFlight: [Int32: Int] = [:]) -> [Visit] {
        var lanes = LanePermits()
        return plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: 0)
    }

    /// The same for lanes with limits. A visit takes at most the permits of its lane, and reserves them.
    public mutating func plan(limit: Int, inFlight: [Int32: Int], lanes: inout LanePermits, now: UInt64) -> [Visit] {
        guard limit > 0, lines.count > 0 else { return [] }
        var plan = VisitPlan(limit: limit, inFlight: inFlight, version: version, now: now)
        let queuedBefore = lines.queued
        plan.fill(from: &lines, lanes: &lanes)
        // A track with room in its share was parked meanwhile. The other tracks get that room.
        if plan.visits.isEmpty, hasHotTracks, lines.queued < queuedBefore {
            return self.plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: now)
        }
        return plan.visitsByPriority(lines)
    }

    /// A visit of the one announced track, while no other track is known to hold work. Nil if the claim must visit more
    /// tracks.
    ///
    /// It ignores other jobs of the track, since those are announced as well.
    public func visit(announced track: Int32) -> Visit? {
        guard !lines.hasWork, let entry = lines[track], entry.lane == 0 else { return nil }
        return Visit(track: track, cap: .max, mark: entry.mark, version: version)
    }

    /// Takes a survey: new tracks, tracks with work, and late rows, to which the watermark moves back.
    public mutating func surveyReturned(_ sightings: [Sighting]) {
        var lanes = LanePermits()
        surveyReturned(sightings, lanes: &lanes)
    }

    /// The same. Lanes with limits become known, and other lanes are dropped.
    public mutating func surveyReturned(_ sightings: [Sighting], lanes: inout LanePermits) {
        defer { if !lanes.isEmpty { lanes.forget { !lines.isUsed($0) } } }
        surveys += 1
        version += 1
        for sighting in sightings {
            if sighting.lane != 0 { lanes.know(sighting.lane) }
            guard var entry = lines[sighting.track] else {
                // All rows below the first claimable row are leased or dead.
                var entry = TrackEntry(
                    priority: sighting.priority, mark: sighting.firstSeq - 1, lane: sighting.lane, sighted: version,
                    used: surveys)
                entry.isSingle = !sighting.hasMore
                lines.joinHot(sighting.track, &entry)
                lines[sighting.track] = entry
                continue
            }
            entry.sighted = version
            entry.used = surveys
            entry.isSingle = !sighting.hasMore
            if sighting.firstSeq <= entry.mark { entry.stepBack(to: sighting.firstSeq, version: version) }
            if entry.lane != sighting.lane { lines.move(sighting.track, &entry, to: sighting.lane) }
            if !entry.isHot { lines.becomeHot(sighting.track, &entry) }
            lines[sighting.track] = entry
        }
        let surveys = surveys
        if surveys % 256 == 0 { lines.removeCold { $0.used + KnownTracks.surveysKept < surveys } }
        // Too many tracks are reduced to three quarters of the limit.
        if lines.count > KnownTracks.memoryLimit { lines.remove(lines.count - KnownTracks.memoryLimit * 3 / 4) }
        lines.tidy()
    }

    /// Puts tracks back into their lines if their lanes have permits. Returns whether one of them holds work.
    public mutating func unpark(_ lanes: inout LanePermits, now: UInt64) -> Bool { lines.unpark(&lanes, now: now) }

    /// Moves the watermark back to a row that this worker had claimed and that is ready again. The next claim begins
    /// there.
    public mutating func stepBack(_ track: Int32, to seq: Int64) {
        guard var entry = lines[track], entry.mark >= seq else { return }
        // Claims under way were planned before this, so they do not count as visits of the row.
        version += 1
        entry.stepBack(to: seq, version: version)
        lines[track] = entry
    }

    /// The tracks with most claimed rows, each with its watermark of two to four seconds ago. A claimable row stands
    /// below it only if its INSERT was committed late.
    public var floors: [Floor] { lines.floors(KnownTracks.floorLimit, claimed: rowsWorthFloor) }

    /// Remembers the watermarks of this moment, at most every 2 s.
    public mutating func ageMarks(now: UInt64) {
        guard now >= agedAt + KnownTracks.floorAge else { return }
        agedAt = now
        lines.ageMarks()
    }

    /// Whether the watermark of a track has passed a row.
    public func hasPassed(_ track: Int32, _ seq: Int64) -> Bool { lines[track].map { $0.mark >= seq } ?? false }

    /// Takes a notification about due jobs of a track, of which the one with this seq is the first. A job that was
    /// committed late stands below the watermark, which moves back to it.
    ///
    /// - Returns: whether the next claims find these jobs without a survey.
    public mutating func announced(_ track: Int32, from seq: Int64) -> Bool {
        guard var entry = lines[track], entry.mark - seq < KnownTracks.longestStep else { return false }
        version += 1
        // Claims under way were planned before this, so they do not count as visits of these jobs.
        entry.sighted = version
        if entry.mark >= seq { entry.stepBack(to: seq, version: version) }
        entry.isSingle = false
        if !entry.isHot { lines.becomeHot(track, &entry) }
        lines[track] = entry
        return true
    }

    /// Takes the result of a claim: for each visit in order the number of rows, and the last seq among them.
    ///
    /// - Parameter limit: the limit of the whole claim. Visits after it was reached did not take place.
    public mutating func claimReturned(_ visits: [Visit], limit: Int, found: [Int32: (count: Int, last: Int64)]) {
        var total = 0
        for visit in visits {
            guard var entry = lines[visit.track] else { continue }
            let rows = found[visit.track]?.count ?? 0
            // A visit that was planned before a step back began above the late row. Only a visit from below may move
            // the watermark past that row.
            if let last = found[visit.track]?.last, entry.steppedBack <= visit.version {
                entry.mark = max(entry.mark, last)
            }
            let wasSingle = entry.isSingle && rows == 1
            if rows > 0 {
                entry.isSingle = false
                entry.used = surveys
                entry.claimed += Int64(rows)
            }
            if rows > 0, !wasSingle, !entry.isRegular { lines.becomeRegular(visit.track, &entry) }
            if total < limit {
                let hasMore = !wasSingle && (rows >= Int(visit.cap) || (rows > 0 && total + rows >= limit))
                if hasMore && !entry.isHot {
                    lines.becomeHot(visit.track, &entry)
                } else if !hasMore && entry.isHot && entry.sighted <= visit.version {
                    lines.becomeCold(visit.track, &entry)
                }
            }
            total += rows
            lines[visit.track] = entry
        }
    }
}
