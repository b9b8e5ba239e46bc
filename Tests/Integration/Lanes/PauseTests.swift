// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Queues and lanes that a user pauses and resumes.
struct PauseTests {
    @Test func `a paused queue starts no job, explain says so, and resume_queue starts its jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        _ = try queue.rows("select postrider.pause_queue('mail')::text")
        let held = try queue.insert("url, queue", "'\(target.url)/ok/held', 'mail'")
        let free = try queue.insert("url", "'\(target.url)/ok/free'")
        try queue.wait(for: free, toBe: "succeeded")
        #expect(try queue.state(held) == "ready")
        let sentence = try queue.text("select postrider.explain(\(held))") ?? ""
        #expect(
            sentence.contains("its queue mail is paused; select postrider.resume_queue('mail') lets it run"),
            "\(sentence)")
        #expect(
            try queue.rows("select queue, paused::text from postrider.queue_status order by queue")
                == [["default", "false"], ["mail", "true"]])
        _ = try queue.rows("select postrider.resume_queue('mail')::text")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(target.requests("/ok/held").count == 1)
    }

    @Test func `pause_lane and plain SQL hold a lane's new jobs but let its running calls end`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let running = try queue.insert("url, lane", "'\(target.url)/wait/500/a', 'api'")
        try TestClock.wait(20, for: "a call") { target.underWay == 1 }
        _ = try queue.rows("select postrider.pause_lane('api')::text")
        let held = try queue.insert("url, lane", "'\(target.url)/ok/held', 'api'")
        try queue.wait(for: running, toBe: "succeeded")
        #expect(try queue.state(held) == "ready")
        let sentence = try queue.text("select postrider.explain(\(held))") ?? ""
        #expect(
            sentence.contains("its lane api is paused until it is resumed (reason: paused by "),
            "\(sentence)")
        #expect(
            try queue.rows(
                "select lane, ready::text, paused::text, paused_until::text from postrider.lane_status where lane = 'api'"
            )
                == [["api", "1", "true", "infinity"]])
        // A shorter pause by a user replaces a longer one.
        _ = try queue.rows("select postrider.pause_lane('api', until => now() + interval '1 s')::text")
        let until = try queue.text("select paused_until::text from postrider.lanes where name = 'api'") ?? ""
        try queue.wait(for: held, toBe: "succeeded")
        #expect(
            try queue.number(
                "select count(*) from postrider.attempts where job_id = \(held) and started_at < '\(until)'") == 0)

        // A user's pause also replaces the earlier reason. A server may give the same reason twice.
        let server = "select pause_reason from postrider.lanes where name = 'api'"
        for seconds in [1, 2] {
            try queue.connection.execute(
                "select postrider_internal.extend_lane_pause('api', now() + interval '\(seconds) s', 'the server answered 429')"
            )
            #expect(try queue.text(server) == "the server answered 429")
        }
        try queue.connection.execute("update postrider.lanes set paused_until = 'infinity' where name = 'api'")
        #expect(try queue.text(server) == "paused by postgres")
        let other = try queue.insert("url, lane", "'\(target.url)/ok/other', 'api'")
        let free = try queue.insert("url", "'\(target.url)/ok/free'")
        try queue.wait(for: free, toBe: "succeeded")
        #expect(try queue.state(other) == "ready")
        try queue.connection.execute("delete from postrider.lanes")
        try queue.wait(for: other, toBe: "succeeded")
    }

    @Test func `no claim after a committed pause takes a job of the paused lane or queue`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(20_000, "url, queue, lane", "'\(target.url)/ok/' || i, 'q', 'l'")
        let workers = try [
            RunningWorker(queue.database, concurrency: 32), RunningWorker(queue.database, concurrency: 32),
        ]
        defer { workers.kill() }
        for round in 1...Soak.count(40, reduced: 8) {
            let done = target.requests.count
            try TestClock.wait(20, for: "calls") { target.requests.count > done }
            let isLane = round % 2 == 0
            _ = try queue.rows("select postrider.\(isLane ? "pause_lane('l')" : "pause_queue('q')")::text")
            let paused = try queue.text("select clock_timestamp()::text") ?? ""
            // A claim that began before the pause may commit after it.
            try queue.wait(
                until: """
                    select not exists (
                      select from pg_stat_activity where datname = current_database() and xact_start <= '\(paused)')
                    """)
            try queue.wait(until: "select not exists (select from postrider_internal.ready where worker > 0)")
            let free = try queue.insert("url", "'\(target.url)/ok/free'")
            try queue.wait(for: free, toBe: "succeeded")
            #expect(
                try queue.number(
                    "select count(*) from postrider.attempts where started_at > '\(paused)' and job_id <> \(free)") == 0
            )
            #expect(try queue.number("select count(*) from postrider_internal.ready where worker > 0") == 0)
            _ = try queue.rows("select postrider.\(isLane ? "resume_lane('l')" : "resume_queue('q')")::text")
        }
    }

    @Test func `a worker makes few claims while all ready jobs are paused`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        _ = try queue.rows("select postrider.pause_lane('l')::text")
        try queue.insert(500, "url, lane", "'\(target.url)/ok/' || i, 'l'")
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        // Each claim takes a fence. A worker in a busy loop takes hundreds in half a second.
        func claims() throws -> Int64 { try queue.number("select last_value from postrider_internal.fences") }
        var before = try claims()
        try TestClock.wait(20, for: "a quiet half second") {
            let last = before
            TestClock.sleep(milliseconds: 500)
            before = try claims()
            return before - last < 15
        }
        #expect(target.requests.isEmpty)
        _ = try queue.rows("select postrider.resume_lane('l')::text")
        try queue.waitUntilDone()
    }

    @Test(arguments: [
        ("lanes", "name, rate_period", "'l', null", "rate_period"), ("lanes", "name", "''", "name"),
        ("lanes", "name, max_in_flight", "'l', 0", "max_in_flight"),
        ("lanes", "name, rate_limit", "'l', -1", "rate_limit"),
        ("lanes", "name, rate_limit, rate_period", "'l', 1, '0 s'", "rate_period"),
        ("queues", "name", "''", "name"), ("queues", "name, paused", "'q', null", "paused"),
    ])
    func `a bad row of lanes or queues is refused with its column and a hint`(
        table: String, columns: String, values: String, column: String
    ) throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("insert into postrider.\(table) (\(columns)) values (\(values))")
        }
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(error?.message.hasPrefix("\(table).\(column): ") == true)
        #expect(error?.hint?.isEmpty == false)
    }

    @Test(arguments: ["null", "now() - interval '1 s'"])
    func `pause_lane refuses an end that is null or in the past`(until: String) throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.pause_lane('l', \(until))")
        }
        #expect(error?.message.hasPrefix("until: ") == true)
        #expect(try queue.number("select count(*) from postrider.lanes") == 0)
    }

    @Test func `a lane with a huge backlog does not starve a lane with ten jobs`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let mountain = Soak.count(100_000, reduced: 20_000)
        // Half of the jobs take 12 s. A survey finds the other lane at most 5 s after the previous survey. With instant
        // answers, all jobs would end within two seconds, before a busy machine had surveyed.
        try queue.insert(mountain, "url, lane", "'\(target.url)/wait/10/' || i, 'mountain'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try TestClock.wait(20, for: "calls") { target.requests.count > 50 }
        try queue.insert(10, "url, lane", "'\(target.url)/ok/few', 'few'")
        try TestClock.wait(20, for: "ten calls") { target.requests("/ok/few").count == 10 }
        #expect(target.requests.count < mountain / 2)
        #expect(try queue.number("select ready from postrider.lane_status where lane = 'mountain'") > 0)
    }

    @Test func `freed slots go to the lane with fewer calls in flight`() throws {
        let (slow, quick) = try (TargetServer(), TargetServer())
        let queue = try TestQueue()
        // The worker's first survey finds both lanes. Later surveys may be seconds apart.
        try queue.insert(40, "url, lane, timeout", "'\(slow.url)/held/' || i, 'slow', '300 s'")
        try queue.insert(60, "url, lane", "'\(quick.url)/ok/' || i, 'quick'")
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        try TestClock.wait(60, for: "the quick calls") { quick.requests.count == 60 }
        // Calls of the slow lane never end. If the lanes took turns, they would soon have all four slots. But a slot
        // that becomes free after the last quick calls have begun goes to the slow lane.
        let late = quick.requests[55].arrivedAt
        #expect(slow.requests.count { $0.arrivedAt < late } == 2)
    }
}
