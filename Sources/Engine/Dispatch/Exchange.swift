// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// One transaction under way on the claiming session: a finish, a claim, or both.
struct Exchange {
    /// What it ends; kept until the database has confirmed it.
    var batch: FinishBatch?
    /// What it claims.
    var claim: Claim?

    /// A claim under way.
    struct Claim {
        var limit: Int
        var visits: [KnownTracks.Visit]
        /// Its fence is to be above this one.
        var above: Int64
        /// Monotonic nanoseconds.
        var sentAt: UInt64 = 0
        /// The one job it asks for, if it is no whole claim; one follows if it does not bring that job.
        var announced: AnnouncedJob?
        /// Whether news of jobs arrived after it was sent: then an empty answer proves nothing.
        var isOutdated = false
        /// Whether it brings leases only, and all calls are asked for later.
        var isBare = false
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

    /// The lane of a track that the claim visited, if it has limits, else 0.
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

/// Why an exchange has failed.
enum Rejection: Equatable {
    /// Another statement of it is to blame; its own event tells why.
    case aborted
    /// The worker was declared lost: its number is void.
    case workerLost
    /// A value cannot be stored; another try would fail alike.
    case unstorable
    /// The statement exceeded the time limit of its session; one with less in it may not.
    case overrun
    /// The database lacked something; the same statement may pass later. Never the end of a job.
    case shortage
    /// Somebody holds a row of it for more than a second.
    case locked
    /// Anything else.
    case failure
}

/// What to do about an exchange that has failed.
enum ExchangeRecovery: Equatable {
    case none
    /// Ask for a new number.
    case enlist
    /// Tell the operator.
    case report
    /// Tell the operator of a job whose answer cannot be stored.
    case reportJob(Int64)
}
