// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Runs whole fleets on a simulated clock, each from a seed. `POSTRIDER_SIM_SEEDS` sets the number of seeds per
/// scenario.
struct SimulationTests {
    static let seeds: UInt64 =
        unsafe getenv("POSTRIDER_SIM_SEEDS").flatMap { unsafe UInt64(String(cString: $0)) }
        ?? UInt64(Soak.count(600, reduced: 60))

    private func faults(_ seed: UInt64, _ make: (inout Randomness) -> Fleet.Scenario) -> [String] {
        var random = Randomness(seed: seed &* 0x1234_5678_9abc_def1)
        return Fleet(seed: seed, make(&random)).run()
    }

    private func simulate(_ count: UInt64 = seeds, make: (inout Randomness) -> Fleet.Scenario) {
        for seed in 1...max(1, count) {
            let found = faults(seed, make)
            if let first = found.first {
                Issue.record("seed \(seed): \(first) (and \(found.count - 1) more)")
                return
            }
        }
    }

    /// A scenario with all kinds of disturbances.
    private func rough(_ random: inout Randomness) -> Fleet.Scenario {
        Fleet.Scenario(
            workers: Int(random.number(1...3)), capacity: Int(random.number(1...8)), tracks: Int(random.number(1...5)),
            jobs: Int(random.number(5...60)), span: random.number(1...4) * second, hasLateCommits: true,
            hasFaults: true, failures: random.number(0...40), longestCall: random.number(1...3_000) * millisecond,
            canListen: random.chance(80))
    }

    @Test func `each job ends once and nothing leaks despite crashes and lost connections`() {
        simulate(make: rough)
    }

    @Test func `each job with a preparation ends once despite crashes and lost connections`() {
        simulate(Self.seeds / 2) { random in
            var scenario = rough(&random)
            scenario.rich = random.number(20...100)
            return scenario
        }
    }

    @Test func `after a database shortage all jobs have succeeded without repeated at-most-once calls`() {
        simulate(Self.seeds / 2) { random in
            Fleet.Scenario(
                workers: Int(random.number(1...3)), capacity: Int(random.number(1...8)),
                tracks: Int(random.number(1...5)), jobs: Int(random.number(5...60)),
                span: random.number(1...4) * second, longestCall: random.number(1...3_000) * millisecond,
                canListen: random.chance(80), shortage: random.number(1...60) * second,
                rich: random.number(0...100))
        }
    }

    /// Seed 3710: a finish failed after an earlier finish had made the worker enlist anew. Its job was called again.
    @Test(arguments: [3710 as UInt64]) func `the seed of a fixed bug runs without faults`(seed: UInt64) {
        #expect(faults(seed, rough) == [])
    }

    @Test func `a single worker starts the jobs of a track in insertion order`() {
        simulate { random in
            Fleet.Scenario(
                capacity: Int(random.number(1...16)), tracks: Int(random.number(1...4)),
                jobs: Int(random.number(20...120)), longestCall: random.number(1...40) * millisecond,
                canListen: random.chance(80))
        }
    }

    @Test func `with free slots a job starts within 270 ms, even after a late commit`() {
        simulate { random in
            Fleet.Scenario(
                workers: Int(random.number(1...3)), capacity: 100, tracks: Int(random.number(1...100)),
                jobs: Int(random.number(1...60)), span: random.number(1...8) * second, hasLateCommits: true,
                longestCall: random.number(1...200) * millisecond, canListen: random.chance(80),
                hasHiccups: false, startsWithin: 270 * millisecond)
        }
    }

    @Test func `under a backlog, a job committed late is overtaken for at most 1.35 s`() {
        simulate(Self.seeds / 8) { random in
            Fleet.Scenario(
                capacity: Int(random.number(1...8)), jobs: 400, span: 100 * millisecond, hasLateCommits: true,
                longestCall: random.number(40...160) * millisecond, hasHiccups: false,
                overtakenFor: 1_350 * millisecond)
        }
    }
}
