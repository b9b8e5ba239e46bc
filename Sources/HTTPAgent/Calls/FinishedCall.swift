// SPDX-License-Identifier: Apache-2.0
public import JobModel

/// One call that has ended, with its slot.
public struct FinishedCall: Equatable, Sendable {
    /// The slot that `start` got. It is free again.
    public var slot: Int
    /// How it ended.
    public var outcome: CallOutcome
}
