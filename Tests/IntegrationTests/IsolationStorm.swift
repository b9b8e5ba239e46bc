// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import Synchronization
import TestSupport

/// Two clients share a queue and two workers. One inserts plain jobs. The other one and a role without rights attack these jobs in
/// seven ways at once.
final class IsolationStorm {
    private static let victims = "victim"

    private let cluster: PrivateCluster
    private let database: String
    private let target: TargetServer
    private let isOver = Stop()

    private final class Stop: Sendable {
        let flag = Atomic(false)
    }

    /// One kind of attack: a statement that is executed again and again; what the database refuses is no defect.
    private struct Attack: Sendable {
        var role = TestRole.stranger
        /// Executed once a round; `$round` is the number of the round.
        var statement: String
        var pause = 200
        /// Only if this query gives true; nil: always.
        var needs: String?
    }

    init() throws {
        cluster = try PrivateCluster()
        database = cluster.connectionString()
        let numbers = "[" + (1...Soak.count(30_000, reduced: 3_000)).map(String.init).joined(separator: ",") + "]"
        let large = "\"" + String(repeating: "x", count: 2_000_000) + "\""
        target = try TargetServer { request in
            switch request.path.split(separator: "/").first {
            case "numbers": TargetStep.answer(200, numbers)
            case "large": TargetStep.answer(200, large)
            case "broken": TargetStep.answer(500)
            default: TargetStep.answer(200, "{\"path\": \"\(request.path)\"}")
            }
        }
    }

    private var attacks: [Attack] {
        let url = target.url
        func insert(_ count: Int, _ columns: String, _ values: String) -> String {
            """
            insert into postrider.jobs (\(columns)) select \(values) from generate_series(1, \(count)) as i
             where (select count(*) from postrider.job_status where state in ('ready', 'running')) < 5000
            """
        }
        let expensive = "$[*] ? (exists($[*] ? (exists($[*] ? (@ == 3)))))"
        return [
            Attack(
                statement: insert(3, "url, extract, max_attempts", "'\(url)/numbers/$round/' || i, '\(expensive)', 1"),
                pause: 1_000, needs: Self.hasSetting("judge_timeout")),
            Attack(
                statement: insert(
                    2, "method, url, body, max_attempts",
                    "'POST', '\(url)/body/$round/' || i, convert_to(repeat('x', 10000000), 'UTF8'), 1"), pause: 500),
            Attack(statement: insert(4, "url, max_attempts", "'\(url)/large/$round/' || i, 1"), pause: 500),
            Attack(
                statement: insert(
                    60, "url, max_attempts",
                    "format('http://n%s-%s.localhost:\(target.port)/name', i, '$round'), 1")),
            Attack(
                statement: insert(
                    200, "url, lane, priority, max_attempts",
                    "'\(url)/lane/$round/' || i, format('l%s-%s', i, '$round'), -100, 1"), pause: 1_000),
            Attack(statement: insert(5, "url, max_attempts, backoff", "'\(url)/broken/$round/' || i, 2, '{1 s}'")),
            Attack(
                role: .nobody,
                statement: """
                    do $$ begin for i in 1..1000000 loop perform pg_advisory_lock(7, i); end loop;
                    exception when out_of_memory then null; end $$; select pg_sleep(2)
                    """, pause: 3_000, needs: Self.hasSetting("judge_timeout")),
            Attack(
                role: .admin,
                statement: "update postrider.client_limits set max_unfinished = 3000 where role = 'test_stranger'",
                pause: 2_000, needs: "select to_regclass('postrider.client_limits') is not null"),
        ]
    }

    private static func hasSetting(_ name: String) -> String {
        """
        select exists (select from pg_attribute
         where attrelid = 'postrider.settings'::regclass and attname = '\(name)' and not attisdropped)
        """
    }

    /// Storms for so long; the defects found afterwards.
    func run(seconds: Double) throws -> [String] {
        let queue = try TestQueue(on: cluster)
        let workers = try (0..<2).map { _ in try RunningWorker(database, concurrency: 16) }
        for worker in workers { try worker.wait(for: "enlisted") }
        var threads: [BackgroundThread] = []
        for attack in attacks {
            if let needs = attack.needs, try !queue.connection.query(needs).bool(0, 0) { continue }
            threads.append(begin(attack))
        }
        let committed = try insertPlainJobs(until: TestClock.now + UInt64(seconds * 1e9))
        isOver.flag.store(true, ordering: .releasing)
        for thread in threads { thread.join() }
        try queue.waitUntilDone(Double(Soak.count(600, reduced: 120)))
        for worker in workers where worker.end(SIGTERM) != 0 {
            return ["a worker failed: \(worker.output.suffix(2_000))"]
        }
        return try defects(queue, committed)
    }

    private func begin(_ attack: Attack) -> BackgroundThread {
        let database = attack.role.database(database)
        let isOver = isOver
        return BackgroundThread {
            var round = 0
            while !isOver.flag.load(ordering: .acquiring) {
                do {
                    let connection = try PGConnection(database)
                    while !isOver.flag.load(ordering: .acquiring) {
                        round += 1
                        try? connection.execute(attack.statement.replacing("$round", with: "\(round)"))
                        TestClock.sleep(milliseconds: attack.pause)
                    }
                } catch {
                    TestClock.sleep(milliseconds: attack.pause)
                }
            }
        }
    }

    /// Inserts a plain job and one that is called at most once, again and again; how many pairs were committed.
    private func insertPlainJobs(until end: UInt64) throws -> Int {
        let connection = try PGConnection(TestRole.client.database(database))
        var committed = 0
        while TestClock.now < end {
            let values = """
                ('GET', '\(target.url)/plain/\(committed)', 'at_least_once', '\(Self.victims)', 5),
                ('POST', '\(target.url)/once/\(committed)', 'at_most_once', '\(Self.victims)', 1)
                """
            do throws(PGError) {
                try connection.execute(
                    "insert into postrider.jobs (method, url, delivery, tag, max_attempts) values \(values)")
                committed += 1
            } catch {
                // A shortage may refuse the INSERT, and then there is no job.
                guard error.sqlState?.rawValue.hasPrefix("53") == true else { throw error }
            }
            TestClock.sleep(milliseconds: 25)
        }
        return committed
    }

    private func defects(_ queue: borrowing TestQueue, _ committed: Int) throws -> [String] {
        var found: [String] = []
        let ours = "from postrider.job_status where tag = '\(Self.victims)'"
        let succeeded = try queue.number("select count(*) \(ours) and state = 'succeeded'")
        if succeeded != Int64(2 * committed) {
            let states = try queue.text(
                """
                select string_agg(format('%s %s %s', n, state, error_code), ', ')
                from (select count(*) as n, state, error_code \(ours) group by 2, 3) s
                """
            )
            found.append("of \(2 * committed) jobs \(succeeded) succeeded: \(states ?? "")")
        }
        // Each answer names the path that it is for.
        let stale = try queue.number(
            "select count(*) \(ours) and state = 'succeeded' and position(result ->> 'path' in url) = 0")
        if stale > 0 { found.append("\(stale) results are not those of their calls") }
        var calls: [String: Int] = [:]
        for request in target.requests { calls[request.path, default: 0] += 1 }
        let repeated = calls.filter { $0.key.hasPrefix("/once/") && $0.value > 1 }
        if !repeated.isEmpty { found.append("called more than once: \(repeated.keys.sorted().prefix(5))") }
        let lost = (0..<committed).count { calls["/plain/\($0)"] == nil || calls["/once/\($0)"] == nil }
        if lost > 0 { found.append("\(lost) pairs were not called") }
        let late = try queue.number(
            """
            select (1000 * extract(epoch from percentile_disc(0.99)
              within group (order by finished_at - created_at)))::bigint \(ours)
            """
        )
        // Beside other tests jobs wait for seconds while all locks of the server are taken.
        // There 60 s shows only that they go on.
        let limit = Soak.count(1_000, reduced: 60_000)
        if late > Int64(limit) { found.append("the 99th percentile of plain jobs is \(late) ms") }
        return found
    }
}
