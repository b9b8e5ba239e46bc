// SPDX-License-Identifier: Apache-2.0

/// The permits and rate slots of a worker in lanes with limits. Pure. Times are monotonic nanoseconds.
///
/// The limits hold for the whole fleet, so the database grants everything. A *permit* allows one call in flight, a
/// *slot* is a moment at which one call may begin. A claim takes at most what both allow. A lane without a grant is not
/// visited, so its backlog costs no reads.
///
/// ```
///  tracks with work ──► request ──► grant ──► room ──► claim ──► admit, at its slot ──► released
/// ```
/// An unused slot is lost when its moment passes. Unused permits go back with the next request.
public struct LanePermits: Sendable {
    /// The most lanes of one request.
    static let requestLimit = 64
    /// The interval of requests for a lane whose permits other workers hold: 100 ms.
    static let retryInterval: UInt64 = 100_000_000
    /// A lane in use is requested again this often, so that changes of its limits take effect: 1 s.
    static let renewInterval: UInt64 = 1_000_000_000
    /// Permits that were unused for this long go back: 300 ms.
    static let keepInterval: UInt64 = 300_000_000
    /// The database grants slots for the next 250 ms. The worker requests more when half of that is left.
    static let horizon: UInt64 = 250_000_000
    /// A request covers as many calls as began in the last 50 ms, if that is more than could begin at once.
    static let outlook: UInt64 = 50_000_000
    /// The minimum interval between two requests for a lane: 5 ms.
    static let leastInterval: UInt64 = 5_000_000
    /// Jobs whose slots follow a near one within 5 ms are claimed with it, and wait in the worker.
    static let claimAhead: UInt64 = 5_000_000
    /// Calls whose slots lie within 1 ms begin together.
    static let grain: UInt64 = 1_000_000

    private var lanes: [Int32: LaneAllowance] = [:]
    private var isRequesting = false
    /// How long before its slot a job may be claimed: the duration of a claim.
    private var lead: UInt64 = 10_000_000
    /// The worker's slots of claimed jobs that wait for a rate slot, in order, by lane.
    private var pending: [Int32: [Int]] = [:]

    /// A set without lanes.
    public init() {}

    /// Whether no lane with limits is known.
    public var isEmpty: Bool { lanes.isEmpty }

    /// Whether such lanes have calls in flight or claims under way.
    public var isInUse: Bool { lanes.values.contains { $0.used > 0 } }

    /// How many rows of a lane may be claimed now, at most `wanted`.
    public mutating func room(_ lane: Int32, wanted: Int = .max, now: UInt64) -> Int {
        lanes[lane, default: LaneAllowance()].room(wanted, now: now, lead: lead)
    }

    /// Reserves the rows that a claim may bring.
    public mutating func reserve(_ lane: Int32, _ count: Int) {
        lanes[lane, default: LaneAllowance()].reserve(count)
    }

    /// Releases the reserved rows that a claim did not bring.
    public mutating func unreserve(_ lane: Int32, _ count: Int, now: UInt64) {
        lanes[lane]?.unreserve(count, now: now)
    }

    /// Records how long a claim took. `lead` rises at once and falls slowly, so that a claim seldom comes too late.
    public mutating func claimTook(_ time: UInt64) {
        let wanted = min(max(time + time / 2 + 2_000_000, 5_000_000), 150_000_000)
        lead = wanted > lead ? wanted : lead - (lead - wanted) / 16
    }

    /// Whether a claimed job may be called now. If false, `nextStart` returns it later.
    public mutating func admit(_ lane: Int32, slot: Int, now: UInt64) -> Bool {
        guard lanes[lane] != nil else { return true }
        if pending[lane]?.isEmpty ?? true, lanes[lane]?.start(now: now) == true { return true }
        pending[lane, default: []].append(slot)
        return false
    }

    /// The worker's slot of a job whose rate slot has come. The caller starts it now.
    public mutating func nextStart(now: UInt64) -> Int? {
        guard !pending.isEmpty else { return nil }
        for lane in pending.keys {
            guard lanes[lane]?.start(now: now) == true, let slot = pending[lane]?.removeFirst() else { continue }
            if pending[lane]?.isEmpty == true { pending[lane] = nil }
            return slot
        }
        return nil
    }

    /// Releases the permit of a job whose call has ended, or that will not be called.
    public mutating func released(_ lane: Int32, slot: Int, isStarted: Bool, now: UInt64) {
        lanes[lane]?.release(isStarted: isStarted, now: now)
        guard !isStarted, let place = pending[lane]?.firstIndex(of: slot) else { return }
        pending[lane]?.remove(at: place)
        if pending[lane]?.isEmpty == true { pending[lane] = nil }
    }

    /// The requests that are due. They count as sent.
    ///
    /// - Parameters:
    ///   - free: free slots of the worker.
    ///   - isWanted: whether a lane is known to have work.
    public mutating func request(free: Int, now: UInt64, isWanted: (Int32) -> Bool) -> [LaneRequest] {
        guard !isRequesting else { return [] }
        var requests: [LaneRequest] = []
        for lane in lanes.keys.sorted() where requests.count < LanePermits.requestLimit {
            guard let due = lanes[lane]?.requestDue(isWanted: isWanted(lane), free: free, now: now), due <= now else {
                continue
            }
            if let request = lanes[lane]?.nextRequest(lane, isWanted: isWanted(lane), free: free, now: now) {
                requests.append(request)
            }
        }
        isRequesting = !requests.isEmpty
        return requests
    }

    /// Takes the answer to the requests.
    public mutating func granted(_ grants: [LaneGrant], now: UInt64) {
        isRequesting = false
        for grant in grants { lanes[grant.lane]?.take(grant, now: now) }
    }

    /// Records that the requests failed. They are due again.
    public mutating func requestFailed() { isRequesting = false }

    /// Drops all grants, because the worker has another number or an unknown result. They are requested again.
    public mutating func requestAgain() {
        isRequesting = false
        for lane in lanes.keys { lanes[lane]?.requestAgain() }
    }

    /// Adds a lane of a survey if it is new.
    public mutating func know(_ lane: Int32) {
        if lanes[lane] == nil { lanes[lane] = LaneAllowance() }
    }

    /// Drops lanes that are idle and have no known track.
    mutating func forget(where isUnknown: (Int32) -> Bool) {
        lanes = lanes.filter { !$0.value.isIdle || !isUnknown($0.key) }
    }

    /// When the next action is due if no event comes before: a request, a claim for a near slot, or a start.
    ///
    /// - Parameters:
    ///   - canRequest: whether a request could be sent.
    ///   - claims: whether a claim could be sent.
    public mutating func deadline(
        free: Int, canRequest: Bool, claims: Bool, now: UInt64, isWanted: (Int32) -> Bool
    ) -> UInt64? {
        guard !lanes.isEmpty else { return nil }
        var moment = UInt64.max
        for lane in lanes.keys {
            let wanted = isWanted(lane)
            if canRequest, !isRequesting, let due = lanes[lane]?.requestDue(isWanted: wanted, free: free, now: now) {
                moment = min(moment, due)
            }
            if claims, wanted, free > 0, let due = lanes[lane]?.claimDue(lead: lead, now: now) {
                moment = min(moment, due)
            }
            if let count = pending[lane]?.count, let due = lanes[lane]?.nextStart(pending: count, now: now) {
                moment = min(moment, due)
            }
        }
        return moment == .max ? nil : moment
    }
}
