// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Runs whole fleets on a simulated clock, each from a seed. `POSTRIDER_SIM_SEEDS` sets the number of seeds per
/// scenario.
///
/// `POSTRIDER_SIM_TRACES` names a file that gets a line with the scenario, the seed and the hash of each run. Compare
/// such files before and after a change that must not change a decision (see `Trace`).
struct SimulationTests {
    static let seeds: UInt64 =
        unsafe getenv("POSTRIDER_SIM_SEEDS").flatMap { unsafe UInt64(String(cString: $0)) }
        ?? UInt64(Soak.count(600, reduced: 60))
    static let traces = unsafe getenv("POSTRIDER_SIM_TRACES").map { unsafe String(cString: $0) }

    private func simulate(_ scenario: FleetScenario, _ count: UInt64 = seeds) {
        var lines = ""
        var report = AttackReport(.final, attack: "simulated fleets: crashes, lost connections, pauses, shortages")
        report.rounds = Int(max(1, count))
        for seed in 1...max(1, count) {
            let fleet = scenario.run(seed: seed)
            report.jobs += fleet.queue.jobs.count
            report.calls += fleet.queue.jobs.values.reduce(0) { $0 + $1.sends }
            report.lost += fleet.queue.jobs.values.count { $0.committedAt != nil && $0.final == nil }
            if Self.traces != nil { lines += "\(scenario) \(seed) \(String(fleet.trace.hash, radix: 16))\n" }
            if let first = fleet.queue.faults.first {
                Issue.record("seed \(seed): \(first) (and \(fleet.queue.faults.count - 1) more)")
                break
            }
        }
        report.write()
        guard let path = Self.traces, let file = unsafe fopen(path, "a") else { return }
        _ = unsafe fputs(lines, file)
        unsafe fclose(file)
    }

    @Test func `each job ends once and nothing leaks despite crashes and lost connections`() {
        simulate(.rough)
    }

    @Test func `each job with a preparation ends once despite crashes and lost connections`() {
        simulate(.rich, Self.seeds / 2)
    }

    @Test func `after a database shortage all jobs have succeeded without repeated at-most-once calls`() {
        simulate(.shortage, Self.seeds / 2)
    }

    /// Seed 3710: a finish failed after an earlier finish had made the worker enlist anew. Its job was called again.
    @Test(arguments: [3710 as UInt64]) func `the seed of a fixed bug runs without faults`(seed: UInt64) {
        #expect(FleetScenario.rough.run(seed: seed).queue.faults == [])
    }

    @Test func `a single worker starts the jobs of a track in insertion order`() {
        simulate(.ordered)
    }

    @Test func `with free slots a job starts within 60 ms after a notification, otherwise within 270 ms`() {
        simulate(.prompt)
    }

    @Test func `under a backlog, a job committed late is overtaken for at most 1.35 s`() {
        simulate(.overtaken, Self.seeds / 8)
    }

    @Test func `short surveys find jobs committed late among thousands of dead rows`() {
        simulate(.pinned, max(1, Self.seeds / 60))
    }

    @Test func `no claim skips a waiting row that a survey has shown`() {
        simulate(.dense, Self.seeds / 8)
    }
}
