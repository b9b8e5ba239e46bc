// SPDX-License-Identifier: Apache-2.0

/// Checks whether the final states in a tree fit its plan and the rules. Pure.
///
/// A job that was not disturbed must end exactly as planned. The end of a batch or chain may cut its jobs short at any
/// point. For these, each batch and chain must fit its own members.
public struct TreeCheck: Sendable {
    private let states: [Int64: String]
    private let isRetried: Bool
    /// The contradictions, as sentences.
    public private(set) var defects: [String] = []

    /// Checks a whole tree.
    ///
    /// `isDisturbed`: a job of the tree was cancelled, or a job joined the tree. `isRetried`: a job ran again, so the
    /// jobs after it may have run before.
    public init(
        _ plan: TreePlan, states: [Int64: String], joined: [Int64: [TreePlan]] = [:], isDisturbed: Bool,
        isRetried: Bool = false
    ) {
        self.states = states
        self.isRetried = isRetried
        for node in plan.all {
            guard let state = states[node.id] else {
                defects.append("job \(node.id) is missing")
                continue
            }
            if !["succeeded", "failed", "cancelled", "skipped"].contains(state) {
                defects.append("job \(node.id) has ended as \(state)")
            }
            checkRule(node, state, joined[node.id] ?? [])
        }
        if !isDisturbed { checkPlan(plan) }
    }

    private func state(_ id: Int64) -> String { states[id] ?? "" }

    /// Checks a batch or chain against the states of its members.
    private mutating func checkRule(_ node: TreePlan, _ state: String, _ joined: [TreePlan]) {
        let members = (node.members + joined).map { self.state($0.id) }
        let isOver = Set(["failed", "cancelled"])
        let fits: Bool
        switch (node.kind, state) {
        case (.request, _): fits = true
        case (_, "skipped") where isRetried: fits = true
        case (_, "skipped"): fits = members.allSatisfy { $0 == "skipped" || $0 == "cancelled" }
        case (_, "cancelled"): fits = members.allSatisfy { $0 != "" }
        case (.chain, "succeeded"): fits = members.allSatisfy { $0 == "succeeded" }
        case (.chain, "failed"):
            // Members that joined stand at the end. A later step may have been cancelled by a user while it waited.
            let rest = members.drop { $0 == "succeeded" }
            fits = rest.contains { isOver.contains($0) } && (isRetried || !rest.contains("succeeded"))
        case (.chain, _): fits = false
        case (.batch, "succeeded"):
            switch node.mode {
            case "settle": fits = !members.contains("skipped")
            case "first": fits = members.contains("succeeded") && !members.contains("skipped")
            default: fits = members.allSatisfy { $0 == "succeeded" }
            }
        case (.batch, "failed"):
            switch node.mode {
            case "settle": fits = false
            case "first": fits = members.allSatisfy { isOver.contains($0) }
            default: fits = members.contains { isOver.contains($0) } && !members.contains("skipped")
            }
        case (.batch, _): fits = false
        }
        if !fits { defects.append("\(node.kind) \(node.id) \(node.mode) is \(state), its members are \(members)") }
    }

    /// Checks an undisturbed job against the plan, unless the end of its parent cut it short.
    private mutating func checkPlan(_ node: TreePlan) {
        let planned = node.succeeds ? "succeeded" : "failed"
        let state = state(node.id)
        if state != planned { defects.append("\(node.kind) \(node.id) is \(state), not \(planned)") }
        switch node.kind {
        case .request: break
        case .chain:
            let failing = node.members.firstIndex { !$0.succeeds } ?? node.members.endIndex
            for (index, member) in node.members.enumerated() {
                if index <= failing { checkPlan(member) } else { checkSkipped(member) }
            }
        case .batch:
            let isCut = node.mode == "all" && !node.succeeds || node.mode == "first" && node.succeeds
            for member in node.members where !isCut || self.state(member.id) != "cancelled" { checkPlan(member) }
        }
    }

    private mutating func checkSkipped(_ node: TreePlan) {
        for job in node.all where state(job.id) != "skipped" {
            defects.append("job \(job.id) is \(state(job.id)), not skipped")
        }
    }

    /// Steps of chains that were called before the previous step was answered.
    public static func earlySteps(
        _ plan: TreePlan, states: [Int64: String], joined: [Int64: [TreePlan]], _ calls: [String: [TargetRequest]]
    ) -> [String] {
        var early: [String] = []
        for chain in plan.all where chain.kind == .chain {
            let steps = chain.members + (joined[chain.id] ?? [])
            for (before, after) in zip(steps, steps.dropFirst()) {
                let nodes = after.all + after.all.flatMap { joined[$0.id] ?? [] }
                let arrivals = nodes.flatMap { calls[$0.url] ?? [] }.map(\.arrivedAt)
                guard let first = arrivals.min() else { continue }
                guard let answered = answered(before, states, joined, calls), answered <= first else {
                    early.append("\(after.kind) \(after.id) was called before \(before.kind) \(before.id) had ended")
                    continue
                }
            }
        }
        return early
    }

    /// When the last answer arrived that this job's success needs; nil if no answer was needed.
    ///
    /// The answers of members that joined count too.
    private static func answered(
        _ node: TreePlan, _ states: [Int64: String], _ joined: [Int64: [TreePlan]], _ calls: [String: [TargetRequest]]
    ) -> UInt64? {
        let members = node.members + (joined[node.id] ?? [])
        switch node.kind {
        case .request: return (calls[node.url] ?? []).filter { !$0.isAborted }.compactMap(\.endedAt).min()
        case .chain: return members.last.flatMap { answered($0, states, joined, calls) }
        case .batch:
            let good = members.filter { states[$0.id] == "succeeded" }.map { answered($0, states, joined, calls) }
            if node.mode == "first" { return good.compactMap { $0 }.min() }
            return good.contains(nil) ? nil : good.compactMap { $0 }.max() ?? 0
        }
    }
}
