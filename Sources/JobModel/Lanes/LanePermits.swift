// SPDX-License-Identifier: Apache-2.0

/// What a worker may start in the lanes that have limits. Pure; times are monotonic nanoseconds.
///
/// The limits hold for the whole fleet, so nothing here allows anything by itself: the worker draws *permits* (calls it
/// may have under way) and *slots* (moments at which it may begin a call) from the database, and a claim takes no more
/// than both allow. A lane with nothing drawn is not visited at all, so nobody walks over its backlog.
///
/// ```
///  tracks with work ──► draw ──► granted ──► room ──► claim ──► admit, at its slot ──► released
/// ```
/// A slot that passes unused is lost. Permits that are not needed go back with the next draw.
public struct LanePermits: Sendable {
    /// Lanes of one draw at most.
    static let drawLimit = 64
    /// Between two draws of a lane that wants what others hold.
    static let retryInterval: UInt64 = 100_000_000
    /// A lane in use is drawn for this often, so that changes of its limits hold.
    static let renewInterval: UInt64 = 1_000_000_000
    /// Permits that nobody has used for this long go back.
    static let keepInterval: UInt64 = 300_000_000
    /// Slots are drawn this far ahead by the database; half of it left, the next ones are asked for.
    static let horizon: UInt64 = 250_000_000
    /// Slots are drawn for as many calls as began in such a time before, if that is more than could begin at once.
    static let outlook: UInt64 = 50_000_000
    /// Between two draws of a lane whatever it wants.
    static let leastInterval: UInt64 = 5_000_000
    /// Jobs whose slots follow within this time of one that is near are claimed with it, and wait in the worker.
    static let company: UInt64 = 5_000_000
    /// Calls whose slots are this near to each other begin together.
    static let grain: UInt64 = 1_000_000

    private var lanes: [Int32: LaneAllowance] = [:]
    private var isDrawing = false
    /// How long before its slot a job may be claimed: the time that a claim takes.
    private var lead: UInt64 = 10_000_000
    /// Jobs that were claimed and wait for their slot, in their order.
    private var pending: [Int32: [Int]] = [:]

    /// Without lanes.
    public init() {}

    /// Whether no lane with limits is known.
    public var isEmpty: Bool { lanes.isEmpty }

    /// Whether calls of such lanes are under way, or claims for them.
    public var isInUse: Bool { lanes.values.contains { $0.used > 0 } }

    /// How many rows of a lane may be claimed now, `wanted` at most.
    public mutating func room(_ lane: Int32, wanted: Int = .max, now: UInt64) -> Int {
        lanes[lane, default: LaneAllowance()].room(wanted, now: now, lead: lead)
    }

    /// A claim goes out that may bring this many rows of a lane.
    public mutating func reserve(_ lane: Int32, _ count: Int) {
        lanes[lane, default: LaneAllowance()].reserve(count)
    }

    /// It is answered, and brought fewer.
    public mutating func unreserve(_ lane: Int32, _ count: Int, now: UInt64) {
        lanes[lane]?.unreserve(count, now: now)
    }

    /// A claim took so long.
    public mutating func claimTook(_ time: UInt64) {
        let wanted = min(max(time + time / 2 + 2_000_000, 5_000_000), 150_000_000)
        lead = wanted > lead ? wanted : lead - (lead - wanted) / 16
    }

    /// A claimed job is ready to be called. True: now; else `nextStart` tells when.
    public mutating func admit(_ lane: Int32, slot: Int, now: UInt64) -> Bool {
        guard lanes[lane] != nil else { return true }
        if pending[lane]?.isEmpty ?? true, lanes[lane]?.start(now: now) == true { return true }
        pending[lane, default: []].append(slot)
        return false
    }

    /// The worker's slot of a job whose moment has come; it is called now.
    public mutating func nextStart(now: UInt64) -> Int? {
        guard !pending.isEmpty else { return nil }
        for lane in pending.keys {
            guard lanes[lane]?.start(now: now) == true, let slot = pending[lane]?.removeFirst() else { continue }
            if pending[lane]?.isEmpty == true { pending[lane] = nil }
            return slot
        }
        return nil
    }

    /// A job's call has ended, or it will not be called.
    public mutating func released(_ lane: Int32, slot: Int, isStarted: Bool, now: UInt64) {
        lanes[lane]?.release(isStarted: isStarted, now: now)
        guard !isStarted, let place = pending[lane]?.firstIndex(of: slot) else { return }
        pending[lane]?.remove(at: place)
        if pending[lane]?.isEmpty == true { pending[lane] = nil }
    }

    /// What to draw now; empty if nothing is due. Counts as sent.
    ///
    /// - Parameters:
    ///   - free: slots of the worker that new calls could take.
    ///   - isWanted: whether tracks of a lane are known to hold work.
    public mutating func draw(free: Int, now: UInt64, isWanted: (Int32) -> Bool) -> [LaneRequest] {
        guard !isDrawing else { return [] }
        var wishes: [LaneRequest] = []
        for lane in lanes.keys.sorted() where wishes.count < LanePermits.drawLimit {
            guard let due = lanes[lane]?.drawDue(isWanted: isWanted(lane), free: free, now: now), due <= now else {
                continue
            }
            if let wish = lanes[lane]?.wish(lane, isWanted: isWanted(lane), free: free, now: now) {
                wishes.append(wish)
            }
        }
        isDrawing = !wishes.isEmpty
        return wishes
    }

    /// The answer of a draw.
    public mutating func drawn(_ grants: [LaneGrant], now: UInt64) {
        isDrawing = false
        for grant in grants { lanes[grant.lane]?.take(grant, now: now) }
    }

    /// A draw failed; it is due again.
    public mutating func drawFailed() { isDrawing = false }

    /// The worker has another number, or cannot know what became of its draws: what it holds is drawn anew.
    public mutating func drawAnew() {
        isDrawing = false
        for lane in lanes.keys { lanes[lane]?.drawAnew() }
    }

    /// Lanes of a survey: those that are new here.
    public mutating func know(_ lane: Int32) {
        if lanes[lane] == nil { lanes[lane] = LaneAllowance() }
    }

    /// Forgets lanes that are not in use and of which no track is known.
    mutating func forget(where isUnknown: (Int32) -> Bool) {
        lanes = lanes.filter { !$0.value.isIdle || !isUnknown($0.key) }
    }

    /// When something is to be done if nothing happens before: a draw, a claim for a slot that comes near, a start.
    ///
    /// - Parameters:
    ///   - draws: whether a draw could go out.
    ///   - claims: whether a claim could.
    public mutating func deadline(
        free: Int, draws: Bool, claims: Bool, now: UInt64, isWanted: (Int32) -> Bool
    ) -> UInt64? {
        guard !lanes.isEmpty else { return nil }
        var moment = UInt64.max
        for lane in lanes.keys {
            let wanted = isWanted(lane)
            if draws, !isDrawing, let due = lanes[lane]?.drawDue(isWanted: wanted, free: free, now: now) {
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
