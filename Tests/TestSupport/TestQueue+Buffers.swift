// SPDX-License-Identifier: Apache-2.0

public import PrivateCluster

/// Counts the blocks that statements touch, for tests of plans.
extension TestQueue {
    /// A server that only the test uses, for exact counts.
    ///
    /// On a shared server, a session drops its catalogue cache when it is about 4,000 changes behind (sinval). The
    /// changes of all databases count. While another test made roles in a loop, a claim touched 1,846 blocks instead of
    /// 462.
    public static func quietCluster() throws -> PrivateCluster {
        try PrivateCluster(.init(settings: ["autovacuum": "off", "synchronous_commit": "off"]))
    }

    /// The blocks of 8 kB that a statement touches, in memory or not, from `explain (analyze, buffers)`.
    ///
    /// The statement is executed. The first run in a session also reads the catalogue.
    public func buffers(_ sql: String) throws -> Int {
        let plan = try text("explain (analyze, buffers, format json) \(sql)") ?? ""
        return ["Hit", "Read"].reduce(0) { total, kind in
            // The first match is the number of the whole plan.
            guard let place = plan.firstRange(of: "\"Shared \(kind) Blocks\": ") else { return total }
            return total + (Int(plan[place.upperBound...].prefix { $0.isNumber }) ?? 0)
        }
    }
}
