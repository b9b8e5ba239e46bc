// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import Synchronization
import TestSupport

/// Two clients share a queue and two workers.
///
/// One client inserts plain jobs, the victims. The other client and a role without rights attack them in all ways at
/// once. In each phase the database is restored to an earlier state.
final class IsolationStorm {
    private static let memory = 128
    private static let database = "app"

    private let cluster: PrivateCluster
    private let database: String
    private let names: LocalNameServer?
    private let target: TargetServer
    private let ledger = CallLedger()
    private let log = IsolationLog()
    /// Seconds from INSERT to end of victims outside of disturbances.
    private var waits: [Double] = []

    init() throws {
        cluster = try PrivateCluster()
        database = cluster.connectionString(database: Self.database)
        names = LocalNameServer.obstacle == nil ? try LocalNameServer() : nil
        let numbers = "[" + (1...Soak.count(30_000, reduced: 3_000)).map(String.init).joined(separator: ",") + "]"
        let large = "\"" + String(repeating: "x", count: 2_000_000) + "\""
        target = try TargetServer(keepsRequests: false) { [ledger] request in
            switch request.path.split(separator: "/").first {
            case "victim":
                // Some calls are in flight when the database stops.
                let serial = ledger.note(request)
                let pause = request.path.contains("/once/") ? (serial % 8 == 0 ? 300 : 20) : 0
                return [.pause(milliseconds: pause)]
                    + TargetStep.answer(200, #"{"path": "\#(request.path)", "serial": "\#(serial)"}"#)
            case "numbers": return TargetStep.answer(200, numbers)
            case "large": return TargetStep.answer(200, large)
            case "broken": return TargetStep.answer(500)
            default: return TargetStep.answer(200)
            }
        }
    }

    /// Runs the storm for this long, and returns the defects.
    func run(seconds: Double, phases: Int) throws -> [String] {
        let queue = try TestQueue(on: cluster, database: Self.database)
        try queue.connection.execute(
            """
            update postrider.settings set judge_timeout = '\(Soak.isOn ? 2_000 : 200) ms', retention = '20 min',
              failed_retention = '20 min';
            \(IsolationAttacks.limits(0))
            """)
        let workers = try (0..<2).map { _ in
            try RunningWorker(
                database, concurrency: 16, ["--memory", "\(Self.memory)MiB"], under: names?.wrapper ?? [])
        }
        for worker in workers { try worker.wait(for: "enlisted") }
        let attacks = IsolationAttacks(
            url: target.url, port: target.port, names: names == nil ? ".localhost" : ".example"
        ).all
        let threads = attacks.map { $0.begin(database, log) }
        var found: [String] = []
        var callsByRoot: [String: Int] = [:]
        for number in 1...phases {
            let (root, defects) = try runPhase(number, seconds: seconds / Double(phases), isLast: number == phases)
            callsByRoot[root] = ledger.count(root)
            found += defects
        }
        for thread in threads { thread.join() }
        found += attacks.compactMap { $0.defect(log) }
        found += try endAttacks()
        for (root, calls) in callsByRoot where ledger.count(root) != calls {
            found.append("\(root): called after its end")
        }
        found += ledger.repeatedKeys.map { "one key for two jobs: \($0)" }
        found += defects(of: workers, restores: phases)
        note(log.summary)
        found += lateness()
        return found
    }

    /// Cancels the remaining jobs of the attacks, and compares the attacker's counts with its jobs.
    private func endAttacks() throws -> [String] {
        let queue = try TestQueue(opening: database)
        try queue.connection.execute("select postrider.cancel_all()")
        try queue.waitUntilDone(Double(Soak.count(600, reduced: 20)))
        let states = try queue.states()
        note("all jobs: \(states)")
        var found: [String] = []
        let unfinished = "select unfinished from postrider.client_status where role = '\(TestRole.stranger.name)'"
        try TestClock.wait(60, for: "the attacker's count of unfinished jobs to be 0") {
            try queue.number(unfinished) == 0
        }
        if try queue.number("select count(*) from postrider.restores") == 0 { found.append("no restore in the view") }
        return found
    }

    private func defects(of workers: [RunningWorker], restores: Int) -> [String] {
        var found: [String] = []
        let reported = workers.reduce(0) { $0 + $1.count(of: "database_restored") }
        if reported != restores { found.append("\(reported) of \(restores) restores reported") }
        for worker in workers {
            let peak = ResidentMemory.peak(of: worker.pid) >> 20
            note("a worker with a budget of \(Self.memory) MiB had \(peak) MiB, and logged \(Self.events(worker))")
            if peak >= Self.memory + 64 { found.append("a worker had \(peak) MiB") }
            let status = worker.end(SIGTERM)
            if status != 0 { found.append("a worker ended with \(status): \(worker.output.suffix(2_000))") }
        }
        return found
    }

    /// The number of log lines of a worker for each event, as in `enlisted 2`.
    private static func events(_ worker: RunningWorker) -> String {
        var counts: [String: Int] = [:]
        for line in worker.output.split(separator: "\n") {
            guard let place = line.firstRange(of: "\"event\":\"") else { continue }
            counts[String(line[place.upperBound...].prefix { $0 != "\"" }), default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// Writes to the log of the run at once, so the words appear even if the run does not reach its end.
    private func note(_ words: String) {
        let bytes = [UInt8]((words + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }

    private func lateness() -> [String] {
        guard !waits.isEmpty else { return [] }
        let sorted = waits.sorted()
        let milliseconds = [0.5, 0.9, 0.99, 1].map { share in
            Int(1_000 * sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))])
        }
        note("\(sorted.count) victims outside of disturbances: p50, p90, p99, most in ms: \(milliseconds)")
        // While other tests run, this only shows that jobs go on.
        let limit = Soak.count(1_000, reduced: 30_000)
        return milliseconds[2] > limit ? ["the 99th percentile of victims is \(milliseconds[2]) ms"] : []
    }

    /// Inserts victims while it restores the database, then compares the jobs with the calls.
    private func runPhase(_ number: Int, seconds: Double, isLast: Bool) throws -> (root: String, [String]) {
        let end = TestClock.now + UInt64(seconds * 1e9)
        let url = target.url
        var phase = IsolationPhase(number)
        let root = phase.root
        let restore = Mutex<Result<IsolationPhase.Restore, any Error>?>(nil)
        let restorer = StormRestorer(cluster: cluster, database: Self.database, log: log)
        let thread = BackgroundThread {
            let result = Result {
                TestClock.sleep(milliseconds: Int(seconds * 300))
                let saved = try restorer.save()
                TestClock.sleep(milliseconds: Int(seconds * 300))
                var kept = IsolationPhase.Kept()
                let restored = try restorer.restore { kept = try IsolationPhase.kept($0, url, root) }
                return IsolationPhase.Restore(saved: saved, restored: restored, kept: kept)
            }
            restore.withLock { $0 = result }
        }
        insertVictims(&phase, until: end)
        thread.join()
        if isLast { log.end() }
        guard let done = try restore.withLock({ $0 })?.get() else { return (root, ["no restore"]) }
        try waitForVictims(phase.tag)
        let rows = try StormRestorer.read(database) {
            try phase.rows($0, url, since: done.restored.lowerBound)
        }
        var defects = phase.defects(rows, ledger, done)
        defects += try StormRestorer.read(database) { try IsolationPhase.chainDefects($0, phase.tag) }
        waits += try StormRestorer.read(database) { try phase.waits($0, url, outside: log.disturbances, done.kept) }
        note(
            """
            phase \(number): \(phase.confirmed.count) inserted, \(rows.count) there, \(ledger.count(root)) calls, \
            \(done.kept.claimed.count) claimed and \(done.kept.open.count) open in the backup, \(defects.count) defects
            """)
        let calls = ledger.count(root)
        try TestClock.wait(60, for: "the report") { [database] in
            (try? TestQueue(opening: database).report(
                .isolated, attack: "expensive expressions, large bodies, many lanes, all locks; a restore",
                calls: calls,
                where: "j.tag = '\(phase.tag)'")) != nil
        }
        if defects.count > 20 { defects = defects.prefix(20) + ["\(defects.count) defects of phase \(number)"] }
        return (root, defects)
    }

    /// Inserts two plain jobs and an at_most_once job again and again, and sometimes a chain.
    private func insertVictims(_ phase: inout IsolationPhase, until end: UInt64) {
        let text = TestRole.client.database(database)
        var number = 0
        while TestClock.now < end {
            do throws(PGError) {
                let connection = try PGConnection(text)
                while TestClock.now < end {
                    number += 1
                    let paths = ["plain/\(number)", "once/\(number)"].map { phase.root + $0 }
                    let began = IsolationLog.wallTime
                    do throws(PGError) {
                        try connection.execute(
                            """
                            insert into postrider.jobs (method, url, delivery, tag, lane, max_attempts) values
                              ('GET', '\(target.url)\(paths[0])', 'at_least_once', '\(phase.tag)', 'victims', 5),
                              ('POST', '\(target.url)\(paths[1])', 'at_most_once', '\(phase.tag)', 'victims', 1)
                            """)
                        phase.confirm(paths, at: began...IsolationLog.wallTime)
                        log.count("done", of: "victims")
                        if number % 10 == 0 { try connection.execute(chain(phase, number)) }
                    } catch {
                        log.count(error.sqlState?.rawValue ?? "lost", of: "victims")
                        guard error.code == .server else { break }
                    }
                    TestClock.sleep(milliseconds: Soak.count(100, reduced: 25))
                }
            } catch {
                log.count(error.sqlState?.rawValue ?? "no connection", of: "victims")
                TestClock.sleep(milliseconds: 50)
            }
        }
    }

    private func chain(_ phase: IsolationPhase, _ number: Int) -> String {
        let steps = ["a", "b"].map { step in
            let url = "\(target.url)\(phase.root)chain/\(number)/\(step)"
            return #"{"name": "\#(step)", "url": "\#(url)", "tag": "\#(phase.tag)", "lane": "victims"}"#
        }
        return #"select postrider.submit('{"tag": "\#(phase.tag)", "chain": [\#(steps.joined(separator: ", "))]}')"#
    }

    private func waitForVictims(_ tag: String) throws {
        let left = """
            select coalesce(string_agg(n || ' ' || state, ', '), '') from (
              select count(*) as n, state from postrider.job_status
               where tag = '\(tag)' and finished_at is null group by state) s
            """
        var words = "all"
        try TestClock.wait(Double(Soak.count(300, reduced: 20)), for: "victims to end, \(words) left") {
            // While the server has no locks left, the query fails.
            guard let connection = try? PGConnection(database), let result = try? connection.query(left)
            else { return false }
            words = result.text(0, 0)
            return words.isEmpty
        }
    }
}
