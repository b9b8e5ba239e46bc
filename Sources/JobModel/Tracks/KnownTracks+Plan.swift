// SPDX-License-Identifier: Apache-2.0

// Plans a claim: which tracks it visits, and how many rows it takes from each.
extension KnownTracks {
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
        guard limit > 0, !entries.isEmpty else { return [] }
        var visits: [Visit] = []
        visits.reserveCapacity(min(entries.count, KnownTracks.visitLimit))
        var shares: [(priority: Int16, cap: Int32)] = []
        var least: Int16?
        let queuedBefore = queued
        for index in hot.indices where hot[index].count > 0 {
            let sharing = min(hot[index].count, KnownTracks.visitLimit - visits.count)
            guard sharing > 0 else { break }
            let isCrowded = hot[index].count > limit
            let most = isCrowded ? min(limit, KnownTracks.rowsPerTurn) : limit
            shares.append((hot[index].priority, Int32(isCrowded ? most : (limit + sharing - 1) / sharing)))
            let share = max(isCrowded ? most : 1, share(of: limit, among: hot[index], inFlight))
            // Moved out of the array and back below. Otherwise the first change would copy the lines.
            var level = hot[index]
            hot[index] = TrackLevel(priority: level.priority)
            let before = visits.count
            if level.isCrowded(limit: limit), level.count(.regulars) > 0 {
                split(sharing, rows: limit, of: &level, inFlight, into: &visits, lanes: &lanes, now: now)
            } else {
                _ = take(sharing, rows: limit, from: &level, .both, into: &visits, lanes: &lanes, now: now) {
                    track, _ in
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
            min(line.count, KnownTracks.visitLimit - hotCount), rows: .max, from: &line, .both, into: &visits,
            lanes: &lanes, now: now
        ) { _, priority in
            if let least, priority < least { return 0 }
            return shares.first { $0.priority == priority }?.cap ?? Int32(limit)
        }
        cold = line
        tidy()
        // A track with room in its share was parked meanwhile. The other tracks get that room.
        if visits.isEmpty, hasHotTracks, queued < queuedBefore {
            return plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: now)
        }
        return visits.count > hotCount ? byPriority(visits) : visits
    }

    /// Gives half of the rows to regular tracks and half to a crowd of new tracks. Of a single row, each half gets it
    /// in turn.
    ///
    /// Together the regular tracks may hold half of the slots. Rows that they leave go to the new tracks.
    private mutating func split(
        _ count: Int, rows limit: Int, of level: inout TrackLevel, _ inFlight: [Int32: Int], into visits: inout [Visit],
        lanes: inout LanePermits, now: UInt64
    ) {
        regularsAreNext.toggle()
        let turnRows = min(limit, KnownTracks.rowsPerTurn)
        let half = (limit + (regularsAreNext ? 1 : 0)) / 2
        let slots = limit + inFlight.values.reduce(0, +)
        let share = max(turnRows, slots / (2 * max(1, level.count(.regulars))))
        var left = limit
        for (lines, rows) in [(TrackLevel.Lines.regulars, half), (.newcomers, limit)] {
            let most = lines == .regulars ? min(half, max(turnRows, half / max(1, level.count(.regulars)))) : turnRows
            guard visits.count < KnownTracks.visitLimit, min(rows, left) > 0 else { continue }
            left -= take(
                min(count, level.count(lines), KnownTracks.visitLimit - visits.count), rows: min(rows, left),
                from: &level, lines,
                into: &visits, lanes: &lanes, now: now
            ) { track, _ in
                let room = (lines == .regulars ? share : turnRows) - inFlight[track, default: 0]
                return room > 0 ? Int32(min(most, room)) : 0
            }
        }
    }

    /// How many calls each track with work of this priority may have after a claim of `limit` rows.
    private func share(of limit: Int, among level: TrackLevel, _ inFlight: [Int32: Int]) -> Int {
        guard level.count > 1 else { return .max }
        let held = inFlight.filter { track, _ in
            entries[track].map { $0.isHot && !$0.isParked && $0.priority == level.priority } ?? false
        }
        return FairShare(free: limit, held: Array(held.values), sharers: level.count).calls
    }

    /// A visit of the one announced track, while no other track is known to hold work. Nil if the claim must visit more
    /// tracks.
    ///
    /// It ignores other jobs of the track, since those are announced as well.
    public func visit(announced track: Int32) -> Visit? {
        guard hotInLane.isEmpty, let entry = entries[track], entry.lane == 0 else { return nil }
        return Visit(track: track, cap: .max, mark: entry.mark, surveys: surveys)
    }

    /// The rows of one track in a turn, if there are more tracks than wanted rows.
    private static let rowsPerTurn = 4

    /// Moves up to `count` tracks to the end of their line and plans visits, until `rows` are planned. A cap of 0 skips
    /// the track. Returns the number of planned rows.
    private mutating func take(
        _ count: Int, rows wanted: Int, from level: inout TrackLevel, _ lines: TrackLevel.Lines,
        into visits: inout [Visit],
        lanes: inout LanePermits, now: UInt64, cap: (_ track: Int32, _ priority: Int16) -> Int32
    ) -> Int {
        var missing = count
        var planned = 0
        // A visited track stands at the end of the line again. The limit on turns avoids a second visit.
        let waiting = level.count(lines)
        var turns = wanted == .max ? min(waiting, KnownTracks.visitLimit) : waiting
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

    /// The same visits by priority. Within a priority, tracks with work stay before tracks without.
    func byPriority(_ visits: [Visit]) -> [Visit] {
        let ranks = visits.indices.map { (priority: entries[visits[$0].track]?.priority ?? 0, place: $0) }
        return ranks.sorted { ($1.priority, $0.place) < ($0.priority, $1.place) }.map { visits[$0.place] }
    }
}
