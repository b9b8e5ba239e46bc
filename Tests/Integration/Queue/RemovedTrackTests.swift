// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import Synchronization
import TestSupport
import Testing

/// The leader removes unused tracks. Jobs that still name them are neither lost nor called twice.
struct RemovedTrackTests {
    /// Simulates the leader while transactions of other sessions stay open.
    private struct Leader {
        let worker: Int64
        let epoch: Int64

        init(_ queue: borrowing TestQueue) throws {
            worker = try queue.number(
                "insert into postrider_internal.workers (name, version, concurrency) values ('w', '1', 1) returning id")
            epoch = try queue.lead(worker)
        }

        /// Removes tracks and returns their number.
        @discardableResult
        func remove(_ queue: borrowing TestQueue, rounds: Int = 1, age: String = "0 s") throws -> Int64 {
            var removed: Int64 = 0
            for _ in 1...rounds {
                removed += try queue.number(
                    "select removed from postrider_internal.remove_tracks(\(worker), \(epoch), 0, 1000, '\(age)')")
            }
            return removed
        }

        /// Waits until no transaction can see the removed tracks. First counts the ends of their jobs.
        func forget(_ queue: borrowing TestQueue) throws {
            _ = try queue.number("select jobs from postrider_internal.fold(\(worker), \(epoch), 0, 100000) limit 1")
            try queue.wait(
                until: "select not is_pending from postrider_internal.remove_tracks(\(worker), \(epoch), 0, 1000)")
        }

        func makeTracks(_ queue: borrowing TestQueue) throws {
            _ = try queue.number("select postrider_internal.make_tracks(\(worker), \(epoch), 1000)")
        }
    }

    private final class Traffic: Sendable {
        let isOver = Atomic<Bool>(false)
    }

    /// The statement of the leader that removes tracks.
    private static let removeAll = """
        select coalesce(sum(r.removed), 0)
          from postrider_internal.leases l cross
            join lateral postrider_internal.remove_tracks(l.owner, l.epoch, 0, 1000, '0 s') r
        """
    private static let numbers = "select coalesce(sum(cardinality(tracks)), 0) from postrider_internal.removed_tracks"
    private static let places = """
        select string_agg(coalesce(t.queue || ' ' || t.lane || ' ' || t.priority, 'none'), ', ' order by j.id)
          from postrider.jobs j
          left join lateral (select track from postrider_internal.ready r where r.job_id = j.id
                             union all select track from postrider_internal.scheduled s where s.job_id = j.id) p on true
          left join postrider_internal.tracks t on t.id = p.track
        """

    private func track(_ queue: borrowing TestQueue, _ lane: String, priority: Int = 0) throws {
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', '\(lane)', \(priority))")
    }

    @Test func `remove_tracks deletes only tracks unused for the given time and never reuses a number`() throws {
        let queue = try TestQueue()
        let leader = try Leader(queue)
        for lane in ["ready", "running", "scheduled", "unused", "new"] { try track(queue, lane) }
        try queue.insert("url, lane", "'http://h/', 'ready'")
        try queue.insert("url, lane", "'http://h/', 'running'")
        try queue.insert("url, lane, run_at", "'http://h/', 'scheduled', now() + interval '1 day'")
        try queue.connection.execute(
            """
            update postrider_internal.ready set worker = 7 where job_id = 2;
            update postrider_internal.tracks set last_used = now() - interval '25 h', made_at = '-infinity'
              where lane <> 'new'
            """)
        #expect(try leader.remove(queue, age: "1 day") == 1)
        let left = "select string_agg(lane, ' ' order by id) from postrider_internal.tracks"
        #expect(try queue.text(left) == "ready running scheduled new")
        #expect(try queue.number(Self.numbers) == 1)
        try leader.forget(queue)
        try track(queue, "unused")
        #expect(try queue.number("select max(id) from postrider_internal.tracks") == 6)
        // A folded finish counts as use.
        try queue.connection.execute(
            """
            update postrider_internal.tracks set last_used = now() - interval '25 h', made_at = '-infinity';
            insert into postrider_internal.job_deltas (tracks, states, jobs) values ('{6}', '{s}', '{1}')
            """)
        _ = try queue.number(
            "select jobs from postrider_internal.fold(\(leader.worker), \(leader.epoch), 0, 1000) limit 1")
        #expect(try leader.remove(queue, age: "1 day") == 1)
        #expect(try queue.text(left) == "ready running scheduled unused")
    }

    @Test(arguments: ["begin", "begin isolation level repeatable read; select count(*) from postrider_internal.tracks"])
    func `rows written by a transaction open across a track removal get a new track`(begin: String) throws {
        let queue = try TestQueue()
        let leader = try Leader(queue)
        for lane in ["a", "b", "c", "retry"] { try track(queue, lane) }
        let failed = try queue.insert("url, lane", "'http://h/', 'retry'")
        try queue.connection.execute(
            """
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state) select job_id, 1, track, 'f'
              from gone
            """)
        let client = try PGConnection(queue.database)
        try client.execute(begin)
        let isEarly = begin == "begin"
        let write = """
            insert into postrider.jobs (url, lane) values ('http://h/', 'a');
            insert into postrider.jobs (url, lane, run_at) values ('http://h/', 'b', now() + interval '1 day');
            insert into postrider.jobs (url, lane) select 'http://h/' || i, 'c' from generate_series(1, 300) i;
            select postrider.retry(\(failed))
            """
        if isEarly { try client.execute(write) }
        #expect(try leader.remove(queue, rounds: 5) == 4)
        // The number is kept as long as the transaction may write it.
        #expect(try queue.number(Self.numbers) == 4)
        if !isEarly { try client.execute(write) }
        #expect(try leader.remove(queue, rounds: 3) == 0)
        try client.execute("commit")
        let id = try queue.number("select min(id) from postrider.jobs where lane = 'a'")
        #expect(try queue.state(id) == "ready")
        #expect(try queue.text("select postrider.explain(\(id))")?.contains("is ready") == true)
        try leader.remove(queue, rounds: 3)
        #expect(try queue.number("select count(*) from postrider_internal.ready where track > 0") == 0)
        try leader.makeTracks(queue)
        #expect(try queue.number("select count(*) from postrider_internal.ready where track > 4") == 302)
        #expect(try queue.number("select count(*) from postrider_internal.scheduled where track = 0") == 1)
        let lanes = "select string_agg(distinct lane, ' ') from postrider_internal.tracks"
        #expect(try queue.text(lanes) == "a c retry")
        #expect(try queue.number("select postrider.cancel_all(lane => 'a') + postrider.cancel_all(lane => 'b')") == 2)
        try leader.forget(queue)
    }

    @Test func `a retry finds or creates the removed track of a job, and totals keep their queue`() throws {
        let queue = try TestQueue()
        let leader = try Leader(queue)
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) select 'q', 'l' || i, 3 from generate_series(1, 3) i"
        )
        try queue.insert(3, "url, queue, lane, priority", "'http://h/', 'q', 'l' || i, 3")
        try queue.connection.execute(
            """
            with gone as (delete from postrider_internal.ready returning *),
            tally as (insert into postrider_internal.job_deltas (tracks, states, jobs) select array[track], '{f}', '{1}'
                      from gone)
            insert into postrider_internal.results (job_id, attempt, track, state) select job_id, 1, track, 'f'
              from gone
            """)
        // The deltas of these tracks are not folded yet.
        #expect(try leader.remove(queue, rounds: 6) == 3)
        #expect(try queue.number(Self.numbers) == 3)
        #expect(try queue.text("select queue || failed from postrider.queue_status where failed > 0") == "q3")
        let fold = "select jobs from postrider_internal.fold(\(leader.worker), \(leader.epoch), 0, 1000) limit 1"
        _ = try queue.number(fold)
        try leader.forget(queue)
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('q', 'l1', 3)")
        let row = try queue.rows("select queue, lane, priority::text, state from postrider.job_status where id = 2")
        #expect(row == [["q", "l2", "3", "failed"]])
        _ = try queue.text("select postrider.retry(1)::text")
        #expect(try queue.number("select postrider.retry_failed(lane => 'l3', queue => 'q')") == 1)
        #expect(try queue.number("select postrider.retry_failed(lane => 'other')") == 0)
        #expect(try queue.number("select postrider.retry_failed()") == 1)
        #expect(
            try queue.text("select string_agg(track::text, ' ' order by job_id) from postrider_internal.ready")
                == "4 0 0")
        try leader.makeTracks(queue)
        #expect(try queue.text(Self.places) == "q l1 3, q l2 3, q l3 3")
        _ = try queue.number(fold)
        let totals = try queue.rows(
            "select queue, state::text, sum(jobs)::text from postrider_internal.job_totals group by 1, 2")
        #expect(totals == [["q", "f", "0"]])
    }

    @Test func `an open reschedule keeps its new priority across a track removal`() throws {
        let queue = try TestQueue()
        let leader = try Leader(queue)
        try track(queue, "l", priority: 0)
        try track(queue, "l", priority: 7)
        let id = try queue.insert("url, lane", "'http://h/', 'l'")
        let client = try PGConnection(queue.database)
        try client.execute("begin; select postrider.reschedule(\(id), priority => 7)")
        #expect(try leader.remove(queue) == 0)
        try client.execute("commit")
        #expect(try leader.remove(queue) == 1)
        #expect(try queue.text(Self.places) == "default l 7")
        try queue.connection.execute("delete from postrider_internal.scheduled")
        #expect(try leader.remove(queue) == 1)
    }

    @Test func `a job committed late on a removed track respects a lane pause and runs afterwards`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        var workers = try [RunningWorker(queue.database, concurrency: 2)]
        let first = try queue.insert("url, lane", "'\(target.url)/ok/first', 'l'")
        try queue.wait(for: first, toBe: "succeeded")
        for isPaused in [false, true] {
            let client = try PGConnection(queue.database)
            try client.execute("begin; insert into postrider.jobs (url, lane) values ('\(target.url)/ok/late', 'l')")
            #expect(try queue.number(Self.removeAll) == 1)
            if isPaused { _ = try queue.text("select postrider.pause_lane('l')::text") }
            // Another leader continues the removal.
            #expect(workers.removeFirst().end(SIGTERM) == 0)
            workers = try [RunningWorker(queue.database, concurrency: 2)]
            try queue.wait(until: "select until > now() from postrider_internal.leases")
            let number = try queue.number(Self.numbers)
            try client.execute("commit")
            if isPaused {
                let isPlaced =
                    "exists (select from postrider_internal.ready r join postrider_internal.tracks t on t.id = r.track)"
                try queue.wait(until: "select \(isPlaced)")
                #expect(target.requests.count == 2)
                _ = try queue.text("select postrider.resume_lane('l')::text")
            }
            try queue.waitUntilDone()
            #expect(number == 1)
            try queue.wait(until: "select (\(Self.numbers)) = 0")
        }
        #expect(try queue.states() == "succeeded 3")
        #expect(target.requests.count == 3)
    }

    @Test func `track removal under load loses no job and repeats no call`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = try (1...2).map { _ in try RunningWorker(queue.database, concurrency: 16) }
        defer { workers.kill() }
        try queue.insert(12_000, "url, queue, lane", "'\(target.url)/ok/' || i, 'q', 'many ' || i % 10")
        let (database, url) = (queue.database, target.url)
        let traffic = Traffic()
        let client = BackgroundThread {
            defer { traffic.isOver.store(true, ordering: .relaxed) }
            guard let connection = try? PGConnection(database) else { return }
            for number in 1...Soak.count(2_000, reduced: 150) {
                let isOpen = number % 3 == 0
                let later = number % 5 == 0 ? "20 ms" : "0 s"
                try? connection.execute(
                    """
                    begin\(number % 6 == 0 ? " isolation level repeatable read; select count(*) from postrider_internal.tracks" : "");
                    insert into postrider.jobs (url, queue, lane, run_at)
                    values ('\(url)/ok/one/\(number)', 'q', 'l\(number % 7)', now() + interval '\(later)')
                    """)
                if isOpen { TestClock.sleep(milliseconds: 30) }
                try? connection.execute("commit")
            }
        }
        while !traffic.isOver.load(ordering: .relaxed) {
            _ = try queue.number(
                Self.removeAll)
            TestClock.sleep(milliseconds: 5)
        }
        client.join()
        try queue.waitUntilDone(120)
        // No job is unfinished, so all tracks can be removed. Lanes that return get new tracks.
        try queue.wait(
            until:
                "select exists (select from (\(Self.removeAll)) r) and (select count(*) < 17 from postrider_internal.tracks)"
        )
        try queue.insert(20, "url, queue, lane", "'\(target.url)/ok/' || i, 'q', 'l' || i % 7")
        try queue.waitUntilDone(60)
        let jobs = try queue.number("select count(*) from postrider.jobs")
        #expect(try queue.states() == "succeeded \(jobs)")
        #expect(target.requests.count == jobs)
        try queue.wait(until: "select succeeded = \(jobs) from postrider.queue_status where queue = 'q'")
        #expect(try queue.number("select max(id) from postrider_internal.tracks") > 17, "no track was removed")
    }

    @Test func `the cost of views does not grow with the number of removed tracks`() throws {
        let cluster = try TestQueue.quietCluster()
        let queue = try TestQueue(on: cluster)
        let leader = try Leader(queue)
        for lane in 1...20 { try track(queue, "live \(lane)") }
        try queue.insert(200, "url, lane", "'http://h/', 'live ' || 1 + i % 20")
        let views = [
            "select * from postrider.lane_status", "select * from postrider.queue_status",
            "select postrider.newest_jobs('ready')",
            "select postrider.explain(200)", "select postrider_internal.lane_jobs_before(1, 1000)",
            "select * from postrider_internal.remove_tracks(\(leader.worker), \(leader.epoch), 0, 100)",
        ]
        func cost() throws -> [Int] {
            try queue.connection.execute("vacuum analyze")
            for view in views { _ = try queue.buffers(view) }
            return try views.map { try queue.buffers($0) }
        }
        let before = try cost()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority, made_at, last_used)
            select 'default', 'dead ' || i, 0, '-infinity', '-infinity' from generate_series(1, 20000) i
            """)
        try track(queue, "live 21")
        for round in 0..<20 {
            _ = try queue.number(
                "select removed from postrider_internal.remove_tracks(\(leader.worker), \(leader.epoch), \(round * 1000), 1000)"
            )
            try leader.forget(queue)
        }
        _ = try leader.remove(queue, rounds: 6, age: "1 h")
        #expect(try queue.number("select count(*) from postrider_internal.tracks") == 21)
        for (view, (old, new)) in zip(views, zip(before, try cost())) {
            #expect(new < 2 * old + 400, "\(view): \(old) buffers before, \(new) after")
        }
    }
}
