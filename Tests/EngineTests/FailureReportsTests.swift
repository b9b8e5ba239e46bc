// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

/// Failed jobs that the log names, and failed jobs that the log only counts.
struct FailureReportsTests {
    private static let second: UInt64 = 1_000_000_000
    private var reports = FailureReports()

    /// A list of `count` entries, each for `jobs` failed jobs.
    private static func failures(_ count: Int, of jobs: Int = 1) -> [FailedJobs] {
        (0..<count).map { FailedJobs(jobs: jobs, job: Int64($0), queue: "q", lane: "l", state: "failed") }
    }

    private mutating func found(_ named: [FailedJobs], jobs: Int, at second: UInt64) -> [Int] {
        let found = reports.found(named, jobs: jobs, now: second * Self.second)
        return [found.rest, found.toLog.count]
    }

    @Test mutating func `the log names the first ten failed jobs per minute and counts the others`() {
        #expect(found([], jobs: 0, at: 1) == [0, 0])
        #expect(found(Self.failures(4), jobs: 4, at: 5) == [0, 4])
        #expect(found(Self.failures(10), jobs: 5_000, at: 6) == [0, 6])
        #expect(found(Self.failures(10), jobs: 10, at: 64) == [0, 0])
        #expect(found([], jobs: 0, at: 65) == [5_004, 0])
        #expect(found([], jobs: 0, at: 66) == [0, 0])
        // A minute begins with the first failure in it.
        #expect(found(Self.failures(1), jobs: 1, at: 100) == [0, 1])
        #expect(found(Self.failures(10), jobs: 10, at: 159) == [0, 9])
        #expect(found(Self.failures(10), jobs: 10, at: 160) == [1, 10])
    }

    @Test mutating func `a log line for several failed jobs counts all of them`() {
        #expect(found(Self.failures(3, of: 20), jobs: 61, at: 1) == [0, 3])
        #expect(found([], jobs: 0, at: 61) == [1, 0])
    }

    @Test mutating func `a stopping worker logs the count of unreported failed jobs once`() {
        _ = found(Self.failures(10), jobs: 30, at: 1)
        #expect(reports.takeRest() == 20)
        #expect(reports.takeRest() == 0)
        #expect(found(Self.failures(1), jobs: 1, at: 2) == [0, 0])
        #expect(found([], jobs: 0, at: 61) == [1, 0])
    }
}
