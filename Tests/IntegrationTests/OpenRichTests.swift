// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Transactions that a client leaves open hold what rich jobs need.
struct OpenRichTests {
    @Test func `one that has called cache_invalidate holds up no answer that is to be stored in its place`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 50)
        func fetchAll() throws {
            try queue.insert(40, "url, cache_ttl, ignore_cache", "'\(target.url)/ok/' || i, '1 h', true")
        }
        try fetchAll()
        try queue.waitUntilDone()
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cache_invalidate()")
        // A second for each of them would be more than the 30 s that a statement has.
        try fetchAll()
        try queue.insert(20, "url", "'\(target.url)/ok/plain/' || i")
        try queue.waitUntilDone(15)
        #expect(try queue.states() == "succeeded 100")
        #expect(try queue.number("select count(*) from postrider.cache_passes") == 0)
        try other.execute("rollback")
        #expect(worker.count(of: "statement_failed") + worker.count(of: "worker_reaped") == 0)
    }
}
