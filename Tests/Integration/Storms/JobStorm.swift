// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport

/// One round of `JobStormTests`. Confined to one thread.
final class JobStorm {
    private let queue: TestQueue
    /// The session of a client that waits long between INSERT and COMMIT.
    private let late: PGConnection
    private let target: StormTarget
    private let folder: TestFolder
    private let seed: UInt64
    private var random: Randomness
    private var jobs: [StormJob] = []
    private var open: [StormJob] = []
    private var undone: [StormJob] = []
    private let fleet: StormFleet
    private var tokens = 0
    private var hasFrozen = false
    private let wanted: Int
    private static let attack =
        "SIGKILL, SIGTERM, a freeze beyond the lease, cut sessions, late commits; cancel, retry, reschedule, pauses"
    private var defects: [String] = []

    init(seed: UInt64, jobs: Int, deaths: Int) throws {
        wanted = jobs
        self.seed = seed
        random = Randomness(seed: seed)
        queue = try TestQueue()
        late = try PGConnection(queue.database)
        target = try StormTarget()
        folder = try TestFolder()
        try folder.write("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
        fleet = StormFleet(queue.database, deaths: deaths, ["--drain", "1s", "--secret-key-file", folder.path("key")])
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id, allow_private_network)
            values ('c', 'oauth2_client_credentials', '\(target.server.url)/token', 'app', true);
            select postrider.log_in('c', '{"client_secret": "s"}');
            insert into postrider.services (name, base_url, credential)
            values ('api', '\(target.server.url)', null), ('locked', '\(target.server.url)', 'c');
            insert into postrider.services (name, base_url, stub)
            values ('stubs', 'http://stubs.invalid', '[{"body": {"a": 1}, "delay": "20 ms"}]');
            insert into postrider.lanes (name, max_in_flight) values ('narrow', 2)
            """)
    }

    func run() throws {
        try fleet.start(&random)
        let other = Meddler(queue.database, seed: seed)
        while jobs.count < wanted {
            for _ in 0..<random.number(1...12) { try insert() }
            try disturb()
            // SIGKILL ends the worker at once; SIGTERM lets it finish its calls.
            try fleet.mayDie(made: jobs.count, of: wanted, &random) { $0.chance(60) ? SIGKILL : SIGTERM }
            fleet.mayPause(&random)
            if random.chance(5) { try checkKeys() }
            if !hasFrozen, jobs.count * 5 > wanted * 2 { try freeze() }
            try fleet.thawWhenLost(in: queue)
        }
        for _ in 0..<10 {
            TestClock.sleep(milliseconds: Int(random.number(5...100)))
            try disturb()
        }
        try endLate(commits: true)
        note(other.stop())
        try resume()
        try fleet.waitForEnd(queue, seed: seed, &random)
    }

    // MARK: Actions

    /// Stops a worker for so long that it loses its leases. Its calls are answered meanwhile.
    private func freeze() throws {
        try resume()
        var late: [Int64] = []
        for _ in 0..<12 {
            var job = StormJob(
                number: jobs.count + open.count + undone.count, target: target.server.url, kind: .late, &random)
            job.key = nil
            job.id = try queue.connection.query(job.insert).int64(0, 0)
            jobs.append(job)
            late.append(job.id)
        }
        try TestClock.wait(20, for: "a worker to be frozen") { try fleet.freeze(late, in: queue) }
        hasFrozen = true
    }

    private func resume() throws {
        try queue.connection.execute(
            "select postrider.resume_queue('default'), postrider.resume_lane('narrow'), postrider.resume_lane('plain')")
    }

    private func insert() throws {
        let isLate = random.chance(10)
        var job = StormJob(number: jobs.count + open.count + undone.count, target: target.server.url, &random)
        if isLate {
            // No other INSERT may wait for this job's key.
            job.key = nil
            if open.isEmpty { try late.execute("begin") }
            job.id = try late.query(job.insert).int64(0, 0)
            open.append(job)
            if random.chance(20) { try endLate(commits: random.chance(70)) }
            return
        }
        do throws(PGError) {
            let made = try queue.connection.query(job.insert)
            guard made.rowCount == 1 else { return }
            job.id = made.int64(0, 0)
            jobs.append(job)
        } catch {
            guard job.key != nil, error.sqlState?.rawValue == "23505" else { throw error }
        }
    }

    private func endLate(commits: Bool) throws {
        guard !open.isEmpty else { return }
        try late.execute(commits ? "commit" : "rollback")
        if commits { jobs += open } else { undone += open }
        open = []
    }

    private func disturb() throws {
        guard !jobs.isEmpty else { return }
        switch random.number(0...99) {
        case 0...14:
            try onOne {
                $0.wasCancelled = true
            } sql: {
                "cancel(\($0.id))"
            }
        case 15...39:
            let newKey = random.chance(30)
            try onOne {
                $0.retries += 1
            } sql: {
                "retry(\($0.id), \(newKey))"
            }
        case 40...54:
            let wait = random.number(0...300)
            let priority = random.chance(50) ? "\(random.number(0...3))" : "null"
            try onOne { _ in
            } sql: {
                "reschedule(\($0.id), now() + interval '\(wait) ms', \(priority))"
            }
        case 55...58: try pauseLane()
        case 59...60: try queue.connection.execute("select postrider.pause_queue('default')")
        case 61...66:
            try queue.connection.execute("select postrider.resume_queue('default'), postrider.resume_lane('narrow')")
        case 67...68:
            try queue.connection.execute("select postrider.cancel_all(tag => 't1')")
            for index in jobs.indices where jobs[index].tag == "t1" { jobs[index].wasCancelled = true }
        case 69...70:
            // Counts as one retry of each job. Each job has at most one.
            try queue.connection.execute("select postrider.retry_failed(error_code => 'timeout')")
            for index in jobs.indices where jobs[index].kind == .hang { jobs[index].retries += 1 }
        case 71...73: try queue.cutWorkerSession(random.number(0...9999))
        case 74...77: try endToken()
        default: break
        }
    }

    /// Applies an action to a recent job, because most older jobs have ended. The job's state may forbid the action.
    private func onOne(_ note: (inout StormJob) -> Void, sql: (StormJob) -> String) throws {
        let index = Int(random.number(UInt64(max(0, jobs.count - 60))...UInt64(jobs.count - 1)))
        do throws(PGError) {
            try queue.connection.execute("select postrider.\(sql(jobs[index]))")
            note(&jobs[index])
        } catch {
            let state = error.sqlState?.rawValue ?? ""
            guard ["PR001", "PR005", "23505"].contains(state) else { throw error }
        }
    }

    private func pauseLane() throws {
        let lane = random.chance(50) ? "narrow" : "plain"
        try queue.connection.execute(
            "select postrider.pause_lane('\(lane)', clock_timestamp() + interval '\(random.number(20...200)) ms')")
    }

    /// Ends the current token, at most three times.
    ///
    /// The token must have been accepted, and no call may have been refused since. A server that refuses a new token,
    /// or ends its tokens every few seconds, rightly fails jobs.
    private func endToken() throws {
        guard tokens < 3 else { return }
        let isWell = """
            select exists (select from postrider_internal.refreshes
                           where accepted_by <> '{}' and refreshed_at is not null)
               and not exists (select from postrider_internal.past_attempts t where t.error_code = 'token_expired'
                                and not exists (select from postrider_internal.results r where r.job_id = t.job_id))
            """
        guard try queue.connection.query(isWell).bool(0, 0) else { return }
        if target.endToken() { tokens += 1 }
    }

    // MARK: Checks

    private func note(_ other: (done: [(deed: Meddler.Deed, id: Int64)], faults: [String])) {
        defects += other.faults
        for (deed, id) in other.done {
            guard let index = jobs.firstIndex(where: { $0.id == id }) else { continue }
            if deed == .cancel { jobs[index].wasCancelled = true }
            if deed == .retry { jobs[index].retries += 1 }
        }
    }

    private func checkKeys() throws {
        defects += try queue.rows(
            """
            select j.dedupe_key, string_agg(j.id::text, ' ') from postrider.jobs j
            where j.dedupe_key is not null
              and not exists (select from postrider_internal.results r where r.job_id = j.id)
              -- Cancelled, expired or skipped: that shows, and frees the key, before it is a result.
              and not exists (select from postrider_internal.outcomes o
                              where o.job_id = j.id and o.state in ('c', 'e', 'k'))
            group by j.dedupe_key having count(*) > 1
            """
        ).map { "key \($0[0] ?? "") is held by jobs \($0[1] ?? "")" }
    }

    /// The defects after the end of all jobs.
    func defectsFound() throws -> [String] {
        try checkKeys()
        var states: [Int64: [String?]] = [:]
        for row in try queue.rows(
            "select id::text, state, status_code::text, error_code, error, attempt::text, from_cache::text from postrider.job_status"
        ) {
            states[Int64(row[0] ?? "") ?? 0] = row
        }
        var calls: [String: [TargetRequest]] = [:]
        for request in target.server.requests { calls[request.path, default: []].append(request) }
        for job in jobs {
            guard let row = states[job.id] else {
                defects.append("job \(job.id) is not in job_status")
                continue
            }
            if let defect = job.defect(
                state: row[1] ?? "", status: row[2], code: row[3], isFromCache: row[6] == "true",
                calls: calls[job.path] ?? [])
            {
                defects.append("\(job): \(defect); it is \(row.map { $0 ?? "null" })")
            }
        }
        defects += undone.filter { calls[$0.path] != nil && $0.kind != .cached }.map {
            "\($0) was never committed and has been called"
        }
        // If a reused connection ends without an answer, the attempt goes on and the request is sent once more.
        let unexplained = try queue.unexplainedCalls(target.server).filter {
            !$0.hasPrefix("/torn/") && !$0.hasPrefix("/token")
        }
        defects += unexplained
        for promise in [AttackReport.Promise.final, .fenced] {
            try queue.report(
                promise, attack: Self.attack, calls: target.server.requests.count, unexplained: unexplained.count)
        }
        let once = Set(jobs.filter(\.isOnce).map(\.path))
        try queue.report(
            .once, attack: Self.attack, calls: target.server.requests.count { once.contains($0.path) },
            where: "j.delivery = 'at_most_once'")
        for (sql, words) in JobStormRules.queries {
            defects += try queue.rows(sql).map { words + " \($0.map { $0 ?? "null" })" }
        }
        for key in StormJob.keys {
            try queue.connection.execute(
                "insert into postrider.jobs (url, dedupe_key, run_at) values ('http://h/', '\(key)', now() + interval '1 day')"
            )
        }
        return try defects + fleet.keptPermits(queue) + fleet.faults(queue)
    }
}
