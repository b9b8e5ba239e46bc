// SPDX-License-Identifier: Apache-2.0

/// What a worker asks of the database for one lane.
public struct LaneRequest: Equatable, Sendable {
    /// The lane's number.
    public var lane: Int32
    /// Calls under way, and rows that claims under way may bring.
    public var used: Int32
    /// How many permits it would like to have, those in use among them.
    public var hold: Int32
    /// How many more slots it could use.
    public var slots: Int32

    /// A wish.
    public init(lane: Int32, used: Int32, hold: Int32, slots: Int32) {
        self.lane = lane
        self.used = used
        self.hold = hold
        self.slots = slots
    }
}

/// What the database answers.
public struct LaneGrant: Equatable, Sendable {
    /// The lane's number.
    public var lane: Int32
    /// Calls that this worker may have under way; nil: the lane does not limit them.
    public var permits: Int32?
    /// No more than this many as long as others wait for permits.
    public var share: Int32
    /// How many slots are granted; nil: the lane does not limit the rate.
    public var slots: Int32?
    /// The first slot, or the first that could be had, by the worker's own clock.
    public var first: UInt64
    /// From slot to slot.
    public var spacing: UInt64
    /// How much later than its slot a call may begin.
    public var tolerance: UInt64

    /// A grant; times in nanoseconds.
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
