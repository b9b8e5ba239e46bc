// SPDX-License-Identifier: Apache-2.0

extension SpecPlan {
    /// Makes random plans. Each call has its own number. One seed always makes the same plans.
    public struct Maker {
        private var calls = 0
        private var names = 0
        private var budget = 0

        /// Starts with call 1.
        public init() {}

        /// A chain of up to six steps, with at most three levels below it and about thirty jobs.
        public mutating func next(_ random: inout Randomness) -> SpecPlan {
            budget = 30
            return tree(&random, sees: Sight(), depth: 3, isChain: true)
        }

        /// The names that a template at one place can use.
        private struct Sight {
            var calls: [[String]] = []
            /// Batches of calls and their numbers of members.
            var batches: [(name: String, count: Int)] = []
            var steps: [String] = []
            var hasItem = false
            var hasPrevious = false
        }

        private mutating func tree(_ random: inout Randomness, sees: Sight, depth: Int, isChain: Bool? = nil)
            -> SpecPlan
        {
            if isChain ?? random.chance(40) {
                var sight = sees
                var steps: [SpecPlan] = []
                for _ in 0..<random.number(1...6) where steps.isEmpty || budget > 0 {
                    var step = node(&random, sees: sight, depth: depth - 1)
                    if random.chance(25) { step.condition = condition(&random, sight) }
                    if random.chance(70) { note(&step, &sight) }
                    sight.hasPrevious = true
                    steps.append(step)
                }
                return SpecPlan(.chain(steps))
            }
            var batch: SpecPlan
            if random.chance(35) {
                var inner = sees
                inner.hasItem = true
                let member = node(&random, sees: inner, depth: depth - 1)
                batch = SpecPlan(.each(list(&random, sees), member))
            } else {
                var members: [SpecPlan] = []
                for _ in 0..<random.number(1...5) where members.isEmpty || budget > 0 {
                    var member = node(&random, sees: sees, depth: depth - 1)
                    if random.chance(50) { member.name = newName() }
                    members.append(member)
                }
                batch = SpecPlan(.batch(members))
            }
            batch.mode = ["all", "all", "settle", "settle", "first"][Int(random.number(0...4))]
            if random.chance(30) { batch.maxParallel = Int(random.number(1...3)) }
            return batch
        }

        private mutating func node(_ random: inout Randomness, sees: Sight, depth: Int) -> SpecPlan {
            if depth > 0, budget > 3, random.chance(35) { return tree(&random, sees: sees, depth: depth) }
            budget -= 1
            calls += 1
            let draw = random.number(0...99)
            let answer = draw < 84 ? "good" : draw < 90 ? "bad" : "flaky"
            let path = (0..<random.number(0...2)).compactMap { _ in source(&random, sees, numbers: false) }
            let query = random.chance(30) ? source(&random, sees, numbers: false) : nil
            return SpecPlan(.call(answer, number: calls, path: path, query: query))
        }

        private mutating func newName() -> String {
            names += 1
            return "m\(names)"
        }

        /// Names a step, so that later steps can refer to it.
        private mutating func note(_ step: inout SpecPlan, _ sight: inout Sight) {
            let name = newName()
            step.name = name
            sight.steps.append(name)
            switch step.kind {
            case .call: sight.calls.append([name])
            case .chain(let members), .batch(let members):
                for case (.call, let inner?) in members.map({ ($0.kind, $0.name) }) {
                    sight.calls.append([name, inner])
                }
                if case .batch = step.kind { sight.batches.append((name, members.count)) }
            // The list decides the number of members. A template refers to result 0 or 1, which may be missing.
            case .each: sight.batches.append((name, 2))
            }
        }

        private func source(_ random: inout Randomness, _ sees: Sight, numbers: Bool) -> Source? {
            let field: Field = numbers || random.chance(60) ? .n : .s
            switch random.number(0...9) {
            case 0...1 where sees.hasPrevious: return .previous(field)
            case 2...3 where !sees.batches.isEmpty:
                let batch = sees.batches[Int(random.number(0...UInt64(sees.batches.count - 1)))]
                return .result(batch.name, index: Int(random.number(0...UInt64(batch.count - 1))))
            case 4...6 where sees.hasItem: return .item
            default:
                guard !sees.calls.isEmpty else { return sees.hasItem ? .item : nil }
                return .member(sees.calls[Int(random.number(0...UInt64(sees.calls.count - 1)))], field)
            }
        }

        private func condition(_ random: inout Randomness, _ sees: Sight) -> Condition? {
            if random.chance(30), !sees.steps.isEmpty {
                return .isThere(sees.steps[Int(random.number(0...UInt64(sees.steps.count - 1)))])
            }
            return source(&random, sees, numbers: true).map(Condition.isEven)
        }

        private func list(_ random: inout Randomness, _ sees: Sight) -> List {
            let named = sees.calls.filter { $0.count == 1 }
            if !named.isEmpty, random.chance(60) {
                return .answer(named[Int(random.number(0...UInt64(named.count - 1)))][0])
            }
            let numbers = (0..<random.number(1...4)).map { _ in Int(random.number(0...99)) }
            return .numbers(numbers, then: random.chance(40) ? source(&random, sees, numbers: true) : nil)
        }
    }
}
