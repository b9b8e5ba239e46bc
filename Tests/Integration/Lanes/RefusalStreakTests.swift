// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// The length of a lane's pause after refusals without a requested wait.
struct RefusalStreakTests {
    /// A database with a track of the lane l.
    private static func queue() throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'l', 0)")
        return queue
    }

    /// The signal for the lane from the answer to a call that began so long ago.
    private static func sign(_ verdict: String, _ status: Int, wait: String = "null", begunBefore: String) -> String {
        """
        row((select id from postrider_internal.tracks), clock_timestamp() - interval '\(begunBefore)', \(wait),
            \(status), '\(verdict)')::postrider_internal.lane_signal
        """
    }

    /// Applies the signals of answers that arrive together. Returns the rest of the lane's pause in ms.
    private static func tell(_ queue: borrowing TestQueue, _ signs: [String]) throws -> Int64 {
        try queue.connection.execute(
            "select postrider_internal.pause_throttled_lanes(array[\(signs.joined(separator: ", "))])")
        return try queue.number(
            "select coalesce((extract(epoch from max(paused_until) - now()) * 1000)::bigint, 0) from postrider.lanes")
    }

    @Test func `a lane's pause doubles with each refusal until a success or resume_lane resets it`() throws {
        let queue = try Self.queue()
        func tell(_ verdict: String, _ status: Int, wait: String = "null", begunBefore: String = "-1 ms") throws
            -> Int64
        {
            try Self.tell(queue, [Self.sign(verdict, status, wait: wait, begunBefore: begunBefore)])
        }
        func over() throws { try queue.connection.execute("update postrider.lanes set paused_until = now()") }
        var expected: ClosedRange<Int64> = 900...1250
        for _ in 1...4 {
            #expect(try expected.contains(tell("w", 429)))
            let paused = try tell("w", 429, begunBefore: "10 s")
            #expect(paused <= expected.upperBound, "an answer to a call begun before the last 429 says nothing new")
            try over()
            expected = (expected.lowerBound * 2)...(expected.upperBound * 2)
        }
        for _ in 1...12 {
            _ = try tell("w", 429)
            try over()
        }
        #expect(try (880_000...900_000).contains(tell("w", 429)))
        // A shorter wish does not shorten the pause, and a longer one extends it. The limit is an hour.
        #expect(try tell("w", 429, wait: "5000") > 880_000)
        #expect(try (3_590_000...3_600_000).contains(tell("w", 429, wait: "999999999")))
        try over()
        #expect(try tell("s", 200, begunBefore: "10 min") <= 0)
        #expect(try queue.number("select streak::bigint from postrider_internal.throttled_lanes") > 10)
        #expect(try tell("s", 200) <= 0)
        #expect(try queue.number("select count(*) from postrider_internal.throttled_lanes") == 0)
        #expect(try (900...1250).contains(tell("w", 429)))
        try over()
        #expect(try (1800...2500).contains(tell("w", 429)))
        _ = try queue.rows("select postrider.resume_lane('l')::text")
        #expect(try (900...1250).contains(tell("w", 429, wait: "0")))
        // A user's pause is kept.
        _ = try queue.rows("select postrider.pause_lane('l')::text")
        try queue.connection.execute(
            "select postrider_internal.pause_throttled_lanes(array[row((select id from postrider_internal.tracks), now(), 5000, 429, 'w')::postrider_internal.lane_signal])"
        )
        #expect(
            try queue.text("select paused_until || ' ' || (pause_reason like 'paused by %') from postrider.lanes")
                == "infinity true")
    }

    @Test
    func
        `a success ends the doubling unless its call began before the lane's pause`()
        throws
    {
        let queue = try Self.queue()
        // The fourth refusal in a row: the pause before it was 4 s long, or a little more.
        try queue.connection.execute(
            "insert into postrider_internal.throttled_lanes (lane, streak, at) values ('l', 4, now())")
        _ = try Self.tell(queue, [Self.sign("s", 200, begunBefore: "6 s")])
        #expect(try queue.number("select streak::bigint from postrider_internal.throttled_lanes") == 4)
        _ = try Self.tell(queue, [Self.sign("s", 200, begunBefore: "2 s")])
        #expect(try (900...1250).contains(Self.tell(queue, [Self.sign("w", 429, begunBefore: "-1 ms")])))
    }

    @Test func `a success that arrives together with a refusal also ends the doubling of pauses`() throws {
        let queue = try Self.queue()
        try queue.connection.execute(
            "insert into postrider_internal.throttled_lanes (lane, streak, at) values ('l', 4, now())")
        let both = [
            Self.sign("w", 429, begunBefore: "-1 ms"), Self.sign("s", 200, begunBefore: "-1 ms"),
        ]
        #expect(try (900...1250).contains(Self.tell(queue, both)))
    }

    @Test func `pauses do not keep growing for a server that accepts two calls at once`() throws {
        let ends = Mutex<[UInt64]>([])
        let target = try TargetServer { _ in
            let isTaken = ends.withLock { ends in
                let now = TestClock.now
                ends.removeAll { $0 <= now }
                guard ends.count < 2 else { return false }
                ends.append(now + 100_000_000)
                return true
            }
            return isTaken ? [.pause(milliseconds: 100)] + TargetStep.answer(200) : TargetStep.answer(429)
        }
        let queue = try TestQueue()
        try queue.insert(12, "url, lane", "'\(target.url)/' || i, 'l'")
        let worker = try RunningWorker(queue.database, concurrency: 6)
        defer { worker.kill() }
        try queue.waitUntilDone(90)
        #expect(try queue.states() == "succeeded 12")
        let arrivals = target.requests.map(\.arrivedAt)
        let longest = zip(arrivals.dropFirst(), arrivals).map { Double($0 - $1) / 1e9 }.max() ?? 0
        // A second, and up to a quarter more by chance. If all refusals counted, it would be 16 s or more.
        #expect(longest < 6)
    }
}
