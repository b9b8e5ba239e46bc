// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Random trees while workers are killed, sessions are cut, and users cancel, retry and join.
struct TreeStormTests {
    @Test(arguments: Soak.stormSeeds)
    func `random trees end as planned and start steps in order while workers and sessions die`(seed: UInt64) throws {
        let storm = try Storm(seed: seed, trees: Soak.count(500, reduced: 60), kills: Soak.count(6, reduced: 2))
        try storm.run()
        let defects = try storm.defects()
        #expect(defects == [], "seed \(seed)")
    }
}

/// One round. Confined to one thread.
private final class Storm {
    private let seed: UInt64
    private let queue: TestQueue
    private let target: TargetServer
    private var random: Randomness
    private var plans: [TreePlan] = []
    private var disturbed: Set<Int64> = []
    /// Trees with a job that a user let run again.
    private var retried: Set<Int64> = []
    private var joined: [Int64: [TreePlan]] = [:]
    private let fleet: StormFleet
    private var faults: [String] = []
    private let trees: Int
    private var calls = 0

    init(seed: UInt64, trees: Int, kills: Int) throws {
        self.seed = seed
        self.trees = trees
        random = Randomness(seed: seed)
        queue = try TestQueue()
        fleet = StormFleet(queue.database, deaths: kills)
        // The target's paths are `/good/MS/N` and `/bad/MS/N`.
        target = try TargetServer { request in
            let parts = request.path.split(separator: "/")
            let wait = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            return [.pause(milliseconds: wait)] + TargetStep.answer(parts.first == "good" ? 200 : 404)
        }
    }

    func run() throws {
        try fleet.start(&random)
        // Trees without a retry must match their plan exactly. This holds for half of the trees.
        var other: Meddler?
        while plans.count < trees {
            try plant()
            if other == nil, plans.count * 2 > trees { other = Meddler(queue.database, seed: seed) }
            switch random.number(0...99) {
            case 0...9: try cancel()
            case 10...24: try join()
            case 25...28: try queue.cutWorkerSession(random.number(0...9999))
            case 29...43: if other != nil { try retry() }
            default: break
            }
            try fleet.mayDie(made: plans.count, of: trees, &random)
            fleet.mayPause(&random)
        }
        for _ in 0..<10 {
            TestClock.sleep(milliseconds: Int(random.number(5...100)))
            try cancel()
            try join()
            try retry()
            try queue.cutWorkerSession(random.number(0...9999))
        }
        if let other { note(other.stop()) }
        try fleet.waitForEnd(queue, seed: seed, &random)
    }

    /// The ids of a tree and of all members that joined it.
    private func ids(of plan: TreePlan) -> [Int64] {
        (plan.all + plan.all.flatMap { joined[$0.id, default: []] }).map(\.id)
    }

    private func note(_ other: (done: [(deed: Meddler.Deed, id: Int64)], faults: [String])) {
        faults = other.faults
        let touched = Set(other.done.map(\.id))
        let rerun = Set(other.done.filter { $0.deed == .retry }.map(\.id))
        for plan in plans {
            let ids = ids(of: plan)
            if !touched.isDisjoint(with: ids) { disturbed.insert(plan.id) }
            if !rerun.isDisjoint(with: ids) { retried.insert(plan.id) }
        }
    }

    private func plant() throws {
        var budget = 60
        let target = target.url
        var calls = calls
        var pauses = random
        var plan = TreePlan.random(&random, depth: 4, budget: &budget) { isGood in
            calls += 1
            let pause = pauses.chance(20) ? pauses.number(5...150) : 0
            return "\(target)/\(isGood ? "good" : "bad")/\(pause)/\(calls)"
        }
        self.calls = calls
        try plan.insert(into: queue)
        plans.append(plan)
    }

    /// A recent tree, because most others have ended, and one of its jobs.
    private func pick() -> (tree: TreePlan, job: TreePlan)? {
        guard !plans.isEmpty else { return nil }
        let from = max(0, plans.count - 20)
        let tree = plans[Int(random.number(UInt64(from)...UInt64(plans.count - 1)))]
        let all = tree.all
        disturbed.insert(tree.id)
        return (tree, all[Int(random.number(0...UInt64(all.count - 1)))])
    }

    private func cancel() throws {
        guard let (_, job) = pick() else { return }
        try queue.connection.execute("select postrider.cancel(\(job.id))")
    }

    /// Retries a whole tree or a part of it, if that has ended.
    private func retry() throws {
        guard let (tree, job) = pick() else { return }
        do throws(PGError) {
            try queue.connection.execute("select postrider.retry(\(job.id))")
            retried.insert(tree.id)
        } catch {
            guard error.sqlState?.rawValue == "PR005" else { throw error }
        }
    }

    private func join() throws {
        guard let (_, tree) = pick(), tree.kind != .request else { return }
        calls += 1
        var member = TreePlan.request("\(target.url)/good/0/\(calls)")
        do throws(PGError) {
            let made = try queue.connection.query(
                "insert into postrider.jobs (parent_id, url) values (\(tree.id), '\(member.url)') returning id")
            member.id = made.int64(0, 0)
            joined[tree.id, default: []].append(member)
        } catch {
            guard error.sqlState?.rawValue == "PR005" else { throw error }
        }
    }

    /// The defects after the end.
    func defects() throws -> [String] {
        var defects = faults
        var states: [Int64: String] = [:]
        for row in try queue.rows("select id::text, state from postrider.job_status") {
            states[Int64(row[0] ?? "") ?? 0] = row[1]
        }
        var requests: [String: [TargetRequest]] = [:]
        for request in target.requests { requests[target.url + request.path, default: []].append(request) }
        for plan in plans {
            defects +=
                TreeCheck(
                    plan, states: states, joined: joined, isDisturbed: disturbed.contains(plan.id),
                    isRetried: retried.contains(plan.id)
                ).defects
            if !retried.contains(plan.id) {
                defects += TreeCheck.earlySteps(plan, states: states, joined: joined, requests)
            }
        }
        let unexplained = try queue.unexplainedCalls(target)
        defects += unexplained
        try queue.report(
            .trees, attack: "random trees; SIGKILL, cut sessions; cancel, retry, join", calls: target.requests.count,
            unexplained: unexplained.count)
        let again = Set(plans.filter { retried.contains($0.id) }.flatMap(ids))
        defects += try queue.rows(Self.repeated).filter { !again.contains(Int64($0[0] ?? "") ?? 0) }.map {
            "job \($0[0] ?? ""): a call more, and no worker died: \($0[1] ?? "")"
        }
        defects += try queue.rows(Self.miscounted).map { "tree " + $0.map { $0 ?? "null" }.joined(separator: " ") }
        return try defects + fleet.faults(queue)
    }

    private static let repeated = """
        select a.job_id::text, string_agg(coalesce(a.error_code, 'none'), ', ' order by a.attempt)
        from (select job_id, attempt, error_code, max(attempt) over (partition by job_id) as top
              from postrider.attempts) a
        group by a.job_id having bool_or(a.error_code is distinct from 'lost_worker' and a.attempt < a.top)
        """

    private static let miscounted = """
        select t.job_id::text, t.kind::text, t.state::text,
               format('has %s %s %s %s %s', t.children, t.released, t.finished,
               t.failed, t.succeeded), format('should have %s %s %s %s %s', c.children, c.released, c.finished, c.failed, c.succeeded)
        from postrider_internal.trees t
        cross join lateral (
          select count(*) as children, count(*) filter (where not m.is_waiting) as released,
                 count(r.job_id) as finished,
                 count(*) filter (where r.state in ('f', 'u', 'e', 'c')) as failed,
                 count(*) filter (where r.state = 's') as succeeded
          from postrider_internal.members m left join postrider_internal.results r on r.job_id = m.job_id
            where m.parent_id = t.job_id) c
        where (t.children, t.released, t.finished, t.succeeded) is distinct
          from (c.children, c.released, c.finished, c.succeeded)
           or t.failed <> c.failed
        """
}
