// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Three servers, several workers and random faults. The rules must hold in every order of events.
struct ServerStormTests {
    private func service(_ queue: borrowing TestQueue, _ targets: [TargetServer], _ columns: String, _ values: String)
        throws
    {
        let urls = targets.map(\.url).joined(separator: ",")
        try queue.connection.execute(
            """
            insert into postrider.services (name, \(columns)) values ('api', \(values));
            insert into postrider.servers (service, position, base_url)
            select 'api', n, u from unnest('{\(urls)}'::text[]) with ordinality as s(u, n)
            """)
    }

    @Test func `traffic leaves a server that sometimes times out and returns after the server recovers`() throws {
        let queue = try TestQueue()
        let isIll = Mutex(true)
        let turn = Mutex(0)
        let unanswered = Mutex(0)
        let first = try TargetServer { request in
            let number = turn.withLock { value in
                value += 1
                return value
            }
            guard number % 4 == 0, isIll.withLock({ $0 }) else { return TargetStep.answer(200) }
            if request.method == "POST" { unanswered.withLock { $0 += 1 } }
            return [.hang]
        }
        let second = try TargetServer()
        let third = try TargetServer()
        try service(queue, [first, second, third], "cool_down", "'1 s'")
        let workers = try (1...3).map { _ in try RunningWorker(queue.database) }
        defer { workers.kill() }
        try queue.insert(
            240, "service, url, method, delivery, timeout, max_attempts",
            """
            'api', 'ok', case when i % 4 = 0 then 'POST' when i % 4 = 1 then 'PUT' else 'GET' end,
            case when i % 4 = 0 then 'at_most_once' else 'at_least_once' end, '1500 ms', 1
            """)
        try queue.waitUntilDone(60)
        #expect(
            try queue.number(
                "select count(*) from postrider.job_status where state <> 'succeeded' and method <> 'POST'") == 0)
        // Each POST that the failing server never answered is unknown, and no other job is.
        #expect(
            try queue.number("select count(*) from postrider.job_status where state = 'unknown'")
                == Int64(unanswered.withLock { $0 }))
        #expect(
            try queue.text(
                "select string_agg(distinct state, ' ' order by state) from postrider.job_status where method = 'POST' and state <> 'unknown'"
            ) == "succeeded")
        #expect(second.requests.count > 60, "\(first.requests.count) \(second.requests.count)")
        #expect(third.requests.count < second.requests.count)
        isIll.withLock { $0 = false }
        try TestClock.wait(30, for: "the first server to be back") {
            try queue.insert(3, "service, url", "'api', 'ok'")
            try queue.waitUntilDone()
            return try queue.text("select state from postrider.servers where position = 1") == "active"
        }
    }

    @Test(arguments: Soak.isOn ? Array(UInt64(1)...4) : [1])
    func `all jobs succeed while servers fail and are switched, and no attempt calls a server twice`(
        seed: UInt64
    ) throws {
        let queue = try TestQueue()
        let targets = try (1...3).map { place in
            try TargetServer { request in
                switch (request.turn + place) % 4 {
                case 0: TargetStep.answer(503)
                case 1 where request.turn % 3 == 0: [.reset]
                default: TargetStep.answer(200)
                }
            }
        }
        try service(queue, targets, "cool_down, min_calls, error_rate", "'150 ms', 10, 0.2")
        let workers = try (1...4).map { _ in try RunningWorker(queue.database) }
        let count = Soak.count(20_000, reduced: 300)
        try queue.insert(
            count, "service, url, method, backoff, max_attempts",
            "'api', 'x', (array['GET', 'PUT', 'POST'])[1 + i % 3], '{0 s}', 100")
        var random = Randomness(seed: seed)
        let left = "select (select count(*) from postrider.jobs) - (select count(*) from postrider_internal.results)"
        try TestClock.wait(Soak.isOn ? 300 : 60, for: "all jobs of seed \(seed) to end") {
            let place = random.number(1...3)
            let step =
                switch random.number(0...2) {
                case 0: "select postrider.switch_server('api', \(place))"
                case 1: "update postrider.servers set state = 'aside' where position = \(place)"
                default: "update postrider.servers set state = 'active' where position = \(place)"
                }
            try queue.connection.execute(step)
            TestClock.sleep(milliseconds: 10)
            return try queue.number(left) == 0
        }
        try queue.report(
            .servers, attack: "servers that fail at random, and users who switch them",
            calls: targets.map(\.requests.count).reduce(0, +))
        #expect(try queue.states() == "succeeded \(count)")
        #expect(
            try queue.rows(
                """
                select job_id::text, attempt::text, server from postrider.attempts
                group by job_id, attempt, server having count(*) > 1 limit 5
                """) == [])
        #expect(try queue.number("select count(*) from postrider.attempts where server is null") == 0)
        for worker in workers {
            #expect(worker.count(of: "statement_failed") == 0, "\(worker.output.suffix(2000))")
            #expect(worker.count(of: "results_refused") == 0)
        }
    }
}
