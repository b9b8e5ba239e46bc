// SPDX-License-Identifier: Apache-2.0

/// An event of a session for its owner; see `PGSession.next`.
public enum PGSessionEvent: ~Copyable {
    /// The session is connected and set up, so statements can be sent.
    case ready
    /// The statement succeeded and its group has committed. The owner may keep the result.
    case result(tag: UInt64, PGResult)
    /// The statement failed, or was rolled back because another one of its group failed (`.aborted`). If the commit of
    /// a group failed, the last statement has the reason.
    case failed(tag: UInt64, PGError)
    /// A `NOTIFY` on a channel of the set-up statements.
    case notification(PGNotification)
    /// The connection, or the attempt at one, was lost. The statements of these tags, oldest first, may or may not have
    /// taken effect. Each tag is named once and has no further event.
    case lost(PGError, unanswered: [UInt64])
    /// The earliest time of the next attempt. It always follows `lost`.
    case retryAt(UInt64)
}

/// The socket events that a session waits for.
public struct PGSessionInterest: Equatable, Sendable {
    /// The socket. The session owns it and may close it at any time.
    public var descriptor: Int32
    /// Whether to wait until it can be read.
    public var read: Bool
    /// Whether to wait until it can be written.
    public var write: Bool
    /// Changes with each new socket, even if the number is the same.
    public var generation: UInt64
}
