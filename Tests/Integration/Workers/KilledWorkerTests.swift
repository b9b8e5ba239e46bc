// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Workers that are killed with `kill -9`, and the reaction of the other workers.
struct KilledWorkerTests {
    @Test(arguments: 1...Soak.count(20, reduced: 2))
    func `the 64 calls of a killed worker run again within 15 s under another worker`(round: Int) throws {
        // The first call of each path never ends; the second does.
        let target = try TargetServer { request in
            request.path.hasPrefix("/ok") || request.turn > 1 ? TargetStep.answer(200) : [.hang]
        }
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database, concurrency: 64)
        try queue.insert(64, "url", "'\(target.url)/lost/' || i")
        try TestClock.wait(10, for: "64 calls in flight, there are \(target.underWay)") { target.underWay == 64 }
        let dead = try queue.number("select epoch from postrider.worker_status")
        let second = try RunningWorker(queue.database, concurrency: 64)
        try queue.insert(500, "url", "'\(target.url)/ok/' || i")
        let killed = TestClock.now
        #expect(first.end(SIGKILL) == 128 + SIGKILL)
        try queue.waitUntilDone(20)
        try queue.report(.repeated, attack: "SIGKILL with 64 calls in flight", calls: target.requests.count)
        #expect(try queue.states() == "succeeded 564")
        for number in 1...64 {
            let calls = target.requests("/lost/\(number)")
            #expect(calls.count == 2)
            #expect(try #require(calls.last).arrivedAt - killed < Soak.nanoseconds(15))
        }
        #expect(try queue.number("select count(*) from postrider_internal.results where worker = \(dead)") == 0)
        #expect(
            try queue.number("select count(*) from postrider.attempts where error_code = 'lost_worker'") == 64)
        #expect(try queue.unexplainedCalls(target) == [])
        try second.wait(for: "worker_reaped")
    }

    @Test func `a worker killed under load loses no job, and every repeated call has a recorded reason`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database, concurrency: 64)
        let second = try RunningWorker(queue.database, concurrency: 64)
        defer { second.kill() }
        try queue.insert(4000, "method, url", "'POST', '\(target.url)/wait/20/' || i")
        try TestClock.wait(20, for: "calls") { target.requests.count > 1000 }
        first.end(SIGKILL)
        let killed = try queue.text("select clock_timestamp()::text") ?? ""
        let dead = try queue.number("select min(epoch) from postrider.worker_status where worker like '%:\(first.pid)'")
        try queue.waitUntilDone(40)
        let unexplained = try queue.unexplainedCalls(target)
        try queue.report(
            .repeated, attack: "SIGKILL under load", calls: target.requests.count, unexplained: unexplained.count)
        #expect(try queue.states() == "succeeded 4000")
        #expect(unexplained == [])
        // A statement that the worker had sent before its end may still have been stored at that moment.
        #expect(
            try queue.number(
                """
                select count(*) from postrider_internal.results
                where worker = \(dead) and finished_at > '\(killed)'::timestamptz + interval '1 s'
                """) == 0)
        let twice = Dictionary(grouping: target.requests, by: \.path).filter { $0.value.count > 1 }
        for calls in twice.values { #expect(Set(calls.map { $0.header("idempotency-key") }).count == 1) }
    }
}
