// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Services with several servers, real workers, and targets that the test lets fail.
struct ServerTests {
    @Test func `calls move from a failing server to the next, and no repeatable job fails`() throws {
        let queue = try TestQueue()
        let servers = [
            try FaultyTarget(failing: TargetStep.answer(503), everyNth: 5), try FaultyTarget(), try FaultyTarget(),
        ]
        try queue.addService(servers.map(\.target.url))
        let workers = try (1...2).map { _ in try RunningWorker(queue.database) }
        defer { workers.kill() }
        try queue.insert(
            600, "service, url, method, max_attempts", "'api', 'x/' || i, (array['GET', 'PUT'])[1 + i % 2], 1")
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded 600")
        // At least the 40 calls of the rule, then the calls in flight and the jobs that each worker had claimed.
        #expect((40...300).contains(servers[0].count), "\(servers[0].count)")
        #expect(servers[1].count >= 300)
        #expect(servers[2].count == 0)
        #expect(
            try queue.text("select string_agg(state, ' ' order by position) from postrider.servers")
                == "aside active active")
        let failed = try queue.number("select count(*) from postrider.attempts where status_code = 503")
        #expect(failed >= 4)
        #expect(
            try queue.number(
                "select count(*) from postrider.attempts where server = '\(servers[1].target.url)' and attempt = 1 and status_code = 200"
            )
                == Int64(servers[1].count))
        #expect(try queue.text("select current_position::text || state from postrider.service_status") == "2active")
    }

    @Test func `an at_most_once timeout ends as unknown, and unsent calls move to the next server`() throws {
        let queue = try TestQueue()
        let hanging = try FaultyTarget(failing: [.hang])
        let well = try FaultyTarget()
        try queue.addService([hanging.target.url, well.target.url])
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let columns = "service, url, method, delivery, timeout, backoff"
        let posts = try ["at_most_once", "at_least_once"].map {
            try queue.insert(columns, "'api', 'x', 'POST', '\($0)', '200 ms', '{0 s}'")
        }
        let get = try queue.insert(columns, "'api', 'x', 'GET', 'at_least_once', '200 ms', '{0 s}'")
        try queue.wait(for: get, toBe: "succeeded")
        try queue.wait(for: posts[0], toBe: "unknown")
        // A POST that the server may have received is retried after a backoff, and not at once at another server.
        try queue.wait(until: "select count(*) > 1 from postrider.attempts where job_id = \(posts[1])")
        #expect(
            try queue.rows(
                "select attempt::text, error_code from postrider.attempts where job_id = \(get) order by fence")
                == [["1", "timeout"], ["1", nil]])
        #expect(
            try queue.text(
                "select string_agg(distinct server, ' ') from postrider.attempts where job_id = \(posts[0])")
                == hanging.target.url)
        #expect(
            try queue.number(
                "select max(attempt)::bigint from postrider.attempts where job_id = \(posts[1])") > 1)
        try queue.connection.execute("select postrider.cancel(\(posts[1]))")
        // The first server does not listen, so nothing is sent there.
        try queue.connection.execute(
            "update postrider.servers set base_url = 'http://127.0.0.1:\(TargetServer.freePort())' where position = 1")
        let others = try ["at_most_once", "at_least_once"].map {
            try queue.insert(columns, "'api', 'x', 'POST', '\($0)', '5 s', '{1 h}'")
        }
        for other in others { try queue.wait(for: other, toBe: "succeeded") }
    }

    @Test func `a fleet makes one probe per cool-down, and a repaired server becomes active again`() throws {
        let queue = try TestQueue()
        let bad = try FaultyTarget(failing: TargetStep.answer(503))
        let good = try FaultyTarget()
        try queue.addService(
            [bad.target.url, good.target.url], coolDown: "700 ms", columns: ", min_calls, error_rate",
            values: ", 20, 0.5")
        let workers = try (1...4).map { _ in try RunningWorker(queue.database, concurrency: 4) }
        defer { workers.kill() }
        try queue.insert(60, "service, url", "'api', 'x'")
        try queue.wait(until: "select state <> 'active' from postrider.servers where position = 1")
        try queue.waitUntilDone()
        let before = bad.count
        // Normal traffic, until two probes have failed.
        while bad.count < before + 3 {
            try queue.insert(20, "service, url", "'api', 'x'")
            try queue.waitUntilDone()
        }
        let probes = bad.target.requests.dropFirst(before).map(\.arrivedAt)
        for (earlier, later) in zip(probes.dropFirst(0), probes.dropFirst(1)) {
            #expect(later - earlier >= 690_000_000, "\(probes)")
        }
        bad.fail(nil)
        try TestClock.wait(20, for: "the first server to be back") {
            try queue.insert(4, "service, url", "'api', 'x'")
            try queue.waitUntilDone()
            return try queue.text("select state from postrider.servers where position = 1") == "active"
        }
        let back = good.count
        try queue.insert(20, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(good.count == back)
        #expect(try queue.number("select count(*) from postrider.job_status where state <> 'succeeded'") == 0)
    }

    @Test func `switch_server moves all workers, and each environment has its own servers`() throws {
        let queue = try TestQueue()
        let servers = [try FaultyTarget(), try FaultyTarget(), try FaultyTarget()]
        try queue.addService(servers.prefix(2).map(\.target.url))
        try queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url)
            values ('api', 1, 'test', '\(servers[2].target.url)')
            """)
        let workers = try (1...3).map { _ in try RunningWorker(queue.database) }
        try queue.insert(30, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 0, 0])
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        try queue.insert(30, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 30, 0])
        for worker in workers {
            // The other workers may have done all jobs before this one handled signals.
            try worker.wait(for: "enlisted")
            #expect(worker.end(15) == 0)
        }
        let test = try RunningWorker(queue.database, ["--environment", "test"])
        defer { test.kill() }
        try queue.insert(5, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 30, 5])
        #expect(
            try queue.text("select environment from postrider.worker_status where state = 'running'") == "test")
    }

    @Test(.enabled(if: Soak.isOn)) func `a worker killed during a probe releases the probe for another worker`() throws
    {
        let queue = try TestQueue()
        let bad = try FaultyTarget(failing: [.hang])
        let good = try FaultyTarget()
        try queue.addService([bad.target.url, good.target.url], coolDown: "1 s")
        try queue.connection.execute(
            "update postrider.servers set state = 'aside', open_until = now() where position = 1")
        let prober = try RunningWorker(queue.database, concurrency: 1)
        let job = try queue.insert("service, url", "'api', 'x'")
        try TestClock.wait(20, for: "the probe") { bad.count == 1 }
        let other = try RunningWorker(queue.database)
        defer { other.kill() }
        try queue.insert(5, "service, url", "'api', 'x'")
        try queue.wait(until: "select count(*) = 5 from postrider_internal.results")
        #expect(bad.count == 1)
        bad.fail(nil)
        prober.end(9)
        try TestClock.wait(40, for: "another probe") {
            try queue.insert(1, "service, url", "'api', 'x'")
            return bad.count >= 2
        }
        try queue.wait(for: job, toBe: "succeeded")
        try queue.wait(until: "select state = 'active' from postrider.servers where position = 1")
    }
}
