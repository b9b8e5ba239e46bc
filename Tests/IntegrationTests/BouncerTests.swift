// SPDX-License-Identifier: Apache-2.0

import PrivateCluster
import TestSupport
import Testing

/// A worker whose only way to PostgreSQL is PgBouncer in transaction mode.
struct BouncerTests {
    @Test func `with --prepare off jobs run through PgBouncer, found by polling`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        let bouncer = try Bouncer(before: cluster)
        let worker = try RunningWorker(bouncer.connectionString, ["--prepare", "off"])
        try worker.wait(for: "enlisted")
        try queue.insert(500, "method, url", "'POST', '\(target.url)/wait/5/' || i")
        try queue.waitUntilDone(20)
        #expect(try queue.states() == "succeeded 500")
        #expect(target.requests.count == 500)
        for number in 1...8 {
            // Idle for long enough to poll at its slowest pace, 250 ms.
            TestClock.sleep(milliseconds: 300)
            let inserted = TestClock.now
            try queue.insert("url", "'\(target.url)/ok/single/\(number)'")
            try TestClock.wait(5, for: "call \(number)") { !target.requests("/ok/single/\(number)").isEmpty }
            #expect(TestClock.seconds(since: inserted) < Soak.seconds(1))
        }
        #expect(try queue.number("select count(*) from postrider.idle_workers") == 0)
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
        #expect(worker.end(15) == 0)
    }
}
