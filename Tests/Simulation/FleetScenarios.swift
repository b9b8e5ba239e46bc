// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The kinds of runs. A seed chooses the details of a run.
enum FleetScenario: String, CaseIterable {
    /// All kinds of disturbances.
    case rough
    /// The same, with jobs that need a preparation.
    case rich
    /// The database refuses all results for a while.
    case shortage
    /// One worker, without disturbances.
    case ordered
    /// More slots than jobs, and late commits.
    case prompt
    /// A backlog, and late commits.
    case overtaken
    /// Short calls and late commits. Claims follow each other so closely that surveys return while a claim is under way.
    case dense
    /// A transaction stays open and keeps all dead rows. Some commits are many seconds late.
    case pinned

    /// Runs a fleet to its end.
    func run(seed: UInt64) -> Fleet {
        var random = Randomness(seed: seed &* 0x1234_5678_9abc_def1)
        let fleet = Fleet(seed: seed, settings(&random))
        fleet.run()
        return fleet
    }

    private func settings(_ random: inout Randomness) -> Fleet.Scenario {
        switch self {
        case .rough: return rough(&random)
        case .rich:
            var scenario = rough(&random)
            scenario.rich = random.number(20...100)
            return scenario
        case .shortage:
            return Fleet.Scenario(
                workers: Int(random.number(1...3)), capacity: Int(random.number(1...8)),
                tracks: Int(random.number(1...5)), jobs: Int(random.number(5...60)),
                span: random.number(1...4) * second, longestCall: random.number(1...3_000) * millisecond,
                canListen: random.chance(80), shortage: random.number(1...60) * second,
                rich: random.number(0...100))
        case .ordered:
            return Fleet.Scenario(
                capacity: Int(random.number(1...16)), tracks: Int(random.number(1...4)),
                jobs: Int(random.number(20...120)), longestCall: random.number(1...40) * millisecond,
                canListen: random.chance(80))
        case .prompt:
            return Fleet.Scenario(
                workers: Int(random.number(1...3)), capacity: 100, tracks: Int(random.number(1...100)),
                jobs: Int(random.number(1...60)), span: random.number(1...8) * second, hasLateCommits: true,
                longestCall: random.number(1...200) * millisecond, canListen: random.chance(80),
                hasHiccups: false, hasBursts: true, startsWithin: 270 * millisecond,
                announcedStartsWithin: 60 * millisecond)
        case .overtaken:
            return Fleet.Scenario(
                capacity: Int(random.number(1...8)), jobs: 400, span: 100 * millisecond, hasLateCommits: true,
                longestCall: random.number(40...160) * millisecond, hasHiccups: false,
                overtakenFor: 1_350 * millisecond)
        case .dense:
            return Fleet.Scenario(
                workers: Int(random.number(1...2)), capacity: Int(random.number(4...16)),
                tracks: Int(random.number(1...3)), jobs: 1_000, span: 2 * second, hasLateCommits: true,
                longestCall: random.number(1...20) * millisecond, canListen: random.chance(80), hasHiccups: false)
        case .pinned:
            return Fleet.Scenario(
                workers: Int(random.number(1...2)), capacity: Int(random.number(2...16)),
                tracks: Int(random.number(1...3)), jobs: 6_000, span: 60 * second, hasLateCommits: true,
                latestCommit: 20 * second, longestCall: random.number(1...20) * millisecond,
                canListen: random.chance(80), hasHiccups: false, rowCost: 10_000, mostRowsRead: 3_000,
                overtakenFor: 30 * second)
        }
    }

    private func rough(_ random: inout Randomness) -> Fleet.Scenario {
        Fleet.Scenario(
            workers: Int(random.number(1...3)), capacity: Int(random.number(1...8)), tracks: Int(random.number(1...5)),
            jobs: Int(random.number(5...60)), span: random.number(1...4) * second, hasLateCommits: true,
            hasFaults: true, failures: random.number(0...40), longestCall: random.number(1...3_000) * millisecond,
            canListen: random.chance(80))
    }
}
