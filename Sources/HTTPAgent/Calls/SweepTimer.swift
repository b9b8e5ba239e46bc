// SPDX-License-Identifier: Apache-2.0

/// The time of the next check of limits that libcurl does not enforce, in monotonic nanoseconds.
final class SweepTimer {
    /// When the check is due; `.max` if there is nothing to check.
    private(set) var dueAt = Int64.max

    /// Checks at this moment at the latest.
    func check(by moment: Int64) { dueAt = min(dueAt, moment) }

    /// Moves a check that is due earlier to this moment.
    func delay(until moment: Int64) { if dueAt != .max { dueAt = max(dueAt, moment) } }

    /// There is nothing to check.
    func clear() { dueAt = .max }
}
