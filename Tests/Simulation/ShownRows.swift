// SPDX-License-Identifier: Apache-2.0

import JobModel

@testable import Engine

/// The first claimable row of each track, as surveys have shown it to a worker. A claim must not begin above such a row
/// while it is free, because the row would wait for another survey.
struct ShownRows {
    /// By track: the seq of the row, and when the worker read the survey.
    private var rows: [Int32: (seq: Int64, at: UInt64)] = [:]

    /// Records the answer of a survey.
    mutating func add(_ found: SurveyCursor.Found, now: UInt64) {
        for sighting in found.sightings { rows[sighting.track] = (sighting.firstSeq, now) }
    }

    /// The rows that a claim skips. A row that came back after the survey counts as not shown.
    func faults(of claim: Exchange.Claim?, in queue: QueueInMemory) -> [String] {
        (claim?.visits ?? []).compactMap { visit in
            guard let row = rows[visit.track], visit.mark >= row.seq else { return nil }
            let isFree = queue.ready[visit.track]?.contains {
                $0.seq == row.seq && $0.worker == 0 && !$0.isLocked && $0.visibleSince.map { $0 <= row.at } == true
            }
            guard isFree == true else { return nil }
            return "a claim after \(visit.mark) skips row \(row.seq) of track \(visit.track), which a survey has shown"
        }
    }
}
