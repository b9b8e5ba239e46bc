// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Many calls at once in real time. The tests run one at a time, because each measures.
@Suite(.serialized)
struct ConcurrencyTests {
    @Test(arguments: Soak.isOn ? [(8, 80), (64, 640)] : [(8, 80)])
    func `ten rounds of one-second calls leave slots idle for less than 2 seconds`(concurrency: Int, calls: Int) throws
    {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: concurrency)
        defer { worker.kill() }
        try worker.wait(for: "enlisted")
        let start = TestClock.now
        try queue.insert(calls, "url", "'\(httpbin.url)/delay/1'")
        try queue.waitUntilDone(40)
        let took = TestClock.seconds(since: start)
        // The length of a call depends on the server and the machine. The worker is responsible for idle slots.
        let inCalls = try queue.number("select sum(total_us) from postrider_internal.results")
        let idle = took - Double(inCalls) / 1_000_000 / Double(concurrency)
        #expect(took >= 10 && idle < Soak.seconds(2))
        if Soak.isOn { #expect(took < 12) }
        #expect(try queue.states() == "succeeded \(calls)")
    }

    @Test func `8 hanging calls do not delay fast calls in other slots`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64)
        defer { worker.kill() }
        try worker.wait(for: "enlisted")
        try queue.insert(8, "url", "'\(target.url)/hang/' || i")
        try TestClock.wait(5, for: "8 slow calls") { target.underWay == 8 }
        for turn in 1...30 {
            try queue.insert(20, "url", "'\(target.url)/wait/10/\(turn)/' || i")
            try TestClock.wait(20, for: "the calls of turn \(turn)") { target.requests.count == 8 + 20 * turn }
        }
        try queue.wait(2, until: "select count(*) = 600 from postrider_internal.results")
        #expect(target.underWay == 8)
        let slowest = """
            select coalesce(max(extract(epoch from r.started_at - j.created_at) * 1000), 0)::bigint
            from postrider_internal.results r join postrider.jobs j on j.id = r.job_id
            """
        #expect(try queue.number(slowest) < Int64(Soak.seconds(1) * 1000))
        #expect(try queue.number("select postrider.cancel_all()") == 8)
        #expect(try queue.states() == "cancelled 8, succeeded 600")
    }

    @Test func `three workers start jobs out of order by at most their 48 slots`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = try (0..<3).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        for worker in workers { try worker.wait(for: "enlisted") }
        try queue.insert(3_000, "url", "'\(target.url)/wait/10/' || i")
        try queue.waitUntilDone()
        #expect(try queue.number("select count(distinct worker) from postrider_internal.results") == 3)
        let farthest = """
            select max(abs(r.place - r.turn)) from (
              select row_number() over (order by job_id) as place, row_number() over (order by fence, job_id) as turn
                from postrider_internal.results) r
            """
        #expect(try queue.number(farthest) <= 3 * 16)
    }

    @Test func `workers hold no database transaction open during calls`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', '\(target.url)');
            create function public.seen(bigint, text) returns void language sql as 'select';
            insert into postrider.hooks (event, function) values ('will_start', 'public.seen(bigint, text)')
            """)
        let worker = try RunningWorker(queue.database, concurrency: 64)
        defer { worker.kill() }
        let values = "'\(target.url)/held/' || i, (array['at_least_once', 'at_most_once'])[1 + i % 2], (i % 3)::text"
        try queue.insert(30, "url, delivery, tag", values)
        try queue.insert(10, "service, url, extract", "'api', 'held/' || i, '$.a'")
        try TestClock.wait(20, for: "the calls") { target.underWay == 40 }
        let long = Soak.seconds(0.5)
        let start = TestClock.now
        while TestClock.seconds(since: start) < 2 * long {
            let open = try queue.rows(
                """
                select state, query from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                  and xact_start < clock_timestamp() - interval '\(long) s'
                """)
            #expect(open.isEmpty)
            TestClock.sleep(milliseconds: 50)
        }
        #expect(target.underWay == 40)
        target.release()
        try queue.waitUntilDone()
    }
}
