// SPDX-License-Identifier: Apache-2.0

/// What a session has to tell its owner; see `PGSession.next`.
public enum PGSessionEvent: ~Copyable {
    /// Connected, set up: statements can be sent.
    case ready
    /// The statement succeeded and its group has committed. The owner may keep the result.
    case result(tag: UInt64, PGResult)
    /// The statement failed, or was undone because another one of its group failed (`.aborted`). Of a group whose
    /// commit failed, the last statement has the reason.
    case failed(tag: UInt64, PGError)
    /// A `NOTIFY` on a channel that the set-up statements listen to.
    case notification(PGNotification)
    /// The connection, or the attempt at one, is gone. For the tags, oldest first, nobody knows whether the
    /// server has done them; each is named once and never heard of again.
    case lost(PGError, unanswered: [UInt64])
    /// The next attempt is then, at the earliest: always follows `lost`.
    case retryAt(UInt64)
}

/// What a session wants to be woken for.
public struct PGSessionInterest: Equatable, Sendable {
    /// The socket, which is the session's: it is closed behind the owner's back.
    public var descriptor: Int32
    /// Whether to wait for bytes.
    public var read: Bool
    /// Whether to wait for room.
    public var write: Bool
    /// Changes with each new socket, even if its number is that of the last one.
    public var generation: UInt64
}
