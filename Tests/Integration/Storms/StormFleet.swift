// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport

/// The workers of a storm, which die and are replaced. Confined to one thread.
final class StormFleet {
    /// A worker has ended that the test did not kill.
    struct StrayEnd: Error {
        let output: String
    }

    /// Jobs are left, and nothing happens to them.
    struct Stall: Error, CustomStringConvertible {
        let description: String
    }

    private let database: String
    private let words: [String]
    private var workers: [RunningWorker] = []
    /// The worker that stands still.
    private var frozen: RunningWorker?
    /// The ids of jobs of the frozen worker, as an SQL list.
    private var frozenJobs = ""
    /// How many workers may still die while the test makes jobs.
    private var deaths: Int

    init(_ database: String, deaths: Int, _ words: [String] = []) {
        self.database = database
        self.deaths = deaths
        self.words = words
    }

    /// Starts the first three workers.
    func start(_ random: inout Randomness) throws {
        for _ in 0..<3 { try add(&random) }
    }

    /// Sometimes ends a worker between two inserts, once a quarter of all jobs is inserted.
    func mayDie(
        made: Int, of wanted: Int, _ random: inout Randomness, by signal: (inout Randomness) -> Int32 = { _ in SIGKILL }
    ) throws {
        guard deaths > 0, made * 4 > wanted, random.chance(15) else { return }
        deaths -= 1
        try end(signal(&random), &random)
    }

    /// Sometimes pauses for some milliseconds between two inserts.
    func mayPause(_ random: inout Randomness) {
        if random.chance(30) { TestClock.sleep(milliseconds: Int(random.number(1...30))) }
    }

    /// Adds a worker with a random concurrency.
    private func add(_ random: inout Randomness) throws {
        workers.append(try RunningWorker(database, concurrency: Int(random.number(2...32)), words))
    }

    /// Ends a random worker by a signal and starts another.
    func end(_ signal: Int32, _ random: inout Randomness) throws {
        let index = Int(random.number(0...UInt64(workers.count - 1)))
        workers[index].end(signal)
        workers.remove(at: index)
        try add(&random)
    }

    /// Stops the worker that has the most of these jobs in flight with SIGSTOP. Returns false if none has any.
    func freeze(_ jobs: [Int64], in queue: borrowing TestQueue) throws -> Bool {
        frozenJobs = jobs.map(String.init).joined(separator: ", ")
        let name = try queue.text(
            """
            select w.worker from postrider_internal.ready r join postrider.worker_status w on w.epoch = r.worker
            where r.job_id in (\(frozenJobs)) group by 1 order by count(*) desc limit 1
            """)
        guard frozen == nil, let name, let index = workers.firstIndex(where: { name.hasSuffix(":\($0.pid)") }) else {
            return false
        }
        frozen = workers.remove(at: index)
        frozen?.send(SIGSTOP)
        return true
    }

    /// Lets the frozen worker go on as soon as it was declared lost, and another worker calls its jobs or they have
    /// ended. Its answers then come too late.
    func thawWhenLost(in queue: borrowing TestQueue) throws {
        guard let worker = frozen,
            try queue.number(
                """
                select count(*) from postrider_internal.workers where lost and name like '%:\(worker.pid)'
                and (select bool_or(worker > 0) from postrider_internal.ready where job_id in (\(frozenJobs)))
                is not false
                """) > 0
        else { return }
        worker.send(SIGCONT)
        workers.append(worker)
        frozen = nil
    }

    /// Replaces ended workers. A worker whose first connection was cut correctly ends with status 69.
    func replaceEnded(_ random: inout Randomness) throws {
        for worker in workers where !worker.isRunning {
            guard worker.wait() == 69 else { throw StrayEnd(output: worker.output) }
            workers.removeAll { $0 === worker }
            try add(&random)
        }
    }

    /// Waits until the queue has no work left.
    ///
    /// The `Timeout` names the remaining jobs, their holds, and the last log lines of the workers.
    func waitForEnd(_ queue: borrowing TestQueue, seed: UInt64, _ random: inout Randomness) throws {
        let isDone = """
            select (select count(*) from postrider.jobs) = (select count(*) from postrider_internal.results)
               and not exists (select from postrider_internal.ready)
                 and not exists (select from postrider_internal.scheduled)
               and not exists (select from postrider_internal.intake)
                 and not exists (select from postrider_internal.outcomes)
               and not exists (select from postrider_internal.trees where state in ('w', 'o') or is_draining)
               and not exists (select from postrider_internal.tree_deltas)
                 and not exists (select from postrider_internal.aborts)
            """
        var (moved, since) = ("", TestClock.now)
        try TestClock.wait(
            Double(Soak.count(300, reduced: 90)), for: "the end of seed \(seed): \((try? left(queue)) ?? "?")"
        ) {
            try replaceEnded(&random)
            try thawWhenLost(in: queue)
            let counts = try queue.text(Self.progress) ?? ""
            if counts != moved { (moved, since) = (counts, TestClock.now) }
            if TestClock.seconds(since: since) > Self.stall {
                throw Stall(description: "nothing moves in seed \(seed): \((try? left(queue)) ?? "?")")
            }
            return try frozen == nil && queue.connection.query(isDone).bool(0, 0)
        }
    }

    /// Nothing lasts longer than this, in seconds: a lost worker may hold the last jobs for 25 s, a refresh for 14 s.
    private static let stall = 40.0

    /// Changes whenever a job goes on. Claims that find nothing change no count.
    private static let progress = """
        select concat_ws(' ', (select count(*) from postrider_internal.results),
          (select count(*) from postrider_internal.past_attempts), (select count(*) from postrider_internal.fetched_pages),
          (select last_value from postrider.jobs_id_seq), (select sum(fence) from postrider_internal.ready),
          (select count(*) from postrider_internal.scheduled), (select count(*) from postrider_internal.outcomes),
          (select count(*) from postrider_internal.tree_deltas))
        """

    private func left(_ queue: borrowing TestQueue) throws -> String {
        let said = workers.map { "\n" + $0.output.split(separator: "\n").suffix(3).joined(separator: "\n") }.joined()
        let rows = try queue.text(
            """
            select format('ready %s, scheduled %s, intake %s, outcomes %s, trees %s, draining %s, deltas %s, aborts %s, without a result %s',
              (select array_agg(job_id) from postrider_internal.ready),
              (select array_agg(job_id) from postrider_internal.scheduled),
              (select count(*) from postrider_internal.intake),
              (select array_agg(job_id) from postrider_internal.outcomes),
              (select array_agg(job_id) from postrider_internal.trees where state in ('w', 'o')),
              (select array_agg(job_id) from postrider_internal.trees where is_draining),
              (select count(*) from postrider_internal.tree_deltas),
              (select count(*) from postrider_internal.aborts),
              (select array_agg(id) from postrider.jobs j
                where not exists (select from postrider_internal.results r where r.job_id = j.id)))
              || (select string_agg(format(E'\\n%s: %s', x, postrider.explain(x.job_id)), '')
                  from (table postrider_internal.ready limit 5) x)
              || (select string_agg(format(E'\\nworker %s', w), '') from postrider.worker_status w
                  where w.state in ('running', 'draining', 'silent'))
            """)
        return (rows ?? "") + said
    }

    /// Permits that idle workers keep. Workers without work return their permits within a second, and the leader takes
    /// the permits of lost workers. The limit is 30 s, with and without a soak.
    func keptPermits(_ queue: borrowing TestQueue) -> [String] {
        let kept =
            "select format('worker %s keeps %s permits of lane %s', worker, permits, lane) from postrider_internal.lane_permits"
        do {
            try TestClock.wait(Soak.isOn ? 30 : 6, for: "all permits to be returned") {
                try queue.rows(kept).isEmpty
            }
            return []
        } catch {
            return ((try? queue.rows(kept)) ?? []).map { $0[0] ?? "" }
        }
    }

    /// Deadlocks in the database, and statements that failed for another reason than a cut connection.
    func faults(_ queue: borrowing TestQueue) throws -> [String] {
        // The server publishes its statistics once a second.
        TestClock.sleep(milliseconds: 1200)
        let deadlocks = try queue.number("select deadlocks from pg_stat_database where datname = current_database()")
        let lines = workers.flatMap { (worker: RunningWorker) -> [Substring] in worker.output.split(separator: "\n") }
        let failed = lines.filter { $0.contains("\"event\":\"statement_failed\"") && !$0.contains("connection") }
        return (deadlocks > 0 ? ["a deadlock"] : []) + failed.map(String.init)
    }
}
