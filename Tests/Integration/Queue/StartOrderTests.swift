// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The order in which one worker starts jobs of tracks that it does not know yet.
struct StartOrderTests {
    /// The last parts of the paths of all requests, in the order of their arrival.
    private func arrived(_ target: TargetServer) -> [String] {
        target.requests.map { String($0.path.split(separator: "/").last ?? "") }
    }

    /// A worker with one slot that knows the lane L at priority 0.
    private func worker(_ queue: borrowing TestQueue, _ target: TargetServer) throws -> RunningWorker {
        let worker = try RunningWorker(queue.database, concurrency: 1)
        let first = try queue.insert("url, lane", "'\(target.url)/ok/first', 'L'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.wait(until: "select count(*) = 1 from postrider_internal.idle_workers")
        return worker
    }

    @Test(arguments: ["one statement", "one transaction", "one transaction from below", "behind a call"])
    func `a job with a new, higher priority starts before jobs with a lower priority`(way: String) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try worker(queue, target)
        defer { worker.kill() }
        // A worker waits for a survey only up to `ClaimHold.longest`, and surveys may take longer on a busy machine.
        //
        // So the job of high priority need not come first in each round. `ScheduleTests` checks the exact rule on a
        // simulated clock.
        var first = 0
        var level = 0
        while first < 2, level < 40 {
            level += 1
            var values = ["low\(level)", "low\(level)", "high\(level)"].map {
                "('\(target.url)/ok/\($0)', 'L', \($0.hasPrefix("low") ? 0 : level))"
            }
            // Then the notification of the new track comes first, before the notifications of known tracks.
            if way.hasSuffix("below") { values.insert("('\(target.url)/ok/lowest', 'L', -\(level))", at: 0) }
            let insert = "insert into postrider.jobs (url, lane, priority) values "
            if way == "behind a call" {
                let before = try queue.insert("url, lane", "'\(target.url)/wait/300/before', 'L'")
                try queue.wait(for: before, toBe: "running")
            }
            try queue.connection.execute(
                way == "one statement"
                    ? insert + values.joined(separator: ", ")
                    : "begin; " + values.map { insert + $0 }.joined(separator: "; ") + "; commit")
            try queue.waitUntilDone()
            // Claims that follow each other closely wait for no survey.
            try queue.connection.execute("select pg_sleep(0.2)")
            try queue.wait(until: "select count(*) = 1 from postrider_internal.idle_workers")
            let order = arrived(target)
            if let high = order.firstIndex(of: "high\(level)"), let low = order.firstIndex(of: "low\(level)"),
                high < low
            {
                first += 1
            }
        }
        #expect(first == 2, "\(arrived(target))")
    }

    @Test(arguments: ["lane", "queue", "priority"])
    func `jobs inserted one by one start in that order, even on a new track`(what: String) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try worker(queue, target)
        defer { worker.kill() }
        let columns = "url, lane" + (what == "lane" ? "" : ", \(what)")
        let values = [
            "lane": "'new'", "queue": "'L', 'new'", "priority": "'L', 7",
        ]
        for i in 1...300 { try queue.insert(columns, "'\(target.url)/ok/\(i)', \(values[what] ?? "")") }
        try queue.waitUntilDone()
        let order = arrived(target).compactMap { Int($0) }
        #expect(order == Array(1...300))
    }
}
