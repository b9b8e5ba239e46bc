// SPDX-License-Identifier: Apache-2.0

/// A call whose answer waits for memory of its owner.
///
/// A call keeps `answerRoom` bytes of its answer. Then its connection is not read until the owner grants more. This
/// wait counts neither for the call's `timeout` nor for the speed of its server.
public struct WaitingAnswer: Equatable, Sendable {
    /// The slot of the call.
    public var slot: Int
    /// How many bytes its answer has in all, or may have.
    public var wanted: Int
    /// Since when it waits, in nanoseconds of CLOCK_MONOTONIC.
    public var since: UInt64

    /// A waiting answer.
    public init(slot: Int, wanted: Int, since: UInt64) {
        self.slot = slot
        self.wanted = wanted
        self.since = since
    }
}
