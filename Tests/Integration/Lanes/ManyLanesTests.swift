// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Many lanes: their cost, and the order of jobs inside each.
struct ManyLanesTests {
    @Test func `a worker runs the jobs of each of a thousand lanes in order`() throws {
        let jobs = Soak.count(100, reduced: 10)
        let target = try TargetServer()
        let queue = try TestQueue()
        // Some lanes have a limit that is never reached.
        try queue.connection.execute(
            "insert into postrider.lanes (name, max_in_flight) select 'lane ' || i, 50 from generate_series(1, 20) i")
        try queue.insert(1000 * jobs, "url, lane", "'\(target.url)/ok/' || i, 'lane ' || (i % 1000 + 1)")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        defer { worker.kill() }
        try queue.waitUntilDone(Double(Soak.count(300, reduced: 180)))
        #expect(try queue.states() == "succeeded \(1000 * jobs)")
        let disorder = try queue.number(
            """
            select count(*) from (
              select r.fence < lag(r.fence) over (partition by j.lane order by j.id) as is_late
                from postrider.jobs j join postrider_internal.results r on r.job_id = j.id) o
             where is_late
            """)
        #expect(disorder == 0)
    }

    @Test(arguments: [1, 3]) func `three lanes take turns with one slot and with three slots`(slots: Int) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        for lane in ["a", "b", "c"] {
            try queue.insert(30, "url, lane", "'\(target.url)/ok/\(lane)/' || i, '\(lane)'")
        }
        let worker = try RunningWorker(queue.database, concurrency: slots)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let first = target.requests.prefix(45).map(\.path)
        for lane in ["a", "b", "c"] {
            let share = first.count { $0.hasPrefix("/ok/\(lane)/") }
            #expect((10...20).contains(share), "\(lane): \(share) of the first 45")
        }
    }

    @Test func `the cost of claim, survey and permits does not grow with a blocked lane's backlog`() throws {
        let cluster = try TestQueue.quietCluster()
        let queue = try TestQueue(on: cluster)
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'bench', '0.1.0', null, 64, '{}', '{}')")
        let epoch = try queue.lead(worker)
        try queue.connection.execute(
            """
            insert into postrider.lanes (name, max_in_flight, rate_limit) values ('full', 10, 50);
            insert into postrider.lanes (name, paused_until) values ('paused', 'infinity')
            """)
        func fill(_ count: Int, _ lane: String) throws {
            while true {
                let there = try Int(
                    queue.number(
                        "select count(*) from postrider_internal.ready r join postrider_internal.tracks t on t.id = r.track where t.lane = '\(lane)'"
                    ))
                guard there < count else { return }
                try queue.insert(min(9_000, count - there), "url, lane", "'http://h/' || i, '\(lane)'")
                while try queue.number(
                    "select more::int from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
                    == 1
                {}
            }
        }
        func cost() throws -> [Int] {
            try queue.connection.execute("vacuum analyze")
            let tracks = try queue.text("select array_agg(id order by lane)::text from postrider_internal.tracks") ?? ""
            let lane = try queue.number("select id from postrider.lanes where name = 'full'")
            // A claim without permits gets no job of the limited lane. No claim gets a job of the paused lane.
            let claim = """
                select * from postrider_internal.claim(\(worker)::int, 0::bigint, 4, '\(tracks)'::int[], '{4,4,4}',
                                                       '{0,0,0}', true, '{0,0,0}')
                """
            let draw =
                "select * from postrider_internal.acquire_lane_permits(\(worker)::int, '{\(lane)}', '{0}', '{64}', '{8}')"
            for sql in [claim, draw] { _ = try queue.rows("select count(*)::text from (\(sql)) x") }
            let costs = try [claim, "select * from postrider_internal.survey(null)", draw].map { sql in
                try queue.connection.execute("begin")
                defer { try? queue.connection.execute("rollback") }
                return try queue.buffers(sql)
            }
            #expect(
                try queue.number(
                    "select count(*) from postrider_internal.ready r join postrider_internal.tracks t on t.id = r.track where t.lane <> 'free' and r.worker > 0"
                )
                    == 0)
            return costs
        }
        for lane in ["full", "paused", "free"] { try fill(1_000, lane) }
        let short = try cost()
        for lane in ["full", "paused"] { try fill(Soak.count(1_000_000, reduced: 60_000), lane) }
        let long = try cost()
        for (before, after) in zip(short, long) {
            // One more level of the index may cost a page for each lookup.
            #expect(Double(after) <= 1.2 * Double(before) + 4, "claim, survey, draw: \(short), with a backlog \(long)")
        }
    }
}
