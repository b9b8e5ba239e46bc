// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport

/// A thread that changes recent jobs while other sessions do too.
final class Meddler: Sendable {
    /// The possible actions.
    enum Deed: CaseIterable {
        case cancel, retry, reschedule

        func sql(_ id: Int64, _ random: inout Randomness) -> String {
            switch self {
            case .cancel: "postrider.cancel(\(id))"
            case .retry: "postrider.retry(\(id)) is not null"
            case .reschedule:
                "postrider.reschedule(\(id), now() + interval '\(random.number(0...200)) ms') is not null"
            }
        }
    }

    private struct Book {
        var done: [(deed: Deed, id: Int64)] = []
        var faults: [String] = []
    }

    private let book = Mutex(Book())
    private let isOver = Atomic(false)
    private let rounds = Atomic(0)
    private let thread = Mutex<BackgroundThread?>(nil)

    /// Starts at once.
    init(_ database: String, seed: UInt64) {
        thread.withLock { $0 = BackgroundThread { [self] in meddle(database, seed) } }
    }

    /// Waits until the thread has tried this many more actions.
    func goOn(_ count: Int) throws {
        let end = rounds.load(ordering: .relaxed) + count
        try TestClock.wait(20, for: "\(count) deeds") {
            rounds.load(ordering: .relaxed) >= end || book.withLock { !$0.faults.isEmpty }
        }
    }

    /// Stops the thread. Returns its successful actions and the errors that must not occur.
    func stop() -> (done: [(deed: Deed, id: Int64)], faults: [String]) {
        isOver.store(true, ordering: .releasing)
        thread.withLock { $0?.join() }
        return book.withLock { ($0.done, $0.faults) }
    }

    private func meddle(_ database: String, _ seed: UInt64) {
        var random = Randomness(seed: seed &+ 1_000_000)
        do throws(PGError) {
            let connection = try PGConnection(database)
            while !isOver.load(ordering: .acquiring) {
                let last = try connection.query("select coalesce(max(id), 0) from postrider.jobs").int64(0, 0)
                let id = last - Int64(random.number(0...80))
                let deed = Deed.allCases[Int(random.number(0...2))]
                do throws(PGError) {
                    let result = try connection.query("select \(deed.sql(id, &random))")
                    if deed != .cancel || result.bool(0, 0) { book.withLock { $0.done.append((deed, id)) } }
                } catch {
                    // The job does not exist yet, its state forbids the action, it has expired, or its key is taken.
                    guard ["PR001", "PR003", "PR005", "23505"].contains(error.sqlState?.rawValue ?? "") else {
                        throw error
                    }
                }
                rounds.add(1, ordering: .relaxed)
                TestClock.sleep(milliseconds: Int(random.number(0...15)))
            }
        } catch {
            book.withLock { $0.faults.append("somebody else: \(error)") }
        }
    }
}
