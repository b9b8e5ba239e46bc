// SPDX-License-Identifier: Apache-2.0

/// Limits warnings that would repeat while a condition lasts to one a minute. Times are monotonic nanoseconds.
struct RepeatedWarnings {
    private static let interval: UInt64 = 60_000_000_000

    private var lockDue: [Duty: UInt64] = [:]
    private var shortageDue: UInt64 = 0
    private var refusalDue: UInt64 = 0
    private var memoryDue: UInt64 = 0
    private var spansDue: UInt64 = 0

    /// Whether to report a duty that waits for a lock.
    mutating func shouldReportLock(of duty: Duty, now: UInt64) -> Bool {
        guard now >= lockDue[duty] ?? 0 else { return false }
        lockDue[duty] = now + RepeatedWarnings.interval
        return true
    }

    /// Whether to report results that the database refuses.
    mutating func shouldReportRefusal(now: UInt64) -> Bool {
        guard now >= refusalDue else { return false }
        refusalDue = now + RepeatedWarnings.interval
        return true
    }

    /// Whether to report bodies and answers that wait for memory.
    mutating func shouldReportMemory(now: UInt64) -> Bool {
        guard now >= memoryDue else { return false }
        memoryDue = now + RepeatedWarnings.interval
        return true
    }

    /// Whether to report dropped spans.
    mutating func shouldReportSpans(now: UInt64) -> Bool {
        guard now >= spansDue else { return false }
        spansDue = now + RepeatedWarnings.interval
        return true
    }

    /// Whether to report calls that wait for a file descriptor.
    mutating func shouldReportDescriptors(now: UInt64) -> Bool {
        guard now >= shortageDue else { return false }
        shortageDue = now + RepeatedWarnings.interval
        return true
    }
}
