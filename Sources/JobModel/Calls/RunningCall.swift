// SPDX-License-Identifier: Apache-2.0

/// The part of its way that a call is in. The raw value is `postrider.attempts.phase`.
public enum CallPhase: String, Equatable, Sendable, CaseIterable {
    /// The worker asks the database what to send.
    case prepare
    /// Hooks run before the call.
    case hooks
    /// It waits for a call time of its lane.
    case lane
    /// Its body or its answer waits for room in the worker's memory.
    case memory
    /// It waits for the disk.
    case file
    /// The process has no descriptor left.
    case descriptor
    /// It waits until it may use or open a connection.
    case connection
    case dns
    case connect
    case tls
    case send
    case firstByte = "first_byte"
    case receive
    /// Its answer waits for the judging session.
    case judge
    /// The database has refused its result, and the worker writes it again.
    case store
}

/// An attempt that has been under way for more than a second.
public struct RunningCall: Equatable, Sendable {
    /// The right to make it.
    public var lease: Lease
    /// The part of its way that it is in.
    public var phase: CallPhase
    /// When that began, in nanoseconds of CLOCK_MONOTONIC.
    public var since: UInt64
    /// When a limit ends the call, unless it gets on; nil: none does.
    public var deadline: UInt64?
    /// Bytes of the answer's body if it has begun, otherwise of the request's.
    public var done: Int64
    /// How many there are; nil: not known.
    public var total: Int64?

    /// One that transfers nothing, unless its bytes are given.
    public init(
        lease: Lease, phase: CallPhase, since: UInt64, deadline: UInt64? = nil, done: Int64 = 0, total: Int64? = nil
    ) {
        self.lease = lease
        self.phase = phase
        self.since = since
        self.deadline = deadline
        self.done = done
        self.total = total
    }
}
