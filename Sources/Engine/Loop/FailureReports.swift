// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Which failed jobs have a line of their own in the log: the first of a minute; the others are counted, and the count
/// is told at its end. Pure. Monotonic nanoseconds.
struct FailureReports {
    /// A minute, from its first line on.
    static let interval: UInt64 = 60_000_000_000
    /// Lines of one minute.
    static let most = 10

    private var minuteEnd: UInt64 = 0
    private var told = 0
    private var untold = 0

    /// What the leader's last look has found: how many jobs, and some of them by name.
    ///
    /// - Returns: what is to be told: how many the minute before had beside those that were told, 0 if it is not over;
    ///   and those that have a line now.
    mutating func found(_ failures: [FailedJobs], jobs: Int, now: UInt64) -> (rest: Int, told: [FailedJobs]) {
        var rest = 0
        if now >= minuteEnd {
            rest = takeRest()
            told = 0
        }
        guard jobs > 0 else { return (rest, []) }
        if told == 0 && untold == 0 { minuteEnd = now + FailureReports.interval }
        let lines = Array(failures.prefix(max(0, FailureReports.most - told)))
        told += lines.count
        untold += max(0, jobs - lines.reduce(0) { $0 + $1.jobs })
        return (rest, lines)
    }

    /// How many are still to be told of: this worker looks no more.
    mutating func takeRest() -> Int {
        defer { untold = 0 }
        return untold
    }
}
