// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import Synchronization
import TestSupport

/// One attack: a statement that a role executes again and again. Errors are part of the attack.
struct IsolationAttack: Sendable {
    /// The expected effect of the statement, apart from shortages and lost connections.
    enum Expectation {
        case anything
        /// No limit may refuse it.
        case allowed
        /// A limit must refuse it.
        case refused
    }

    let name: String
    var role = TestRole.stranger
    var pause = 200
    var expectation = Expectation.anything
    /// Whether plain jobs cannot run during the attack, with any behaviour of Postrider.
    var takesServer = false
    /// The statement of a round.
    let statement: @Sendable (Int) -> String
}

/// The log that all threads of a storm write: outcomes of statements, and times of outages.
final class IsolationLog: Sendable {
    private let outcomes = Mutex<[String: [String: Int]]>([:])
    private let times = Mutex<[ClosedRange<Double>]>([])
    private let stop = Atomic(false)

    var isOver: Bool { stop.load(ordering: .acquiring) }

    func end() { stop.store(true, ordering: .releasing) }

    func count(_ outcome: String, of name: String) {
        outcomes.withLock { $0[name, default: [:]][outcome, default: 0] += 1 }
    }

    func counted(_ outcome: String, of name: String) -> Int { outcomes.withLock { $0[name]?[outcome] ?? 0 } }

    func disturb(_ times: ClosedRange<Double>) { self.times.withLock { $0.append(times) } }

    /// Plain jobs that were inserted within these times are not measured.
    ///
    /// Each range starts a second before a disturbance. It ends when workers have had time to try again. Their waits
    /// have grown to about the length of the disturbance, and at most to 30 s.
    var disturbances: [ClosedRange<Double>] {
        times.withLock { $0 }.map { times in
            let length = times.upperBound - times.lowerBound
            return times.lowerBound - 1...times.upperBound + min(30, length) + 2
        }
    }

    /// Seconds since 1970, from the clock that the database on this machine also uses.
    static var wallTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Sleeps, but not beyond the end of the storm.
    func sleep(milliseconds: Int) {
        let end = TestClock.now + UInt64(milliseconds) * 1_000_000
        while !isOver, TestClock.now < end { TestClock.sleep(milliseconds: min(100, milliseconds)) }
    }

    /// One line for each attack: the count of each SQLSTATE.
    var summary: String {
        outcomes.withLock { outcomes in
            outcomes.sorted { $0.key < $1.key }.map { name, counts in
                "\(name): " + counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            }
        }.joined(separator: "\n")
    }
}

extension IsolationAttack {
    /// The SQLSTATE of refusals by `client_limits`.
    static let limitRefusal = "PR015"

    /// Executes the statement until the storm is over. It reconnects whenever the connection is lost.
    func begin(_ database: String, _ log: IsolationLog) -> BackgroundThread {
        let attack = self
        let text = role.database(database)
        return BackgroundThread {
            var round = 0
            while !log.isOver {
                do throws(PGError) {
                    let connection = try PGConnection(text)
                    while !log.isOver {
                        round += 1
                        guard attack.execute(round, connection, log) else { break }
                        log.sleep(milliseconds: attack.pause)
                    }
                } catch {
                    log.count(error.sqlState?.rawValue ?? "no connection", of: attack.name)
                    TestClock.sleep(milliseconds: 100)
                }
            }
        }
    }

    /// Executes the statement of a round. Returns false if the connection is lost.
    private func execute(_ round: Int, _ connection: borrowing PGConnection, _ log: IsolationLog) -> Bool {
        let began = IsolationLog.wallTime
        defer { if takesServer { log.disturb(began...IsolationLog.wallTime) } }
        do throws(PGError) {
            try connection.execute(statement(round))
            log.count("done", of: name)
            return true
        } catch {
            log.count(error.sqlState?.rawValue ?? "lost", of: name)
            return error.code == .server
        }
    }

    /// A contradiction between the counted outcomes and the limits.
    func defect(_ log: IsolationLog) -> String? {
        let done = log.counted("done", of: name)
        let refused = log.counted(Self.limitRefusal, of: name)
        switch expectation {
        case .anything: return nil
        case .allowed where refused > 0 || done == 0: return "\(name): \(done) inserted, \(refused) refused"
        case .refused where done > 0 || refused == 0: return "\(name): \(done) inserted, \(refused) refused"
        default: return nil
        }
    }
}
