// SPDX-License-Identifier: Apache-2.0
public import JobModel

/// One call that ended, under the number its owner gave it.
public struct FinishedCall: Equatable, Sendable {
    /// As given to `start`; free again.
    public var slot: Int
    /// How it ended.
    public var outcome: CallOutcome
}
