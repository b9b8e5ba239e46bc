// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Services with several servers, live: real workers, and targets that fail as they are told.
struct ServerTests {
    /// A target that can be told to fail.
    private final class Moody: Sendable {
        let target: TargetServer
        private let box: Mood

        /// Answers 200 until it is told otherwise; with `everyNth` only each nth request fails.
        init(failing steps: [TargetStep]? = nil, everyNth: Int = 1) throws {
            let box = Mood(steps, everyNth)
            target = try TargetServer { request in box.answer(request) }
            self.box = box
        }

        func fail(_ steps: [TargetStep]?) { box.steps.withLock { $0 = steps } }
        var count: Int { target.requests.count }
    }

    private final class Mood: Sendable {
        let steps: Mutex<[TargetStep]?>
        private let turn = Mutex(0)
        private let everyNth: Int

        init(_ steps: [TargetStep]?, _ everyNth: Int) {
            self.steps = Mutex(steps)
            self.everyNth = everyNth
        }

        func answer(_ request: TargetRequest) -> [TargetStep] {
            let turn = turn.withLock { turn in
                turn += 1
                return turn
            }
            if turn % everyNth == 0, let steps = steps.withLock({ $0 }) { return steps }
            return TargetStep.answer(200)
        }
    }

    private func service(
        _ queue: borrowing TestQueue, _ urls: [String], coolDown: String = "10 min", columns: String = "",
        values: String = ""
    ) throws {
        try queue.connection.execute(
            """
            insert into postrider.services (name, cool_down\(columns)) values ('api', '\(coolDown)'\(values));
            insert into postrider.servers (service, position, base_url)
            select 'api', n, u from unnest('{\(urls.joined(separator: ","))}'::text[]) with ordinality as s(u, n)
            """)
    }

    @Test func `a server that begins to fail is left for the next, and no job that may be repeated is lost`() throws {
        let queue = try TestQueue()
        let servers = [try Moody(failing: TargetStep.answer(503), everyNth: 5), try Moody(), try Moody()]
        try service(queue, servers.map(\.target.url))
        let workers = try (1...2).map { _ in try RunningWorker(queue.database) }
        try queue.insert(
            600, "service, url, method, max_attempts", "'api', 'x/' || i, (array['GET', 'PUT'])[1 + i % 2], 1")
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded 600")
        // At least the 40 calls of the rule; then those that were on their way, and what each worker had claimed.
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
        _ = workers
    }

    @Test func `what may have been sent and must not be repeated ends unknown, and what was not sent goes on`() throws {
        let queue = try TestQueue()
        let hanging = try Moody(failing: [.hang])
        let well = try Moody()
        try service(queue, [hanging.target.url, well.target.url])
        let worker = try RunningWorker(queue.database)
        let columns = "service, url, method, delivery, timeout, backoff"
        let posts = try ["at_most_once", "at_least_once"].map {
            try queue.insert(columns, "'api', 'x', 'POST', '\($0)', '200 ms', '{0 s}'")
        }
        let get = try queue.insert(columns, "'api', 'x', 'GET', 'at_least_once', '200 ms', '{0 s}'")
        try queue.wait(for: get, toBe: "succeeded")
        try queue.wait(for: posts[0], toBe: "unknown")
        // A POST that may have been seen is tried again as any job is, not at once elsewhere.
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
        // Nobody listens at the first: nothing is sent there.
        try queue.connection.execute(
            "update postrider.servers set base_url = 'http://127.0.0.1:\(TargetServer.freePort())' where position = 1")
        let others = try ["at_most_once", "at_least_once"].map {
            try queue.insert(columns, "'api', 'x', 'POST', '\($0)', '5 s', '{1 h}'")
        }
        for other in others { try queue.wait(for: other, toBe: "succeeded") }
        _ = worker
    }

    @Test func `in a fleet one call probes in each cool-down, and the server comes back by itself`() throws {
        let queue = try TestQueue()
        let bad = try Moody(failing: TargetStep.answer(503))
        let good = try Moody()
        try service(
            queue, [bad.target.url, good.target.url], coolDown: "700 ms", columns: ", min_calls, error_rate",
            values: ", 20, 0.5")
        let workers = try (1...4).map { _ in try RunningWorker(queue.database, concurrency: 4) }
        try queue.insert(60, "service, url", "'api', 'x'")
        try queue.wait(until: "select state <> 'active' from postrider.servers where position = 1")
        try queue.waitUntilDone()
        let before = bad.count
        // Traffic as it comes, until two probes have failed.
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
        _ = workers
    }

    @Test func `switch_server moves all workers, and each environment has its own`() throws {
        let queue = try TestQueue()
        let servers = [try Moody(), try Moody(), try Moody()]
        try service(queue, servers.prefix(2).map(\.target.url))
        try queue.connection.execute(
            "insert into postrider.servers values ('api', 1, 'test', '\(servers[2].target.url)')")
        let workers = try (1...3).map { _ in try RunningWorker(queue.database) }
        try queue.insert(30, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 0, 0])
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        try queue.insert(30, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 30, 0])
        for worker in workers { #expect(worker.end(15) == 0) }
        let test = try RunningWorker(queue.database, ["--environment", "test"])
        try queue.insert(5, "service, url", "'api', 'x'")
        try queue.waitUntilDone()
        #expect(servers.map(\.count) == [30, 30, 5])
        #expect(
            try queue.text("select environment from postrider.worker_status where state = 'running'") == "test")
        _ = test
    }

    @Test func `what one server answered is in the cache when another is used, and not for another environment`() throws
    {
        let queue = try TestQueue()
        let servers = [try Moody(), try Moody(), try Moody()]
        try service(queue, servers.prefix(2).map(\.target.url))
        try queue.connection.execute(
            "insert into postrider.servers values ('api', 1, 'test', '\(servers[2].target.url)')")
        let worker = try RunningWorker(queue.database)
        func fetch() throws -> Bool {
            let id = try queue.insert("service, url, cache_ttl", "'api', 'x', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
            return try queue.text("select from_cache::text from postrider.job_status where id = \(id)") == "true"
        }
        #expect(try !fetch())
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        #expect(try fetch())
        #expect(servers.map(\.count) == [1, 0, 0])
        #expect(worker.end(15) == 0)
        let test = try RunningWorker(queue.database, ["--environment", "test"])
        #expect(try !fetch())
        #expect(servers.map(\.count) == [1, 0, 1])
        _ = test
    }

    @Test func `chains, callbacks and the cache see one attempt, however many servers it took`() throws {
        let queue = try TestQueue()
        let good = try Moody()
        try service(
            queue,
            try ["http://127.0.0.1:\(TargetServer.freePort())", "http://127.0.0.1:\(TargetServer.freePort())"] + [
                good.target.url
            ])
        try queue.connection.execute(
            """
            create table public.ended (job bigint);
            create function public.note(bigint) returns void language sql as 'insert into public.ended values ($1)';
            insert into postrider.callbacks (name, function) values ('note', 'public.note(bigint)')
            """)
        let worker = try RunningWorker(queue.database)
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "a", "service": "api", "url": "/a", "method": "POST", "body_json": {"n": 1}, "max_attempts": 1},
              {"service": "api", "url": "/b/{{a.status}}", "cache_ttl": "1 hour", "max_attempts": 1, "on_success": "note"}]}')
            """)
        try queue.wait(for: chain, toBe: "succeeded")
        #expect(good.target.requests.map(\.path) == ["/a", "/b/200"])
        #expect(try queue.number("select count(*) from public.ended") == 1)
        #expect(
            try queue.rows(
                "select a.attempt::text, count(*)::text from postrider.attempts a group by a.job_id, a.attempt") == [
                    ["1", "3"], ["1", "3"],
                ])
        #expect(try queue.number("select count(*) from postrider.cache_entries") == 1)
        #expect(try queue.number("select count(*) from postrider.cache_calls") == 0)
        // Nobody waits in the queue for the other servers: the attempt keeps its place, and a survey finds it soon.
        #expect(
            try queue.number(
                """
                select extract(epoch from max(finished_at) - min(started_at))::bigint from postrider.attempts
                """) < 20)
        _ = worker
    }

    @Test(.enabled(if: Soak.isOn)) func `a worker that is killed while it probes frees the probe`() throws {
        let queue = try TestQueue()
        let bad = try Moody(failing: [.hang])
        let good = try Moody()
        try service(queue, [bad.target.url, good.target.url], coolDown: "1 s")
        try queue.connection.execute(
            "update postrider.servers set state = 'aside', open_until = now() where position = 1")
        let prober = try RunningWorker(queue.database, concurrency: 1)
        let job = try queue.insert("service, url", "'api', 'x'")
        try TestClock.wait(20, for: "the probe") { bad.count == 1 }
        let other = try RunningWorker(queue.database)
        try queue.insert(5, "service, url", "'api', 'x'")
        try queue.wait(until: "select count(*) = 5 from postrider.results")
        #expect(bad.count == 1)
        bad.fail(nil)
        prober.end(9)
        try TestClock.wait(40, for: "another probe") {
            try queue.insert(1, "service, url", "'api', 'x'")
            TestClock.sleep(milliseconds: 100)
            return bad.count >= 2
        }
        try queue.wait(for: job, toBe: "succeeded")
        try queue.wait(until: "select state = 'active' from postrider.servers where position = 1")
        _ = other
    }

    @Test func `pages that are links go on at another server`() throws {
        let queue = try TestQueue()
        let answer: @Sendable (TargetRequest, UInt16) -> [TargetStep] = { request, port in
            let page = Int(request.path.split(separator: "=").last ?? "1") ?? 1
            let next = "Link: <http://127.0.0.1:\(port)/v1/items?page=\(page + 1)>; rel=\"next\""
            return [.pause(milliseconds: 30)] + TargetStep.answer(200, "[\(page)]", headers: page < 6 ? [next] : [])
        }
        let box = PortBox()
        let one = try TargetServer { answer($0, box.port(0)) }
        let two = try TargetServer { answer($0, box.port(1)) }
        box.set([one.port, two.port])
        try service(queue, [one.url + "/v1", two.url + "/v1"])
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("service, url, paginate", "'api', 'items?page=1', '{\"style\": \"link\"}'")
        try queue.wait(until: "select count(*) >= 2 from postrider.pages where job_id = \(id)")
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2, 3, 4, 5, 6]")
        #expect(one.requests.count + two.requests.count == 6)
        #expect(two.requests.count >= 1)
        _ = worker
    }

    private final class PortBox: Sendable {
        private let ports = Mutex<[UInt16]>([])
        func set(_ list: [UInt16]) { ports.withLock { $0 = list } }
        func port(_ place: Int) -> UInt16 { ports.withLock { $0.count > place ? $0[place] : 0 } }
    }
}
