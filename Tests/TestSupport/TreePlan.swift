// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A batch, chain or request that a test inserts, and its outcome without outside changes.
public struct TreePlan: Sendable {
    /// The kind of a node.
    public enum Kind: String, Sendable {
        /// A call.
        case request
        /// All members at once; `mode` says what ends it.
        case batch
        /// One member after the other.
        case chain
    }

    /// The kind of this node.
    public var kind: Kind
    /// The mode of a batch: `all`, `settle` or `first`.
    public var mode = "all"
    /// The parallel limit of a batch.
    public var maxParallel: Int?
    /// The URL of a request.
    public var url = ""
    /// Whether the answer to a request is a success.
    public var isGood = true
    /// The members, in order.
    public var members: [TreePlan] = []
    /// The id of the job, after its insertion.
    public var id: Int64 = 0

    /// One call.
    public static func request(_ url: String, isGood: Bool = true) -> TreePlan {
        TreePlan(kind: .request, url: url, isGood: isGood)
    }

    /// A batch of these members.
    public static func batch(_ members: [TreePlan], mode: String = "all", maxParallel: Int? = nil) -> TreePlan {
        TreePlan(kind: .batch, mode: mode, maxParallel: maxParallel, members: members)
    }

    /// A chain of these members.
    public static func chain(_ members: [TreePlan]) -> TreePlan {
        TreePlan(kind: .chain, members: members)
    }

    /// Whether the node succeeds without outside changes.
    public var succeeds: Bool {
        switch kind {
        case .request: isGood
        case .chain: members.allSatisfy(\.succeeds)
        case .batch:
            switch mode {
            case "settle": true
            case "first": members.contains { $0.succeeds }
            default: members.allSatisfy(\.succeeds)
            }
        }
    }

    /// The number of nodes, including this one.
    public var count: Int { 1 + members.reduce(0) { $0 + $1.count } }

    /// All nodes, including this one; parents come first.
    public var all: [TreePlan] { [self] + members.flatMap(\.all) }

    /// Inserts the node and all nodes below it in one transaction, and stores the ids.
    public mutating func insert(into queue: borrowing TestQueue) throws {
        try queue.connection.execute("begin")
        try insertRows(queue, parent: nil, position: nil)
        try queue.connection.execute("commit")
    }

    private mutating func insertRows(_ queue: borrowing TestQueue, parent: Int64?, position: Int?) throws {
        let place = [parent.map { "\($0)" }, position.map { "\($0)" }].map { $0 ?? "null" }.joined(separator: ", ")
        let limit = maxParallel.map { "\($0)" } ?? "null"
        id = try queue.insert(
            "kind, parent_id, position, mode, max_parallel", "'\(kind.rawValue)', \(place), '\(mode)', \(limit)")
        let calls = members.indices.filter { members[$0].kind == .request }
        if !calls.isEmpty {
            let rows = calls.map { "(\(id), \($0 + 1), '\(members[$0].url)')" }.joined(separator: ", ")
            let made = try queue.connection.query(
                "insert into postrider.jobs (parent_id, position, url) values \(rows) returning id")
            for (row, index) in calls.enumerated() { members[index].id = made.int64(row, 0) }
        }
        for index in members.indices where members[index].kind != .request {
            try members[index].insertRows(queue, parent: id, position: index + 1)
        }
    }

    /// Makes a random tree with at most `depth` levels below it and `budget` jobs in all.
    public static func random(
        _ random: inout Randomness, depth: Int, budget: inout Int, url: (_ isGood: Bool) -> String
    ) -> TreePlan {
        let kind = random.chance(50) ? Kind.batch : .chain
        var plan = TreePlan(kind: kind)
        if kind == .batch {
            plan.mode = ["all", "all", "settle", "first"][Int(random.number(0...3))]
            if random.chance(30) { plan.maxParallel = Int(random.number(1...4)) }
        }
        // Few nodes are wide: one in twenty has up to 50 members.
        let width = Int(random.number(1...(random.chance(5) ? 50 : 5)))
        for _ in 0..<width where plan.members.isEmpty || budget > 0 {
            budget -= 1
            if depth > 1, random.chance(30) {
                plan.members.append(.random(&random, depth: depth - 1, budget: &budget, url: url))
            } else {
                let isGood = !random.chance(8)
                plan.members.append(.request(url(isGood), isGood: isGood))
            }
        }
        return plan
    }
}
