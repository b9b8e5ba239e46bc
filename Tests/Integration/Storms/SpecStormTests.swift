// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Random specs with templates, conditions, lists and operations while workers are killed and sessions are cut.
struct SpecStormTests {
    @Test(arguments: Soak.stormSeeds)
    func `random specs make the calls and reach the states that their model predicts while workers die`(
        seed: UInt64
    ) throws {
        let storm = try SpecStorm(seed: seed, specs: Soak.count(500, reduced: 60), kills: Soak.count(6, reduced: 2))
        try storm.run()
        let defects = try storm.defects()
        #expect(defects == [], "seed \(seed)")
    }
}

/// One round. Confined to one thread.
private final class SpecStorm {
    private struct Planted {
        let id: Int64
        let spec: String
        /// The numbers of the spec's calls.
        let calls: [Int]
        let outcome: SpecModel.Outcome
    }

    private let seed: UInt64
    private let queue: TestQueue
    private let target: TargetServer
    private let fleet: StormFleet
    private let specs: Int
    private var random: Randomness
    private var maker = SpecPlan.Maker()
    private var planted: [Planted] = []
    private var touched: Set<Int64> = []
    private var faults: [String] = []

    init(seed: UInt64, specs: Int, kills: Int) throws {
        self.seed = seed
        self.specs = specs
        random = Randomness(seed: seed)
        queue = try TestQueue()
        fleet = StormFleet(queue.database, deaths: kills)
        target = try TargetServer { request in
            // Some answers always take longer than others.
            let pause = SpecModel.number("pause" + request.path)
            let status =
                request.path.hasPrefix("/bad/")
                ? 404 : request.path.hasPrefix("/flaky/") && request.turn == 1 ? 503 : 200
            return (pause < 150 ? [.pause(milliseconds: pause)] : [])
                + TargetStep.answer(status, SpecModel.body(request.path))
        }
    }

    func run() throws {
        try queue.connection.execute(SpecPlan.operations(target: target.url))
        try fleet.start(&random)
        // Specs without interference must match their model. This holds for at least half of them.
        var other: Meddler?
        while planted.count < specs {
            try plant()
            if other == nil, planted.count * 2 > specs { other = Meddler(queue.database, seed: seed) }
            if random.chance(5) { try queue.cutWorkerSession(random.number(0...9999)) }
            try fleet.mayDie(made: planted.count, of: specs, &random)
            fleet.mayPause(&random)
        }
        if let other {
            try other.goOn(40)
            let end = other.stop()
            touched = Set(end.done.map(\.id))
            faults = end.faults
        }
        try fleet.waitForEnd(queue, seed: seed, &random)
        // Jobs that failed, were skipped or were cancelled run again and end as before.
        for plant in planted where random.chance(50) {
            do throws(PGError) {
                try queue.connection.execute("select postrider.retry(\(plant.id))")
            } catch {
                guard error.sqlState?.rawValue == "PR005" else { throw error }
            }
            if random.chance(5) { try queue.cutWorkerSession(random.number(0...9999)) }
        }
        try fleet.end(SIGKILL, &random)
        try fleet.waitForEnd(queue, seed: seed, &random)
    }

    /// Submits a random spec whose outcome the model can compute.
    private func plant() throws {
        while true {
            let plan = maker.next(&random)
            guard let outcome = try? SpecModel.outcome(of: plan) else { continue }
            let spec = plan.json(target: target.url)
            let id = try queue.number("select postrider.submit($spec$\(spec)$spec$)")
            planted.append(Planted(id: id, spec: spec, calls: plan.calls, outcome: outcome))
            return
        }
    }

    // MARK: Checks

    private struct Row {
        let state: String
        let code: String?
        let url: String?
        var members: [Int64] = []
    }

    func defects() throws -> [String] {
        var rows: [Int64: Row] = [:]
        for row in try queue.rows("select id::text, state, error_code, url from postrider.job_status") {
            rows[Int64(row[0] ?? "") ?? 0] = Row(state: row[1] ?? "", code: row[2], url: row[3])
        }
        for row in try queue.rows(
            "select parent_id::text, job_id::text from postrider_internal.members order by parent_id, position")
        {
            rows[Int64(row[0] ?? "") ?? 0]?.members.append(Int64(row[1] ?? "") ?? 0)
        }
        var defects = faults
        var expected: [String: Int] = [:]
        var isExact: [String: Bool] = [:]
        for plant in planted {
            let isTouched = isTouched(plant.id, rows)
            var found: [String] = []
            if !isTouched { check(plant.outcome, plant.id, rows, &found) }
            if !found.isEmpty { defects.append("\(plant.id): \(found) of \(plant.spec)") }
            note(plant.outcome, isTouched, &expected, &isExact)
        }
        var seen: [String: Int] = [:]
        for request in target.requests { seen[request.path, default: 0] += 1 }
        // A call that the model does not know has unexpected values, unless an interference removed its values.
        let ownTouched = Set(planted.filter { isTouched($0.id, rows) }.flatMap(\.calls))
        for path in seen.keys where expected[path] == nil && !ownTouched.contains(number(path)) {
            defects.append("called: \(path)\(try story(of: path))")
        }
        defects += expected.filter { isExact[$0.key] == true && seen[$0.key] ?? 0 < $0.value }.map {
            "not called: \($0.key)"
        }
        let unexplained = try unexplained()
        defects += unexplained
        try queue.report(
            .trees, attack: "random specs with templates, conditions and lists; SIGKILL, cut sessions; cancel, retry",
            calls: target.requests.count, unexplained: unexplained.count)
        return try defects + fleet.faults(queue)
    }

    /// The jobs and attempts of the spec that a call belongs to, in order, for the message of a failed test.
    private func story(of path: String) throws -> String {
        guard let plant = planted.first(where: { $0.calls.contains(number(path)) }) else { return "" }
        let jobs = try queue.rows(
            """
            select s.id::text, s.state, s.url, s.error_code
              from postrider_internal.trees t join postrider.job_status s on s.parent_id = t.job_id
                where t.root_id = \(plant.id) order by s.id
            """)
        let tries = try queue.rows(
            """
            select a.started_at::text, a.job_id::text, a.attempt::text, a.worker, a.status_code::text, a.error_code
              from postrider_internal.trees t join postrider_internal.members m on m.parent_id = t.job_id
                join postrider.attempts a on a.job_id = m.job_id
             where t.root_id = \(plant.id) order by a.started_at
            """)
        return " of \(plant.id), \(plant.spec), whose jobs are \(jobs) and were tried so: \(tries)"
    }

    /// The number of the call in a path, its second part: `/good/17?q=5` is of call 17.
    private func number(_ path: String) -> Int {
        Int(path.split { $0 == "/" || $0 == "?" }.dropFirst().first ?? "") ?? 0
    }

    private func isTouched(_ id: Int64, _ rows: [Int64: Row]) -> Bool {
        touched.contains(id) || (rows[id]?.members ?? []).contains { isTouched($0, rows) }
    }

    private func check(_ outcome: SpecModel.Outcome, _ id: Int64, _ rows: [Int64: Row], _ found: inout [String]) {
        guard let row = rows[id] else { return found.append("job \(id) is missing") }
        if outcome.isCut {
            if !["succeeded", "failed", "cancelled", "skipped"].contains(row.state) {
                found.append("job \(id) has ended as \(row.state)")
            }
            return
        }
        if row.state != outcome.state { found.append("job \(id) is \(row.state), not \(outcome.state)") }
        if outcome.isWithoutValue != (row.code == "template") { found.append("job \(id) has \(row.code ?? "no code")") }
        if let path = outcome.path, row.url != target.url + path {
            found.append("job \(id) has called \(row.url ?? "")")
        }
        guard outcome.members.count == row.members.count || outcome.isWithoutValue else {
            return found.append("job \(id) has \(row.members.count) members, not \(outcome.members.count)")
        }
        for (member, id) in zip(outcome.members, row.members) { check(member, id, rows, &found) }
    }

    private func note(
        _ outcome: SpecModel.Outcome, _ isTouched: Bool, _ expected: inout [String: Int],
        _ isExact: inout [String: Bool]
    ) {
        if let path = outcome.path {
            expected[path, default: 0] += path.hasPrefix("/flaky/") ? 0 : 1
            isExact[path] = isExact[path] ?? true && !isTouched && !outcome.isCut
        }
        for member in outcome.members { note(member, isTouched, &expected, &isExact) }
    }

    /// Calls without a row in the attempts, by their number. A repeated call may have other values than before.
    private func unexplained() throws -> [String] {
        var attempts: [Int: Int] = [:]
        for row in try queue.rows(
            "select j.url, count(*)::text from postrider.attempts a join postrider.jobs j on j.id = a.job_id group by j.url"
        ) {
            let path = (row[0] ?? "").dropFirst(target.url.utf8.count)
            attempts[number(String(path)), default: 0] += Int(row[1] ?? "") ?? 0
        }
        let seen = Dictionary(grouping: target.requests) { number($0.path) }
        return seen.filter { $0.value.count > attempts[$0.key] ?? 0 }.map {
            "\($0.value.map(\.path)): \($0.value.count) calls, \(attempts[$0.key] ?? 0) attempts"
        }
    }
}
