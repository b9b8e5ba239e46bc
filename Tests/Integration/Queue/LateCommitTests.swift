// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import Synchronization
import TestSupport
import Testing

/// Transactions that insert early and commit late, below the watermarks of the workers.
struct LateCommitTests {
    private final class Commits: Sendable {
        let moments = Mutex<[Int: UInt64]>([:])
        let isOver = Atomic<Bool>(false)
    }

    @Test func `a job that is committed seconds after its INSERT runs within 2 s of the commit`() throws {
        let cluster = try PrivateCluster(.init(settings: ["max_connections": "300"]))
        defer { cluster.remove() }
        let inserters = Soak.count(200, reduced: 50)
        let open = Soak.count(5_000, reduced: 2_000)
        let target = try TargetServer()
        let queue = try TestQueue(on: cluster)
        let database = queue.database
        let workers = try (1...2).map { _ in try RunningWorker(database, concurrency: 16) }
        defer { workers.kill() }
        try queue.insert("url", "'\(target.url)/ok/first'")
        try queue.waitUntilDone()

        let commits = Commits()
        let url = target.url
        let traffic = BackgroundThread {
            guard let connection = try? PGConnection(database) else { return }
            var number = 0
            while !commits.isOver.load(ordering: .relaxed) {
                number += 1
                try? connection.execute(
                    "insert into postrider.jobs (url) select '\(url)/ok/t/\(number)/' || i from generate_series(1, 20) i"
                )
                TestClock.sleep(milliseconds: 20)
            }
        }
        let late = (1...inserters).map { number in
            BackgroundThread {
                TestClock.sleep(milliseconds: number * 10)
                guard let connection = try? PGConnection(database) else { return }
                do {
                    // Every second job is scheduled, and due before its commit.
                    try connection.execute(
                        """
                        begin;
                        insert into postrider.jobs (url, run_at)
                        values ('\(url)/ok/late/\(number)', now() + \(number % 2) * interval '300 ms')
                        """)
                    TestClock.sleep(milliseconds: open)
                    try connection.execute("commit")
                    let moment = TestClock.now
                    commits.moments.withLock { $0[number] = moment }
                } catch {
                    return
                }
            }
        }
        for thread in late { thread.join() }
        commits.isOver.store(true, ordering: .relaxed)
        traffic.join()
        try queue.waitUntilDone(20)
        let moments = commits.moments.withLock { $0 }
        #expect(moments.count == inserters)
        var waits: [Double] = []
        for (number, moment) in moments {
            let call = try #require(target.requests("/ok/late/\(number)").first)
            waits.append(Double(call.arrivedAt) / 1e9 - Double(moment) / 1e9)
        }
        try queue.report(
            .lateCommits, attack: "transactions that stay open for seconds while other jobs run",
            calls: target.requests.count)
        #expect(try #require(waits.max()) < 2)
        #expect(try queue.number("select count(*) from postrider.job_status where state <> 'succeeded'") == 0)
    }

    @Test func `a survey reads known tracks behind their floors and in one slice, and others whole`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) select 'q', 'l' || i, 0
              from generate_series(1, 6) i;
            insert into postrider_internal.ready (seq, job_id, track, max_attempts)
            select s, s, t, 1 from (values (2, 1), (2, 2), (3, 3), (3, 9), (3, 10), (4, 1), (6, 5)) v (t, s)
            """)
        func survey(
            _ known: String, _ floors: String, slice: String = "100, 100", limit: Int = 100, queues: String = "null"
        ) throws -> [[String?]] {
            try queue.rows(
                """
                select track::text, first_seq::text, has_more::text
                  from postrider_internal.survey(\(queues), 0, \(limit), null, null, '\(known)', '\(floors)', \(slice))
                 order by track
                """)
        }
        let end = ["0", "0", nil] as [String?]
        let wide = try survey("{}", "{}")
        #expect(wide == [end, ["2", "1", "true"], ["3", "3", "true"], ["4", "1", "false"], ["6", "5", "false"]])
        #expect(try survey("{1,2,3,5,6}", "{0,0,0,0,0}") == wide)
        #expect(
            try survey("{6,3,1}", "{5,8,7}") == [
                end, ["2", "1", "true"], ["3", "9", "true"], ["4", "1", "false"],
            ])
        #expect(try survey("{3}", "{10}", limit: 2) == [["0", "3", nil], ["2", "1", "true"]])
        // A worker of few tracks visits each of them, also those without rows.
        #expect(try survey("{}", "{}", queues: "'{q,p}'") == wide)
        #expect(try survey("{3}", "{10}", limit: 2, queues: "'{q}'") == [["0", "2", nil], ["2", "1", "true"]])
        #expect(try survey("{}", "{}", queues: "'{p}'") == [end])
        func slice(_ slice: String, floor: Int = 8) throws -> [String?]? {
            let found = try survey("{3}", "{\(floor)}", slice: slice)
            #expect(try survey("{3}", "{\(floor)}", slice: slice, queues: "'{q}'") == found)
            return found.first { $0[0] == "3" }
        }
        #expect(try slice("0, 5") == ["3", "3", "true"])
        #expect(try slice("2, 3", floor: 9) == ["3", "3", "true"])
        #expect(try slice("2, 3", floor: 10) == ["3", "3", "false"])
        #expect(try slice("3, 9", floor: 10) == ["3", "9", "false"])
        #expect(try slice("3, 8") == ["3", "9", "true"])
        // The slice ends at the floor, so no row is counted twice.
        #expect(try slice("0, 100", floor: 9) == ["3", "3", "true"])
        #expect(try slice("9, 100", floor: 9) == ["3", "10", "false"])
        #expect(try slice("10, 100", floor: 10) == nil)
    }
}
