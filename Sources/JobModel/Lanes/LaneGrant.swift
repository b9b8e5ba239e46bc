// SPDX-License-Identifier: Apache-2.0

/// A worker's request for permits and rate slots of one lane.
public struct LaneRequest: Equatable, Sendable {
    /// The lane's number.
    public var lane: Int32
    /// Calls in flight, and rows that claims under way may bring.
    public var used: Int32
    /// How many permits the worker wants to hold, including those in use.
    public var hold: Int32
    /// How many more rate slots it could use.
    public var slots: Int32

    /// A request.
    public init(lane: Int32, used: Int32, hold: Int32, slots: Int32) {
        self.lane = lane
        self.used = used
        self.hold = hold
        self.slots = slots
    }
}

/// The database's answer to a request.
public struct LaneGrant: Equatable, Sendable {
    /// The lane's number.
    public var lane: Int32
    /// How many calls this worker may have in flight; nil: the lane does not limit them.
    public var permits: Int32?
    /// The most calls while other workers wait for permits.
    public var share: Int32
    /// How many rate slots are granted; nil: the lane has no rate limit.
    public var slots: Int32?
    /// The first granted slot, or the first free one if none is granted, by the worker's clock.
    public var first: UInt64
    /// The time between two slots.
    public var spacing: UInt64
    /// How much later than its slot a call may begin.
    public var tolerance: UInt64

    /// A grant. Times are in nanoseconds.
    public init(
        lane: Int32, permits: Int32?, share: Int32, slots: Int32?, first: UInt64, spacing: UInt64, tolerance: UInt64
    ) {
        self.lane = lane
        self.permits = permits
        self.share = share
        self.slots = slots
        self.first = first
        self.spacing = spacing
        self.tolerance = tolerance
    }
}
