// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// One client's INSERT names a lane for each of its rows. The jobs of another client do not wait for it.
struct LaneFloodTests {
    private static let jobs = Soak.count(300_000, reduced: 20_000)

    /// Starts two workers with 16 slots each and the flood, and waits until a hundred jobs have ended.
    private func flood(_ queue: borrowing TestQueue, _ target: TargetServer, priority: Int) throws -> [RunningWorker] {
        let workers = try (1...2).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        let first = try queue.insert("url, lane", "'\(target.url)/ok/first', 'first'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.insert(Self.jobs, "url, lane, priority", "'\(target.url)/ok/' || i, 'flood ' || i, \(priority)")
        try queue.wait(until: "select count(*) > 100 from postrider_internal.results")
        return workers
    }

    /// The number of unfinished jobs of the flood.
    private func left(_ queue: borrowing TestQueue) throws -> Int {
        try Int(
            queue.number(
                """
                select count(*) from postrider.jobs j
                 where not exists (select from postrider_internal.results r where r.job_id = j.id)
                """))
    }

    private static let waits = """
        select (extract(epoch from percentile_disc(%) within group (order by r.started_at - j.created_at)) * 1000)::bigint
          from postrider.jobs j join postrider_internal.results r on r.job_id = j.id where j.tag = 'other'
        """

    @Test func `jobs of one lane start within a second during a flood of one-job lanes`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = try flood(queue, target, priority: 0)
        defer { workers.kill() }
        try queue.insert(120, "url, lane, tag", "'\(target.url)/ok/' || i, 'other', 'other'")
        try queue.wait(
            60,
            until: """
                select count(*) = 120 from postrider_internal.results r join postrider.jobs j on j.id = r.job_id
                 where j.tag = 'other'
                """)
        let left = try left(queue)
        #expect(left > Self.jobs / 2, "\(left) of \(Self.jobs) left")
        #expect(try queue.number(Self.waits.replacing("%", with: "0.99")) < Int64(Soak.seconds(1) * 1000))
    }

    @Test func `higher-priority jobs start at once during a flood of lanes, also on new lanes`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = try flood(queue, target, priority: -100)
        defer { workers.kill() }
        let count = Soak.count(50, reduced: 20)
        for i in 1...count {
            let lane = i % 2 == 0 ? "first" : "other \(i)"
            let id = try queue.insert("url, lane, tag", "'\(target.url)/ok/high', '\(lane)', 'other'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        #expect(try left(queue) > 0, "the flood was over before them")
        #expect(try queue.number(Self.waits.replacing("%", with: "0.5")) < Int64(Soak.seconds(0.1) * 1000))
        #expect(try queue.number(Self.waits.replacing("%", with: "0.9")) < Int64(Soak.seconds(0.2) * 1000))
    }

    @Test func `an INSERT uses the intake only for tracks with intake rows, and tracks keep their order`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(6_000, "url, lane", "'\(target.url)/ok/' || i, 'flood ' || i % 3000")
        try queue.insert("url, lane", "'\(target.url)/ok/first', 'other'")
        try queue.insert("url, lane", "'\(target.url)/ok/second', 'flood 7'")
        try queue.insert("url, lane, priority", "'\(target.url)/ok/third', 'flood 7', 1")
        try queue.insert(300, "url, lane", "'\(target.url)/ok/' || i, 'flood ' || 2 * i")
        #expect(
            try queue.text(
                """
                select string_agg(j.lane || j.priority, ' ' order by j.id)
                  from postrider_internal.ready r join postrider.jobs j on j.id = r.job_id
                """) == "other0 flood 71")
        #expect(try queue.number("select sum(jobs) from postrider_internal.intake") == 6_301)
        try queue.insert(1_500, "url, lane", "'\(target.url)/ok/' || i, 'flood ' || 3 * i")
        #expect(try queue.number("select count(*) from postrider_internal.intake") < 400, "lists of a single job")
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        try queue.waitUntilDone(Double(Soak.count(60, reduced: 180)))
        #expect(try queue.states() == "succeeded 7803")
        let disorder = try queue.number(
            """
            select count(*) from (
              select r.fence < lag(r.fence) over (partition by j.lane, j.priority order by j.id) as is_late
                from postrider.jobs j join postrider_internal.results r on r.job_id = j.id) o
             where is_late
            """)
        #expect(disorder == 0)
    }

    @Test func `an INSERT with a lane per row makes under 100 intake lists and keeps row settings`() throws {
        let queue = try TestQueue()
        try queue.insert(
            12_000, "url, lane, queue, expires_at, max_attempts, notify, priority",
            """
            'http://h/', 'l' || i, 'q' || i % 5000, '2100-01-01'::timestamptz + i * interval '1 s', 1 + i % 7,
            i % 2 = 0, i % 3
            """)
        let lists = try queue.number("select count(*) from postrider_internal.intake")
        #expect(lists < 100, "\(lists)")
        #expect(try queue.number("select ready from postrider.queue_status where queue = 'q7'") == 3)
        #expect(try queue.number("select ready from postrider.lane_status where lane = 'l7'") == 1)
        #expect(try queue.number("select count(*) from postrider.newest_jobs('ready', 'q7', 10)") == 3)
        let id = try queue.number("select max(id) from postrider.jobs where queue = 'q7'")
        let explained = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(explained.contains("a large INSERT added it, and the leader is moving these jobs to lane"))
        #expect(try queue.number("select postrider.cancel(\(id))::int") == 1)
        #expect(try queue.number("select sum(jobs) from postrider_internal.intake") == 11_999)
        #expect(try queue.number("select postrider.cancel_all(queue => 'q8', lane => 'l8')") == 1)
        _ = try queue.number("select postrider_internal.feed(array(select id from postrider_internal.intake))")
        #expect(
            try queue.number(
                """
                select count(*) from postrider_internal.ready r join postrider.jobs j on j.id = r.job_id
                 where r.expires_at = j.expires_at and r.max_attempts = j.max_attempts and r.has_callbacks = j.notify
                """) == 11_998)
    }

    @Test func `the leader feeds lists of many lanes only while slots are free and few calls begin`() throws {
        let queue = try TestQueue()
        try queue.insert(20_000, "url, lane", "'http://h/', 'l' || i")
        let leader = try queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 4) returning id")
        let epoch = try queue.lead(leader)
        func fed(inFlight: Int, begun: Int = 0) throws -> Int64 {
            try queue.connection.execute(
                """
                update postrider_internal.workers set in_flight = \(inFlight);
                delete from postrider_internal.ready
                  where seq in (select seq from postrider_internal.ready order by seq limit \(begun));
                update postrider_internal.feed_cursors set at = now() - interval '1 s'
                """)
            return try queue.number("select postrider_internal.feed_crowd(\(leader), \(epoch), 5000)")
        }
        let first = try fed(inFlight: 0)
        #expect(first > 200)
        #expect(try fed(inFlight: 4) == 0)
        #expect(try fed(inFlight: 3, begun: 1) == 0)
        #expect(try fed(inFlight: 0, begun: 70) == 0, "calls begin")
        #expect(try fed(inFlight: 2, begun: 1) > 0)
    }

    @Test func `the leader makes tracks for the highest priority first, then for lanes in turn`() throws {
        let queue = try TestQueue()
        try queue.insert(40, "url, lane, priority", "'http://h/', case when i <= 20 then 'a' else 'l' || i end, i / 40")
        let leader = try queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 1) returning id")
        let epoch = try queue.lead(leader)
        func moved() throws -> String? {
            _ = try queue.number("select postrider_internal.make_tracks(\(leader), \(epoch), 10)")
            return try queue.text(
                "select string_agg(job_id::text, ' ' order by seq) from postrider_internal.ready where track > 0")
        }
        #expect(try moved() == "1 21 22 23 24 25 26 27 28 40")
        #expect(try moved()?.hasPrefix("1 2 21 22 23 24 25 26 27 28 29") == true)
        for _ in 1...3 { _ = try moved() }
        #expect(try queue.number("select count(*) from postrider_internal.ready where track = 0") == 0)
    }

    @Test func `the leader feeds the highest priority first, then lanes in turn regardless of their backlog`() throws {
        let queue = try TestQueue()
        try queue.insert(60_000, "url, lane", "'http://h/', 'much'")
        try queue.insert(12_000, "url, lane", "'http://h/', 'some ' || i % 3")
        try queue.insert(12_000, "url, lane, priority", "'http://h/', 'high', 1")
        let leader = try queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 1) returning id")
        let epoch = try queue.lead(leader)
        func fed() throws -> [String?] {
            _ = try queue.number("select postrider_internal.feed_next(\(leader), \(epoch), 10000)")
            return try queue.rows(
                """
                select t.lane || ' ' || count(*) from postrider_internal.ready r
                  join postrider_internal.tracks t on t.id = r.track
                 group by t.lane order by t.lane
                """
            ).map { $0[0] }
        }
        #expect(try fed() == ["high 10000"])
        #expect(try fed() == ["high 12000", "much 2000", "some 0 2000", "some 1 2000", "some 2 2000"])
        for _ in 1...3 { _ = try fed() }
        let counts = try fed()
        #expect(counts.dropFirst(2) == ["some 0 4000", "some 1 4000", "some 2 4000"], "\(counts)")
    }
}
