// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Chooses the failed jobs that get a log line: the first ten of a minute. The others are counted, and the count is
/// logged at the end of the minute. Pure. Times are monotonic nanoseconds.
struct FailureReports {
    /// A minute, which begins with its first line.
    static let interval: UInt64 = 60_000_000_000
    /// The most lines of one minute.
    static let most = 10

    private var minuteEnd: UInt64 = 0
    private var logged = 0
    private var unlogged = 0

    /// Takes the failures that the leader has found: their number, and some of them in detail.
    ///
    /// - Returns: `rest` is the number of unlogged failures of the minute before, 0 if it is not over. `toLog` are the
    ///   failures to log now.
    mutating func found(_ failures: [FailedJobs], jobs: Int, now: UInt64) -> (rest: Int, toLog: [FailedJobs]) {
        var rest = 0
        if now >= minuteEnd {
            rest = takeRest()
            logged = 0
        }
        guard jobs > 0 else { return (rest, []) }
        if logged == 0 && unlogged == 0 { minuteEnd = now + FailureReports.interval }
        let lines = Array(failures.prefix(max(0, FailureReports.most - logged)))
        logged += lines.count
        unlogged += max(0, jobs - lines.reduce(0) { $0 + $1.jobs })
        return (rest, lines)
    }

    /// The number of unlogged failures. Call this when the worker stops looking for them.
    mutating func takeRest() -> Int {
        defer { unlogged = 0 }
        return unlogged
    }
}
