// SPDX-License-Identifier: Apache-2.0

public import PrivateCluster

/// What statements touch, for tests of plans.
extension TestQueue {
    /// A server on which only the test works, for exact counts.
    ///
    /// A session of a shared one forgets what it knows of the catalogue when it is some 4,000 changes of any database
    /// behind (sinval): beside one that made roles without end a claim touched 1,846 blocks instead of 462.
    public static func quietCluster() throws -> PrivateCluster {
        try PrivateCluster(.init(settings: ["autovacuum": "off", "synchronous_commit": "off"]))
    }

    /// The blocks of 8 kB that a statement touches, found in memory or not. It is run; what a session does for the
    /// first time reads the catalogue too. From `explain (analyze, buffers)`.
    public func buffers(_ sql: String) throws -> Int {
        let plan = try text("explain (analyze, buffers, format json) \(sql)") ?? ""
        return ["Hit", "Read"].reduce(0) { total, kind in
            // The first is that of the whole.
            guard let place = plan.firstRange(of: "\"Shared \(kind) Blocks\": ") else { return total }
            return total + (Int(plan[place.upperBound...].prefix { $0.isNumber }) ?? 0)
        }
    }
}
