// SPDX-License-Identifier: Apache-2.0

/// What the owner of an agent shall wait for on one descriptor from now on.
public struct SocketChange: Equatable, Sendable {
    /// The agent's own descriptor: wait on it, never read, write or close it.
    public var descriptor: Int32
    /// Wait until it can be read.
    public var wantsRead: Bool
    /// Wait until it can be written.
    public var wantsWrite: Bool

    /// Stop waiting on it. The descriptor may be closed already, so a failing removal is no error.
    public var isRemoval: Bool { !wantsRead && !wantsWrite }
}
