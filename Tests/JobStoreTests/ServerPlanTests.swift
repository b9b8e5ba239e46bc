// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The blocks that the choice of a server reads. They must not grow while counters change under an open transaction.
struct ServerPlanTests {
    /// The blocks that a query touches the second time, when the session has its plan.
    private func buffers(_ sql: String, _ queue: borrowing TestQueue) throws -> Int {
        _ = try queue.rows("select (\(sql))::text")
        return try queue.buffers(sql)
    }

    @Test func `routes_of reads at most twice the blocks after 1,000 updates under an open transaction`() throws {
        let cluster = try TestQueue.quietCluster()
        let fixture = try ServerFixture(on: cluster)
        let routes = "select postrider_internal.routes_of('api', 'release')"
        let counters = "select count(calls) from postrider.servers where service = 'api'"
        let first = try buffers(routes, fixture.queue)
        let holder = try PGConnection(fixture.queue.database)
        try holder.execute("begin isolation level repeatable read; select count(*) from postrider.servers")
        for _ in 1...1000 { try fixture.queue.connection.execute("update postrider.servers set calls = calls + 1") }
        let last = try buffers(routes, fixture.queue)
        let ofCounters = try buffers(counters, fixture.queue)
        try holder.execute("rollback")
        #expect(last <= 2 * first, "\(first) \(last)")
        // The number of blocks that a scan of the counters reads.
        #expect(ofCounters > 5 * last, "\(first) \(last) \(ofCounters)")
    }
}
