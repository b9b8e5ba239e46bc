// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import Synchronization
import TestSupport
import Testing

/// Retries of a lane whose server fails, counted at the server.
struct RetryBudgetTests {
    /// A queue, and a server that answers 500 below `/a/` until the test repairs it.
    private final class Scene {
        let target: TargetServer
        let queue: TestQueue
        private let isMended: Mended
        private var inserted = 0

        private final class Mended: Sendable {
            let flag = Atomic(false)
        }

        init() throws {
            let isMended = Mended()
            target = try TargetServer { request in
                TargetStep.answer(
                    request.path.hasPrefix("/a/") && !isMended.flag.load(ordering: .acquiring) ? 500 : 200)
            }
            queue = try TestQueue()
            self.isMended = isMended
        }

        func mend() { isMended.flag.store(true, ordering: .releasing) }

        /// Adds ten jobs for lane a, which are retried after 100 ms, and two for lane b.
        func add() throws {
            try queue.insert(
                10, "url, lane, backoff, max_attempts",
                "'\(target.url)/a/\(inserted)/' || i, 'a', '{100 ms}', 1000")
            try queue.insert(2, "url, lane", "'\(target.url)/b/\(inserted)/' || i, 'b'")
            inserted += 10
        }

        /// Adds about a hundred jobs a second for lane a, until the condition holds.
        func feed(_ seconds: Double, for what: String, until condition: () throws -> Bool) throws {
            try TestClock.wait(seconds, for: what) {
                if try condition() { return true }
                try add()
                TestClock.sleep(milliseconds: 90)
                return false
            }
        }

        /// Adds jobs until lane a is failing and the earlier retries have been made.
        func feedUntilFailing() throws {
            let isFailing = """
                select exists (select from postrider_internal.failing_lanes where lane = 'a' and failing)
                   and not exists (select from postrider_internal.ready where attempt > 0)
                """
            try feed(15, for: "lane a fails") { try queue.connection.query(isFailing).bool(0, 0) }
        }

        /// The calls of lane a since then: all calls, and the retries among them.
        func calls(since start: UInt64) -> (all: Int, retries: Int) {
            let calls = target.requests.filter { $0.path.hasPrefix("/a/") && $0.arrivedAt >= start }
            return (calls.count, calls.count { $0.turn > 1 })
        }

        /// Whether at most a fifth of the calls since then were retries, or ten retries a second.
        ///
        /// One second's worth of unused retries may be made later. Calls already in flight do not count.
        func isWithinBudget(since start: UInt64) -> Bool {
            let calls = calls(since: start)
            let seconds = TestClock.seconds(since: start)
            return Double(calls.retries) <= 0.2 * Double(calls.all) + 10 * (seconds + 1) + 16
        }
    }

    @Test func `a failing lane's retries stay within its retry budget, and other lanes run normally`() throws {
        let scene = try Scene()
        let worker = try RunningWorker(scene.queue.database, concurrency: 16)
        try worker.wait(for: "enlisted")
        try scene.feedUntilFailing()
        let start = TestClock.now
        try scene.feed(30, for: "four seconds") { TestClock.seconds(since: start) >= 4 }
        let (all, retries) = scene.calls(since: start)
        #expect(scene.isWithinBudget(since: start), "\(retries) of \(all)")
        #expect(retries >= 10, "some are always made")
        // First attempts are not held, and the other lane is not affected.
        let waiting = "select count(*) from postrider_internal.scheduled where attempt = 0"
        #expect(try scene.queue.number(waiting) == 0)
        let explained =
            try scene.queue.text(
                "select postrider.explain(job_id) from postrider_internal.scheduled order by run_at desc limit 1") ?? ""
        #expect(explained.contains("most calls of its lane a fail"), "\(explained)")
        scene.mend()
        try scene.queue.waitUntilDone(20)
        let states = "select string_agg(distinct state, ' ') || ' ' || count(*) from postrider.job_status"
        #expect(try scene.queue.text(states)?.hasPrefix("succeeded ") == true)
        #expect(scene.target.requests.allSatisfy { !$0.path.hasPrefix("/b/") || $0.turn == 1 })
        try scene.queue.wait(until: "select not exists (select from postrider_internal.failing_lanes where failing)")
    }

    @Test func `the retry budget holds through a change of leader`() throws {
        let scene = try Scene()
        let first = try RunningWorker(scene.queue.database, concurrency: 16)
        try first.wait(for: "leading")
        let second = try RunningWorker(scene.queue.database, concurrency: 16)
        try second.wait(for: "enlisted")
        try scene.feedUntilFailing()
        let start = TestClock.now
        // A killed worker leads for ten more seconds.
        first.end(Soak.isOn ? SIGKILL : SIGTERM)
        try scene.feed(30, for: "the second leads") { second.count(of: "leading") > 0 }
        let change = TestClock.now
        try scene.feed(30, for: "three seconds") { TestClock.seconds(since: change) >= 3 }
        let (all, retries) = scene.calls(since: start)
        #expect(scene.isWithinBudget(since: start), "\(retries) of \(all)")
        scene.mend()
        try scene.queue.waitUntilDone(30)
    }

    @Test func `a lane with retry_budget 1 holds no retries back`() throws {
        let scene = try Scene()
        try scene.queue.connection.execute("insert into postrider.lanes (name, retry_budget) values ('a', 1)")
        let worker = try RunningWorker(scene.queue.database, concurrency: 16)
        try worker.wait(for: "enlisted")
        let isFailing = "select exists (select from postrider_internal.failing_lanes where failing)"
        try scene.feed(15, for: "lane a fails") { try scene.queue.connection.query(isFailing).bool(0, 0) }
        try scene.queue.wait(until: "select not exists (select from postrider_internal.scheduled where has_slot)")
        // All jobs are retried again and again.
        let start = TestClock.now
        try TestClock.wait(20, for: "many retries") { scene.calls(since: start).retries > 500 }
        scene.mend()
        try scene.queue.waitUntilDone()
    }

    @Test(arguments: [50, 200])
    func `the retry budget does not delay jobs whose first two attempts fail`(count: Int) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        try worker.wait(for: "enlisted")
        let start = TestClock.now
        try queue.insert(count, "url, backoff", "'\(target.url)/status/500,500,200/' || i, '{100 ms}'")
        try queue.waitUntilDone()
        let took = TestClock.seconds(since: start)
        #expect(took < Soak.seconds(3), "\(took)")
        #expect(try queue.states() == "succeeded \(count)")
    }
}
