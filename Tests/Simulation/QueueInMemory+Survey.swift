// SPDX-License-Identifier: Apache-2.0

import JobModel

extension QueueInMemory {
    /// Runs a survey.
    func survey(_ step: SurveyCursor.Step) -> SurveyCursor.Found {
        let reads = reader(step)
        func first(_ track: Int32) -> Row? { ready[track]?.first { $0.worker == 0 && reads(track, $0.seq) } }
        let tracks = ready.keys.sorted().filter { first($0) != nil }
        let turns = tracks.filter { step.after == 0 || $0 > step.after }.prefix(Int(step.limit))
        let sightings = turns.compactMap { track in
            first(track).map { KnownTracks.Sighting(track: track, priority: priorities[Int(track)], firstSeq: $0.seq) }
        }
        return SurveyCursor.Found(
            sightings, after: turns.count == Int(step.limit) ? turns.last ?? 0 : 0, newest: tracks.last ?? 0)
    }

    /// How many rows a survey reads, dead ones included.
    func rowsRead(_ step: SurveyCursor.Step) -> Int {
        let reads = reader(step)
        return places.reduce(0) { sum, rows in sum + rows.value.count { reads(rows.key, $0) } }
    }

    private func reader(_ step: SurveyCursor.Step) -> (Int32, Int64) -> Bool {
        let floors = Dictionary(uniqueKeysWithValues: step.floors.map { ($0.track, $0.seq) })
        return { track, seq in
            seq > floors[track] ?? .min || step.slice.after < seq && seq <= step.slice.end
        }
    }
}
