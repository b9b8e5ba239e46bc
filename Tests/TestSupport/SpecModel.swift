// SPDX-License-Identifier: Apache-2.0

/// Computes how a `SpecPlan` ends without outside changes, by the rules of docs/trees.md and docs/templates.md. Pure.
public struct SpecModel: Sendable {
    /// The rules leave the plan's outcome open.
    ///
    /// A value depends on a member that may have been cancelled, or on steps inside a batch.
    public struct LeftOpen: Error {}

    /// The outcome of one job.
    public struct Outcome: Sendable {
        /// `succeeded`, `failed` or `skipped`.
        public var state: String
        /// Whether the job failed before any call, because a value was missing.
        public var isWithoutValue = false
        /// The path and query of a call.
        public var path: String?
        /// The members of a batch or chain, in order.
        public var members: [Self] = []
        /// Whether the job's batch may have ended before the job.
        public var isCut = false
        /// Whether it is a batch or chain.
        public var isTree = false
        fileprivate var name: String?
        fileprivate var isChain = false
    }

    /// A value that does not exist, for example in the answer to a skipped step.
    private struct Missing: Error {}

    /// The earlier steps of one chain, or the element of an `each`.
    private struct Level {
        var steps: [Outcome] = []
        var item: Int?
    }

    /// The outcome of a whole plan.
    public static func outcome(of plan: SpecPlan) throws -> Outcome { try Self().outcome(plan, []) }

    /// The number in the target's answer to a path: its FNV-1a hash modulo 1000.
    public static func number(_ path: String) -> Int {
        Int(path.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 } % 1000)
    }

    /// The body of the target's answer to a path.
    public static func body(_ path: String) -> String {
        let number = number(path)
        return
            #"{"n": \#(number), "s": "\#(text(number))", "list": [\#(list(number).map { "\($0)" }.joined(separator: ", "))]}"#
    }

    private static func text(_ number: Int) -> String { "v\(number) é/%?&{{x}}" }
    private static func list(_ number: Int) -> [Int] { (0..<(number % 4)).map { number + $0 } }

    // MARK: Jobs

    private func outcome(_ plan: SpecPlan, _ levels: [Level]) throws -> Outcome {
        var outcome: Outcome
        if let condition = plan.condition, try !holds(condition, levels) {
            outcome = skipped(plan)
        } else {
            do { outcome = try run(plan, levels) } catch is Missing {
                outcome = Outcome(state: "failed", isWithoutValue: true, isTree: skipped(plan).isTree)
            }
        }
        outcome.name = plan.name
        return outcome
    }

    private func skipped(_ plan: SpecPlan) -> Outcome {
        switch plan.kind {
        case .call: Outcome(state: "skipped")
        case .chain(let inner), .batch(let inner):
            Outcome(state: "skipped", members: inner.map(skipped), isTree: true)
        case .each: Outcome(state: "skipped", isTree: true)
        }
    }

    private func run(_ plan: SpecPlan, _ levels: [Level]) throws -> Outcome {
        switch plan.kind {
        case .call(let answer, let number, let path, let query):
            let end = try path.map { try "/" + encoded($0, levels) }.joined()
            let tail = try query.map { try "?q=" + encoded($0, levels) } ?? ""
            return Outcome(state: answer == "bad" ? "failed" : "succeeded", path: "/\(answer)/\(number)\(end)\(tail)")
        case .chain(let steps):
            var level = Level()
            var state = "succeeded"
            for step in steps {
                let next = state == "failed" ? skipped(step) : try outcome(step, levels + [level])
                if next.state == "failed" { state = "failed" }
                level.steps.append(next)
            }
            return Outcome(state: state, members: level.steps, isTree: true, isChain: true)
        case .batch(let members):
            return try batch(plan.mode, members.map { try outcome($0, levels) })
        case .each(let list, let member):
            return try batch(plan.mode, elements(list, levels).map { try outcome(member, levels + [Level(item: $0)]) })
        }
    }

    private func batch(_ mode: String, _ members: [Outcome]) throws -> Outcome {
        let failed = members.count { $0.state == "failed" }
        let isGood =
            switch mode {
            case "settle": true
            case "first": failed < members.count
            default: failed == 0
            }
        let isCut = mode == "first" && isGood || mode == "all" && !isGood
        return Outcome(
            state: isGood ? "succeeded" : "failed", members: isCut ? members.map(cut) : members, isTree: true)
    }

    private func cut(_ outcome: Outcome) -> Outcome {
        var outcome = outcome
        outcome.isCut = true
        outcome.members = outcome.members.map(cut)
        return outcome
    }

    // MARK: Values

    private func holds(_ condition: SpecPlan.Condition, _ levels: [Level]) throws -> Bool {
        switch condition {
        case .isThere(let name): return try seen(name, levels).state != "skipped"
        case .isEven(let source):
            do { return try number(source, levels) % 2 == 0 } catch is Missing { return false }
        }
    }

    private func seen(_ name: String, _ levels: [Level]) throws -> Outcome {
        for level in levels.reversed() {
            if let step = level.steps.first(where: { $0.name == name }) { return step }
        }
        throw LeftOpen()
    }

    private func previous(_ levels: [Level]) throws -> Outcome {
        for level in levels.reversed() {
            if let step = level.steps.last(where: { $0.state != "skipped" }) { return step }
        }
        throw Missing()
    }

    /// The number in the answer to a call, for any status.
    private func answer(_ outcome: Outcome) throws -> Int {
        if outcome.isCut || outcome.isTree { throw LeftOpen() }
        guard let path = outcome.path else { throw Missing() }
        return Self.number(path)
    }

    private func member(_ names: [String], _ levels: [Level]) throws -> Outcome {
        var place = try seen(names[0], levels)
        for name in names.dropFirst() {
            // A batch or chain that was never released has no members, or all its members were skipped.
            guard place.state != "skipped", let inner = place.members.first(where: { $0.name == name }) else {
                throw Missing()
            }
            place = inner
        }
        return place
    }

    private func number(_ source: SpecPlan.Source, _ levels: [Level]) throws -> Int {
        switch source {
        case .member(let names, _): return try answer(member(names, levels))
        case .previous: return try answer(previous(levels))
        case .item:
            guard let item = levels.reversed().lazy.compactMap(\.item).first else { throw LeftOpen() }
            return item
        case .result(let name, let index):
            let batch = try seen(name, levels)
            if batch.isChain { throw LeftOpen() }
            guard batch.members.indices.contains(index) else { throw Missing() }
            let member = batch.members[index]
            // The value of a batch or chain is the list of its results, whether or not it failed.
            if member.isCut || member.isTree { throw LeftOpen() }
            if member.state != "succeeded" { throw Missing() }
            return try answer(member)
        }
    }

    private func encoded(_ source: SpecPlan.Source, _ levels: [Level]) throws -> String {
        let number = try number(source, levels)
        switch source {
        case .member(_, .s), .previous(.s): return Self.text(number).utf8.map(Self.escaped).joined()
        default: return "\(number)"
        }
    }

    /// RFC 3986: percent-encodes all but unreserved characters.
    private static func escaped(_ byte: UInt8) -> String {
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8
        if plain.contains(byte) { return String(UnicodeScalar(byte)) }
        let hex = String(byte, radix: 16, uppercase: true)
        return "%" + (hex.count < 2 ? "0" : "") + hex
    }

    private func elements(_ list: SpecPlan.List, _ levels: [Level]) throws -> [Int] {
        switch list {
        case .answer(let name): return try Self.list(answer(seen(name, levels)))
        case .numbers(let numbers, let last): return try numbers + (last.map { [try number($0, levels)] } ?? [])
        }
    }
}
