// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore

@testable import Engine

/// A hash of all decisions of a run. Two builds that decide alike have the same hash for each seed.
///
/// Some decisions follow the order of a dictionary. To compare two runs, set `SWIFT_DETERMINISTIC_HASHING=1`.
struct Trace {
    /// The kind of a decision.
    enum Kind: Int64 {
        case exchange, preparation, judgement, survey, pickup, enlisting, call, sleep, end
    }

    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ kind: Kind, _ values: Int64...) {
        mix(kind.rawValue)
        for value in values { mix(value) }
    }

    mutating func add(_ exchange: Exchange) {
        add(.exchange, exchange.batch == nil ? 0 : 1, exchange.claim == nil ? 0 : 1)
        for attempt in exchange.batch?.attempts ?? [] { add(attempt) }
        guard let claim = exchange.claim else { return }
        add(.exchange, Int64(claim.limit), claim.above, claim.takesLeasesOnly ? 1 : 0, claim.announced?.id ?? 0)
        for visit in claim.visits {
            add(.exchange, Int64(visit.track), Int64(visit.cap), visit.mark, Int64(visit.lane))
        }
    }

    mutating func add(_ attempt: FinishedAttempt) {
        let flags = (attempt.isJudged ? 1 : 0) + (attempt.isReduced ? 2 : 0) + (attempt.isCached ? 4 : 0)
        add(
            .exchange, attempt.lease.jobID, attempt.lease.fence, Int64(attempt.verdict.kind.letter.value),
            Int64(flags), attempt.verdict.retryAfter?.components.seconds ?? -1)
        for byte in (attempt.verdict.message ?? "").utf8 { mix(Int64(byte)) }
    }

    mutating func add(old worker: Int32, held: [Lease]) {
        add(.enlisting, Int64(worker))
        for seq in held.map(\.seq).sorted() { add(.enlisting, seq) }
    }

    private mutating func mix(_ value: Int64) {
        hash = (hash ^ UInt64(bitPattern: value)) &* 0x0000_0100_0000_01b3
        hash ^= hash >> 29
    }
}
