// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Lane limits, measured at the server.
struct LaneLimitTests {
    /// The highest number of concurrent requests.
    static func mostAtOnce(_ requests: [TargetRequest]) -> Int {
        let edges = requests.flatMap { [($0.arrivedAt, 1), ($0.endedAt ?? .max, -1)] }
        var count = 0
        var most = 0
        for edge in edges.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            count += edge.1
            most = max(most, count)
        }
        return most
    }

    static func mostInASecond(_ requests: [TargetRequest]) -> Int {
        let arrivals = requests.map(\.arrivedAt).sorted()
        var most = 0
        var first = 0
        for place in arrivals.indices {
            while arrivals[place] - arrivals[first] >= 1_000_000_000 { first += 1 }
            most = max(most, place - first + 1)
        }
        return most
    }

    @Test func `four workers together use and respect lane limits of 10 calls and 50 a second`() throws {
        let seconds = Soak.count(60, reduced: 4)
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.lanes (name, max_in_flight, rate_limit) values ('l', 10, 50)")
        let workers = try (1...4).map { _ in try RunningWorker(queue.database, concurrency: 64) }
        defer { workers.kill() }
        for worker in workers { try worker.wait(for: "enlisted") }
        try queue.insert(50 * seconds, "url, lane", "'\(target.url)/wait/60/' || i, 'l'")
        try queue.waitUntilDone(Double(seconds) * 5 + 20)
        let requests = target.requests
        try queue.report(
            .lanes, attack: "four workers want 64 calls each where 10 and 50 a second are allowed",
            calls: requests.count)
        #expect(try queue.states() == "succeeded \(50 * seconds)")
        #expect(requests.count == 50 * seconds)
        #expect(Self.mostAtOnce(requests) <= 10)
        // Evenly sent calls may arrive together on a machine that is busy with other tests.
        let most = Self.mostInASecond(requests)
        #expect(most <= (Soak.isOn ? 51 : 100))
        let first = try #require(requests.first).arrivedAt
        let took = Double(try #require(requests.last).arrivedAt - first) / 1_000_000_000

        #expect(took >= 0.75 * Double(seconds))
        if Soak.isOn { #expect(took <= Double(seconds) / 0.95, "\(took) s, \(most) in a second") }
    }

    @Test func `acquiring lane permits keeps the session's synchronous_commit, and returning permits turns it off`()
        throws
    {
        let queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        let lane = try queue.number(
            "insert into postrider.lanes (name, max_in_flight) values ('l', 10) returning id")
        try queue.connection.execute("set synchronous_commit = 'local'; begin")
        // Acquiring permits waits for the disk as the session demands. Returning permits need not wait.
        for (wanted, commit) in [(4, "local"), (0, "off")] {
            _ = try queue.rows(
                "select share::text from postrider_internal.acquire_lane_permits(\(worker)::int, '{\(lane)}', '{0}', '{\(wanted)}', '{0}')"
            )
            #expect(try queue.text("show synchronous_commit") == commit)
            try queue.connection.execute("commit; begin")
        }
    }

    @Test func `another worker gets a killed worker's lane permits, and the limit holds throughout`() throws {
        // The first three calls never end.
        let target = try TargetServer { request in
            request.path.hasPrefix("/first") && request.turn == 1
                ? [.hang] : [.pause(milliseconds: 20)] + TargetStep.answer(200)
        }
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('l', 3)")
        let first = try RunningWorker(queue.database, concurrency: 16)
        try queue.insert(3, "url, lane", "'\(target.url)/first/' || i, 'l'")
        try TestClock.wait(20, for: "three calls") { target.underWay == 3 }
        let second = try RunningWorker(queue.database, concurrency: 16)
        try second.wait(for: "enlisted")
        try queue.insert(60, "url, lane", "'\(target.url)/then/' || i, 'l'")
        try queue.wait(
            until: "select exists (select from postrider_internal.lane_permits where permits = 0 and wanted > 0)")
        #expect(target.requests.count == 3)
        let explained = try queue.text("select postrider.explain(max(id)) from postrider.jobs") ?? ""
        #expect(explained.contains("at its limit of 3 call(s) in flight"), "\(explained)")
        let killed = TestClock.now
        first.end(SIGKILL)
        try queue.waitUntilDone(60)
        try queue.report(.lanes, attack: "SIGKILL of the worker with all permits", calls: target.requests.count)
        #expect(try queue.states() == "succeeded 63")
        #expect(Self.mostAtOnce(target.requests) == 3)
        let next = try #require(target.requests.dropFirst(3).first).arrivedAt
        #expect(next - killed < 5 * 15_000_000_000)
        if Soak.isOn { #expect(next - killed < 15_000_000_000) }
    }

    @Test func `a lane at its limit delays no other lane, even with a large high-priority backlog`() throws {
        let target = try TargetServer { request in
            request.path.hasPrefix("/stuck") ? [.hang] : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('stuck', 2)")
        try queue.insert(
            Soak.count(1_000_000, reduced: 20_000), "url, lane, priority", "'\(target.url)/stuck/' || i, 'stuck', 4")
        let worker = try RunningWorker(queue.database, concurrency: 16)
        try TestClock.wait(60, for: "two calls") { target.underWay == 2 }
        try queue.insert(2_000, "url", "'\(target.url)/free/' || i")
        try queue.wait(60, until: "select count(*) = 2000 from postrider_internal.results")
        #expect(target.requests.count { $0.path.hasPrefix("/stuck") } == 2)
        // A worker without other work must idle. A busy loop would use CPU time for this whole period.
        let used = worker.cpuSeconds
        let start = TestClock.now
        TestClock.sleep(milliseconds: 700)
        #expect(worker.cpuSeconds - used < 0.5 * TestClock.seconds(since: start))
    }

    @Test func `workers follow a lane limit that is added, changed or deleted during use`() throws {
        let target = try TargetServer { _ in [.pause(milliseconds: 250)] + TargetStep.answer(200) }
        let queue = try TestQueue()
        let workers = try [
            RunningWorker(queue.database, concurrency: 16), RunningWorker(queue.database, concurrency: 16),
        ]
        defer { workers.kill() }
        try queue.insert(100_000, "url, lane", "'\(target.url)/' || i, 'l'")
        func settles(at limit: Int) throws {
            // Each change takes effect within a second or two, or later on a slow machine.
            try TestClock.wait(20, for: "\(limit) calls at once") {
                var most = 0
                for _ in 1...60 {
                    most = max(most, target.underWay)
                    TestClock.sleep(milliseconds: 10)
                }
                return most == limit
            }
        }
        try settles(at: 32)
        for limit in [3, 9, 5] {
            try queue.connection.execute(
                """
                insert into postrider.lanes (name, max_in_flight) values ('l', \(limit))
                on conflict (name) do update set max_in_flight = excluded.max_in_flight
                """)
            try settles(at: limit)
        }
        try queue.connection.execute("delete from postrider.lanes")
        try settles(at: 32)
    }

    @Test func `workers of different queues share the permits of a lane`() throws {
        let target = try TargetServer { _ in [.pause(milliseconds: 30)] + TargetStep.answer(200) }
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('l', 4)")
        let one = try RunningWorker(queue.database, concurrency: 16, ["--queue", "one"])
        defer { one.kill() }
        try queue.insert(20_000, "url, lane, queue", "'\(target.url)/one/' || i, 'l', 'one'")
        try TestClock.wait(20, for: "four calls") { target.underWay == 4 }
        let two = try RunningWorker(queue.database, concurrency: 16, ["--queue", "two"])
        defer { two.kill() }
        try queue.insert(40, "url, lane, queue", "'\(target.url)/two/' || i, 'l', 'two'")
        try TestClock.wait(30, for: "the other queue's calls") {
            target.requests.count { $0.path.hasPrefix("/two") } == 40
        }
        #expect(Self.mostAtOnce(target.requests) <= 4)
    }

    @Test func `a rate of 1 a second spaces calls by over 0.5 s and appears in lane_status`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.lanes (name, rate_limit, rate_period) values ('l', 1, '1 s')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert(4, "url, lane", "'\(target.url)/ok/' || i, 'l'")
        try queue.waitUntilDone()
        let arrivals = target.requests.map(\.arrivedAt)
        for (earlier, later) in zip(arrivals, arrivals.dropFirst()) { #expect(later - earlier > 500_000_000) }
        #expect(
            try queue.rows(
                "select ready::text, rate_limit::text, rate_period::text, max_in_flight::text from postrider.lane_status where lane = 'l'"
            ) == [["0", "1", "00:00:01", nil]])
    }

    @Test(.enabled(if: Soak.isOn))
    func `a worker cut off from the database aborts its limited calls before another worker starts any`() throws {
        let target = try TargetServer { request in
            request.turn == 1 ? [.hang] : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        let other = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('l', 2)")
        let first = try RunningWorker(queue.database, concurrency: 8)
        try queue.insert(2, "url, lane", "'\(target.url)/' || i, 'l'")
        try TestClock.wait(20, for: "two calls") { target.underWay == 2 }
        let sessions =
            try queue.text(
                """
                select string_agg(pid::text, ',') from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                """) ?? ""
        let second = try RunningWorker(queue.database, concurrency: 8)
        try second.wait(for: "enlisted")
        // Open connections stay, but the first worker cannot reconnect.
        let name = try queue.text("select current_database()") ?? ""
        try other.connection.execute("alter database \"\(name)\" allow_connections false")
        _ = try queue.rows("select pg_terminate_backend(pid)::text from unnest('{\(sessions)}'::int[]) pid")
        try queue.waitUntilDone(60)
        #expect(LaneLimitTests.mostAtOnce(target.requests) == 2)
        #expect(target.requests.count == 4)
        #expect(target.requests.prefix(2).map(\.isAborted) == [true, true])
        #expect(first.isRunning)
    }
}
