// SPDX-License-Identifier: Apache-2.0

/// Plans the visits of a claim: which tracks it visits, and how many rows it takes from each. Pure.
struct VisitPlan {
    /// The rows of one track in a turn, if there are more tracks than wanted rows.
    private static let rowsPerTurn = 4

    private let limit: Int
    /// How many calls run, by track.
    private let inFlight: [Int32: Int]
    /// The version of the tracks, for its visits.
    private let version: UInt64
    private let now: UInt64
    /// The planned visits, tracks with work before tracks without.
    private(set) var visits: [KnownTracks.Visit] = []
    private var hotCount = 0
    /// The rows that a track of each visited priority may take.
    private var caps: [(priority: Int16, cap: Int32)] = []
    /// The priority whose tracks do not all fit into the claim. No track of a lower priority is visited.
    private var least: Int16?

    /// A plan without visits.
    init(limit: Int, inFlight: [Int32: Int], version: UInt64, now: UInt64) {
        self.limit = limit
        self.inFlight = inFlight
        self.version = version
        self.now = now
    }

    /// Visits tracks with work first, then tracks without.
    mutating func fill(from lines: inout TrackLines, lanes: inout LanePermits) {
        visits.reserveCapacity(min(lines.count, KnownTracks.visitLimit))
        visitHot(&lines, &lanes)
        hotCount = visits.count
        visitCold(&lines, &lanes)
        lines.tidy()
    }

    private mutating func visitHot(_ lines: inout TrackLines, _ lanes: inout LanePermits) {
        for level in lines.levels where lines.count(of: level) > 0 {
            let waiting = lines.count(of: level)
            let sharing = min(waiting, KnownTracks.visitLimit - visits.count)
            guard sharing > 0 else { break }
            let isCrowded = waiting > limit
            let most = isCrowded ? min(limit, VisitPlan.rowsPerTurn) : limit
            caps.append((lines.priority(of: level), Int32(isCrowded ? most : (limit + sharing - 1) / sharing)))
            let share = max(isCrowded ? most : 1, share(of: level, in: lines))
            let before = visits.count
            if lines.isCrowded(level, limit: limit), lines.count(of: level, .regulars) > 0 {
                split(sharing, of: level, &lines, &lanes)
            } else {
                let inFlight = inFlight
                _ = take(sharing, rows: limit, from: .hot(level), .both, &lines, &lanes) { track, _ in
                    let room = share - inFlight[track, default: 0]
                    return room > 0 ? Int32(isCrowded ? most : min(most, room)) : 0
                }
            }
            if lines.count(of: level) > visits.count - before {
                least = lines.priority(of: level)
                break
            }
        }
    }

    private mutating func visitCold(_ lines: inout TrackLines, _ lanes: inout LanePermits) {
        let (least, caps, limit) = (least, caps, limit)
        _ = take(
            min(lines.coldCount, KnownTracks.visitLimit - visits.count), rows: .max, from: .cold, .both, &lines, &lanes
        ) { _, priority in
            if let least, priority < least { return 0 }
            return caps.first { $0.priority == priority }?.cap ?? Int32(limit)
        }
    }

    /// Gives half of the rows to regular tracks and half to a crowd of new tracks. Of a single row, each half gets it
    /// in turn.
    ///
    /// Together the regular tracks may hold half of the slots. Rows that they leave go to the new tracks.
    private mutating func split(
        _ count: Int, of level: Int, _ lines: inout TrackLines, _ lanes: inout LanePermits
    ) {
        let regulars = max(1, lines.count(of: level, .regulars))
        let turnRows = min(limit, VisitPlan.rowsPerTurn)
        let half = (limit + (lines.takeTurnOfRegulars() ? 1 : 0)) / 2
        let slots = limit + inFlight.values.reduce(0, +)
        let share = max(turnRows, slots / (2 * regulars))
        let inFlight = inFlight
        var left = limit
        for (kind, rows) in [(TrackLevel.Lines.regulars, half), (.newcomers, limit)] {
            let most = kind == .regulars ? min(half, max(turnRows, half / regulars)) : turnRows
            guard visits.count < KnownTracks.visitLimit, min(rows, left) > 0 else { continue }
            left -= take(
                min(count, lines.count(of: level, kind), KnownTracks.visitLimit - visits.count), rows: min(rows, left),
                from: .hot(level), kind, &lines, &lanes
            ) { track, _ in
                let room = (kind == .regulars ? share : turnRows) - inFlight[track, default: 0]
                return room > 0 ? Int32(min(most, room)) : 0
            }
        }
    }

    /// How many calls each track with work of this priority may have after the claim.
    private func share(of level: Int, in lines: TrackLines) -> Int {
        let sharers = lines.count(of: level)
        guard sharers > 1 else { return .max }
        let held = inFlight.filter { lines.isQueued($0.key, priority: lines.priority(of: level)) }
        return FairShare(free: limit, held: Array(held.values), sharers: sharers).calls
    }

    /// Moves up to `count` tracks to the end of their line and plans visits, until `rows` are planned. A cap of 0 skips
    /// the track. Returns the number of planned rows.
    private mutating func take(
        _ count: Int, rows wanted: Int, from line: TrackLines.Line, _ kind: TrackLevel.Lines,
        _ lines: inout TrackLines, _ lanes: inout LanePermits, cap: (_ track: Int32, _ priority: Int16) -> Int32
    ) -> Int {
        var missing = count
        var planned = 0
        // A visited track stands at the end of the line again. The limit on turns avoids a second visit.
        var turns =
            switch line {
            case .hot(let level): lines.count(of: level, kind)
            case .cold: min(lines.coldCount, KnownTracks.visitLimit)
            }
        while missing > 0, planned < wanted, turns > 0, let (track, entry) = lines.next(in: line, kind) {
            turns -= 1
            var rows = cap(track, entry.priority)
            guard rows > 0 else {
                lines.rejoin(line, track, entry)
                continue
            }
            if entry.lane != 0 {
                lanes.know(entry.lane)
                rows = Int32(clamping: lanes.room(entry.lane, wanted: Int(rows), now: now))
                guard rows > 0 else {
                    lines.park(line, track, entry)
                    continue
                }
                lanes.reserve(entry.lane, Int(rows))
            }
            missing -= 1
            planned += Int(rows)
            lines.rejoin(line, track, entry)
            visits.append(
                KnownTracks.Visit(track: track, cap: rows, mark: entry.mark, lane: entry.lane, version: version))
        }
        return planned
    }

    /// The visits by priority. Within a priority, tracks with work stay before tracks without.
    func visitsByPriority(_ lines: TrackLines) -> [KnownTracks.Visit] {
        guard visits.count > hotCount else { return visits }
        let ranks = visits.indices.map { (priority: lines[visits[$0].track]?.priority ?? 0, place: $0) }
        return ranks.sorted { ($1.priority, $0.place) < ($0.priority, $1.place) }.map { visits[$0.place] }
    }
}
