// SPDX-License-Identifier: Apache-2.0

/// The events on one descriptor that the owner of an agent must wait for from now on.
public struct SocketChange: Equatable, Sendable {
    /// A descriptor of the agent. Wait on it, but never read, write or close it.
    public var descriptor: Int32
    /// Whether to wait until it can be read.
    public var wantsRead: Bool
    /// Whether to wait until it can be written.
    public var wantsWrite: Bool

    /// Whether to stop waiting on it. The descriptor may be closed already, so a failed removal is no error.
    public var isRemoval: Bool { !wantsRead && !wantsWrite }
}

extension SocketChange {
    /// A wait until the descriptor can be read.
    init(reading descriptor: Int32) { self.init(descriptor: descriptor, wantsRead: true, wantsWrite: false) }
}
