// SPDX-License-Identifier: Apache-2.0

/// Decides what the worker reports to its service manager, such as systemd, in the words of `sd_notify(3)`.
struct ServiceReports {
    /// The present activity of the worker.
    enum Condition: Equatable {
        /// It has no session or no number in the database, and connects.
        case disconnected
        /// It claims jobs and makes calls.
        case claiming
        /// It claims no more jobs. So many calls ran when the drain began.
        case draining(calls: Int)

        func isSame(as other: Condition?) -> Bool {
            switch (self, other) {
            case (.disconnected, .disconnected), (.claiming, .claiming), (.draining, .draining): true
            default: false
            }
        }
    }

    /// The time until a message is sent again that the manager's queue did not take: 1 s.
    private static let retryPause: UInt64 = 1_000_000_000
    /// The time that a stop may take after the drain, 5 s of it for the last results (`Shutdown`).
    private static let timeAfterDrain: Duration = .seconds(10)

    /// Half of the manager's timeout, so that one late turn does no harm; nil: the manager awaits nothing.
    private let watchdogPause: UInt64?
    private let stopTime: Duration
    /// The condition that the manager knows; nil before the first message.
    private var reported: Condition?
    private var wasReady = false
    private var nextWatchdog: UInt64 = 0
    private var nextTry: UInt64 = 0

    /// No report is sent yet.
    init(watchdogTimeout: UInt64?, drain: Duration) {
        watchdogPause = watchdogTimeout.map { max(1, $0 / 2) }
        stopTime = drain + ServiceReports.timeAfterDrain
    }

    /// The moment of the next `WATCHDOG=1`; nil if the manager awaits none.
    var deadline: UInt64? { watchdogPause.map { _ in max(nextWatchdog, nextTry) } }

    /// Sends what has changed since the last message, and `WATCHDOG=1` if it is due.
    ///
    /// - Parameter send: sends assignments, one a line; returns whether the manager got them.
    mutating func report(_ condition: Condition, now: UInt64, send: (String) -> Bool) {
        guard now >= nextTry else { return }
        let isNew = !condition.isSame(as: reported)
        var lines = isNew ? assignments(condition) : []
        if watchdogPause != nil, now >= nextWatchdog { lines.append("WATCHDOG=1") }
        guard !lines.isEmpty else { return }
        guard send(lines.joined(separator: "\n")) else {
            nextTry = now + ServiceReports.retryPause
            return
        }
        reported = condition
        if condition == .claiming { wasReady = true }
        nextWatchdog = now + (watchdogPause ?? 0)
    }

    private func assignments(_ condition: Condition) -> [String] {
        switch condition {
        case .disconnected: return ["STATUS=Connects to the database."]
        case .claiming: return (wasReady ? [] : ["READY=1"]) + ["STATUS=Claims jobs and makes their calls."]
        case .draining(let calls):
            // The manager would kill the worker after TimeoutStopSec, which may be shorter than --drain.
            let (seconds, fraction) = stopTime.components
            let microseconds = seconds * 1_000_000 + fraction / 1_000_000_000_000
            return [
                "STOPPING=1", "EXTEND_TIMEOUT_USEC=\(microseconds)",
                "STATUS=Finishes \(calls) \(calls == 1 ? "call" : "calls") and claims no more jobs.",
            ]
        }
    }
}
