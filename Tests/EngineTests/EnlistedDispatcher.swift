// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore

@testable import Engine

extension Dispatcher {
    /// A dispatcher with a worker number that knows of no work.
    static func enlisted(capacity: Int) -> Dispatcher {
        var dispatcher = Dispatcher(capacity: capacity, canListen: true)
        _ = dispatcher.beginEnlisting()
        _ = dispatcher.enlisted(1, held: [])
        return dispatcher
    }

    /// A dispatcher whose survey has found work in track 1.
    static func surveyed(capacity: Int, firstSeq: Int64 = 1, at moment: UInt64) -> Dispatcher {
        var dispatcher = enlisted(capacity: capacity)
        dispatcher.claims.surveyReturned([.init(track: 1, priority: 0, firstSeq: firstSeq)], now: moment)
        return dispatcher
    }

    /// Sends the next exchange, and lets its claim return jobs. Returns their slots, or nil without a claim.
    mutating func claim(_ jobs: [ClaimedJob], at moment: UInt64) -> [Int]? {
        guard let (number, _) = nextExchange(now: moment), var arrival = claimReturned(number) else { return nil }
        var slots: [Int] = []
        for job in jobs {
            if let slot = jobArrived(job, &arrival) { slots.append(slot) }
        }
        _ = claimRead(arrival, now: moment)
        return slots
    }
}

extension ClaimPlanner {
    /// Returns the answer of a survey that covered all tracks.
    mutating func surveyReturned(_ sightings: [KnownTracks.Sighting], now: UInt64) {
        surveyReturned(SurveyCursor.Found(sightings), now: now)
    }
}

/// Tests of one dispatcher at one moment, with plain jobs of track 1.
protocol DispatcherCases {}

extension DispatcherCases {
    /// The time of all events: 5 s.
    var moment: UInt64 { 5_000_000_000 }

    /// A claimed job that needs no preparation.
    func job(_ seq: Int64, isAtMostOnce: Bool = false) -> ClaimedJob {
        ClaimedJob(
            lease: .ofJob(seq), call: HTTPCall(url: "http://h/"), isAtMostOnce: isAtMostOnce, okStatuses: .success)
    }

    /// A dispatcher with a worker number whose survey has found work in track 1.
    func dispatcher(capacity: Int = 4) -> Dispatcher {
        .surveyed(capacity: capacity, at: moment)
    }

    /// Lets a claim return jobs, and returns their slots.
    func claim(_ dispatcher: inout Dispatcher, _ jobs: [ClaimedJob]) -> [Int] {
        dispatcher.claim(jobs, at: moment) ?? []
    }
}

extension FinishedAttempt {
    /// A success with an answer of this size.
    static func ofSize(_ bytes: Int, id: Int64) -> FinishedAttempt {
        let answer = HTTPResponse(status: 200, body: [UInt8](repeating: 32, count: bytes))
        return FinishedAttempt(lease: .ofJob(id), verdict: .success, outcome: CallOutcome(.response(answer)))
    }
}

extension Lease {
    /// A lease for the first attempt of a job of track 1. Its seq is its id.
    static func ofJob(_ id: Int64) -> Lease { Lease(track: 1, seq: id, fence: 7, jobID: id, attempt: 1) }
}
