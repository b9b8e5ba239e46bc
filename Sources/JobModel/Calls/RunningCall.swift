// SPDX-License-Identifier: Apache-2.0

/// The phase of a call. The raw value is `postrider.attempts.phase`.
public enum CallPhase: String, Equatable, Sendable, CaseIterable {
    /// The database builds the call.
    case prepare
    /// Hooks run before the call.
    case hooks
    /// The call waits for a rate slot of its lane.
    case lane
    /// The body or the answer waits for the worker's memory budget.
    case memory
    /// The call waits for the disk.
    case file
    /// The process has no free file descriptor.
    case descriptor
    /// The call waits for a connection.
    case connection
    case dns
    case connect
    case tls
    case send
    case firstByte = "first_byte"
    case receive
    /// The answer waits for the judging session.
    case judge
    /// The database has refused its result, and the worker writes it again.
    case store
}

/// An attempt that has been under way for more than a second.
public struct RunningCall: Equatable, Sendable {
    /// The lease of the attempt.
    public var lease: Lease
    /// The phase of the call.
    public var phase: CallPhase
    /// When the phase began, in nanoseconds of CLOCK_MONOTONIC.
    public var since: UInt64
    /// When a limit ends the call if it makes no progress; nil without such a limit.
    public var deadline: UInt64?
    /// Transferred bytes of the answer's body if it has begun, otherwise of the request's body.
    public var done: Int64
    /// The size of that body; nil if unknown.
    public var total: Int64?

    /// A running call. By default it has transferred no bytes.
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
