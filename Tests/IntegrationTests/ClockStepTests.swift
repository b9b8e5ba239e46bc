// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The database's clock was set back by an hour: what was written before lies ahead.
struct ClockStepTests {
    @Test func `a worker that died before the step is noticed, and another leads`() throws {
        let target = try TargetServer { request in request.turn > 1 ? TargetStep.answer(200) : [.hang] }
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        let id = try queue.insert("url", "'\(target.url)/lost'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        try queue.wait(until: "select epoch > 0 from postrider.leases where name = 'leader'")
        first.end(SIGKILL)
        try queue.connection.execute(
            """
            update postrider.workers set heartbeat_at = heartbeat_at + interval '1 h';
            update postrider.leases set until = until + interval '1 h'
            """)
        let second = try RunningWorker(queue.database)
        try queue.wait(20, for: id, toBe: "succeeded")
        #expect(second.count(of: "worker_reaped") == 1)
    }

    @Test func `a lane with a rate goes on`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, rate_limit) values ('l', 20)")
        let worker = try RunningWorker(queue.database)
        let first = try queue.insert("url, lane", "'\(target.url)/ok', 'l'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.connection.execute("update postrider.lane_states set next_slot = next_slot + interval '1 h'")
        try queue.insert(20, "url, lane", "'\(target.url)/ok', 'l'")
        try queue.waitUntilDone(10)
        #expect(try queue.states() == "succeeded 21")
        _ = worker
    }
}
