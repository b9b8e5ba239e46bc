// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// One transaction under way on the claiming session: a finish, a claim, or both.
struct Exchange {
    /// The finished attempts. They are kept until the database has confirmed them.
    var batch: FinishBatch?
    var claim: Claim?

    /// A claim under way.
    struct Claim {
        var limit: Int
        var visits: [KnownTracks.Visit]
        /// The fence of each claimed job must be above this one.
        var above: Int64
        /// Monotonic nanoseconds.
        var sentAt: UInt64 = 0
        /// The one job that it asks for; nil for a claim of all tracks, which follows if this one does not bring the
        /// job.
        var announced: AnnouncedJob?
        /// Whether a notification about jobs arrived after it was sent. Then an empty answer does not prove that none
        /// wait.
        var isOutdated = false
        /// Whether it takes leases only, and all calls are prepared later.
        var takesLeasesOnly = false
    }
}

/// The answer of a claim while its rows are read.
struct Arrival {
    let claim: Exchange.Claim
    private let hasLanes: Bool
    private(set) var rows = 0
    private(set) var found: [Int32: (count: Int, last: Int64)] = [:]

    /// Nothing read yet.
    init(claim: Exchange.Claim) {
        self.claim = claim
        hasLanes = claim.visits.contains { $0.lane != 0 }
    }

    /// The lane of a track that the claim visited, 0 if the lane has no limits.
    func lane(of track: Int32) -> Int32 {
        guard hasLanes else { return 0 }
        return claim.visits.first { $0.track == track }?.lane ?? 0
    }

    /// Counts a row.
    mutating func note(_ lease: Lease) {
        rows += 1
        let before = found[lease.track]
        found[lease.track] = ((before?.count ?? 0) + 1, max(before?.last ?? 0, lease.seq))
    }
}

/// Why an exchange or a preparation has failed.
enum Rejection: Equatable {
    /// Another statement of the transaction has failed. The event of that statement has the cause.
    case aborted
    /// The worker was declared lost, so its number is void.
    case workerLost
    /// A value cannot be stored. Another attempt would fail in the same way.
    case unstorable
    /// The statement exceeded the time limit of its session. A smaller one may not.
    case overrun
    /// The database had a shortage. The same statement may pass later. No job ends because of it.
    case shortage
    /// Another transaction held a lock that it needs for longer than the lock timeout: 1 s, or 20 ms.
    case locked
    /// Any other failure.
    case failure
}

/// The reaction to a failed exchange or preparation.
enum ExchangeRecovery: Equatable {
    case none
    /// Request a new number.
    case enlist
    /// Report it in the log.
    case report
    /// Report in the log a job that ends, because its answer cannot be stored or its call cannot be built.
    case reportJob(Int64)
}
