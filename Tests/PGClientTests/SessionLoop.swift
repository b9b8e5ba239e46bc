// SPDX-License-Identifier: Apache-2.0

import PGClient
import Reactor

/// An event of a session in a form that can be compared. A result is its row count and its first value.
enum Told: Equatable {
    case ready
    case result(UInt64, rows: Int, value: Int64)
    case failed(UInt64, SQLState?)
    case aborted(UInt64)
    case notification(String, String)
    case lost([UInt64])
    case retry
}

/// A minimal owner of a session: one epoll set, one session, and a record of all events.
struct SessionLoop: ~Copyable {
    var session: PGSession
    private(set) var told: [Told] = []
    private(set) var errors: [PGError] = []
    private(set) var turns = 0
    private(set) var staleTurns = 0
    private var poller: Poller
    private var interest: PGSessionInterest?
    private var ready: [PollerEvent] = []

    init(_ configuration: PGSession.Configuration) throws {
        session = PGSession(configuration)
        poller = try Poller()
        session.start(now: MonotonicClock.now)
    }

    init(_ string: PGConnectionString, setUp: [String] = [], prepares: Bool = true) throws {
        try self.init(PGSession.Configuration(string: string, setUp: setUp, prepares: prepares))
    }

    /// Runs until the condition holds for the record or the time is over. Returns whether it held.
    mutating func run(seconds: UInt64 = 20, until isDone: ([Told]) -> Bool) throws -> Bool {
        let end = MonotonicClock.now + seconds * 1_000_000_000
        while true {
            drain()
            if isDone(told) { return true }
            let now = MonotonicClock.now
            guard now < end else { return false }
            try turn(limit: end - now)
        }
    }

    /// Runs until statements can be sent.
    mutating func runUntilReady(seconds: UInt64 = 20) throws -> Bool {
        let end = MonotonicClock.now + seconds * 1_000_000_000
        drain()
        while !session.isReady {
            let now = MonotonicClock.now
            guard now < end else { return false }
            try turn(limit: end - now)
            drain()
        }
        return true
    }

    /// Clears the record.
    mutating func forget() {
        told.removeAll()
        errors.removeAll()
    }

    private mutating func turn(limit: UInt64) throws {
        turns += 1
        if let wanted = session.interest, wanted != interest {
            try poller.set(wanted.descriptor, token: wanted.generation, read: wanted.read, write: wanted.write)
        }
        interest = session.interest
        let now = MonotonicClock.now
        let due = session.nextDeadline.map { $0 > now ? $0 - now : 0 }
        try poller.wait(timeoutNanoseconds: min(due ?? limit, limit), into: &ready)
        // A child process that another test starts may hold a copy of a closed socket for a moment. Its events are
        // stale.
        let current = interest?.generation
        let fresh = ready.filter { $0.token == current }
        if fresh.isEmpty && !ready.isEmpty { staleTurns += 1 }
        session.process(
            readable: fresh.contains { $0.readable }, writable: fresh.contains { $0.writable },
            now: MonotonicClock.now)
    }

    private mutating func drain() {
        while let event = session.next() {
            switch consume event {
            case .ready: told.append(.ready)
            case .result(let tag, let result):
                let hasValue = result.rowCount > 0 && result.columnCount > 0
                told.append(.result(tag, rows: result.rowCount, value: hasValue ? result.int64(0, 0) : 0))
            case .failed(let tag, let error):
                told.append(error.code == .aborted ? .aborted(tag) : .failed(tag, error.sqlState))
                errors.append(error)
            case .notification(let notification):
                told.append(.notification(notification.channel, notification.payload))
            case .lost(let error, let unanswered):
                told.append(.lost(unanswered))
                errors.append(error)
            case .retryAt: told.append(.retry)
            }
        }
    }
}
