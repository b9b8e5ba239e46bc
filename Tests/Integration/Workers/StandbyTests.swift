// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Of many idle workers of the same queues, 16 receive notifications and the others stand by.
@Suite(.serialized)
struct StandbyTests {
    @Test func `of 19 idle workers 16 listen, and the others take jobs and their places`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let other = try RunningWorker(queue.database, concurrency: 1, ["--queue", "other"])
        defer { other.kill() }
        let workers = try (0..<19).map { _ in try RunningWorker(queue.database, concurrency: 1) }
        defer { for worker in workers { worker.kill() } }
        for worker in workers { try worker.wait(for: "enlisted") }
        let listeners = "select count(*) from postrider_internal.idle_workers"
        // The worker of the other queue counts for itself only.
        try queue.wait(30, until: "select (\(listeners)) = 17")

        // Three jobs are left for the workers that stand by.
        try queue.insert(19, "url", "'\(target.url)/hang/' || i")
        try TestClock.wait(10, for: "a call of each worker") { target.underWay == 19 }
        #expect(try queue.number("select postrider.cancel_all()") == 19)

        // All are idle again, and 16 of them listen. Then most of these end, and the others take their places.
        try queue.wait(30, until: "select (\(listeners)) = 17")
        let processes = """
            select string_agg(substring(w.name from '[0-9]+$'), ' ') from (
              select w.name from postrider_internal.idle_workers i join postrider_internal.workers w on w.id = i.worker
               where w.queues is null order by w.id limit 13) w
            """
        let ended = Set((try queue.text(processes) ?? "").split(separator: " ").compactMap { Int32($0) })
        #expect(ended.count == 13)
        for worker in workers where ended.contains(worker.pid) { worker.kill() }
        try queue.wait(60, until: "select (\(listeners)) = 1 + 6")
        try queue.insert(6, "url", "'\(target.url)/status/200/' || i")
        try queue.wait(10, until: "select count(*) = 6 from postrider.job_status where state = 'succeeded'")
    }
}
