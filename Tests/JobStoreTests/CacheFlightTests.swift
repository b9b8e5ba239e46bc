// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Identical requests at the same time make one call.
struct CacheFlightTests {
    @Test func `identical cache misses make one call, and the other jobs get hits when it ends`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(64, "url, cache_ttl", "'http://h/a', '1 min'")
        let called = try fixture.take()
        #expect(called == [1])
        #expect(try fixture.queue.states() == "running 1, scheduled 63")
        #expect(
            try fixture.queue.text("select postrider.explain(2)")?
                .hasPrefix("Job 2 is scheduled: it waits for the same call, which job 1 is making") == true)
        #expect(try fixture.answer(1) == "succeeded miss 200 body")
        #expect(try fixture.queue.states() == "ready 63, succeeded 1")
        #expect(
            try fixture.queue.number(
                "select count(*) from (select job_id < lag(job_id) over (order by seq) as d from postrider_internal.ready) o where d"
            )
                == 0)
        #expect(try fixture.take() == [])
        #expect(try fixture.queue.states() == "succeeded 64")
        #expect(
            try fixture.queue.number("select count(*) from postrider.attempts where cache = 'hit' and attempt = 1")
                == 63)
        try expectNothingLeft(fixture)
    }

    @Test func `a job waits for an identical call that another worker is making`() throws {
        let fixture = try CacheFixture()
        let other = try fixture.queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('other', '0', 9) returning id")
        let first = try fixture.insert()
        #expect(try fixture.take() == [first])
        let second = try fixture.insert()
        #expect(try fixture.take(worker: other) == [])
        #expect(try fixture.queue.state(second) == "scheduled")
        try fixture.answer(first)
        #expect(try fixture.take(worker: other) == [])
        #expect(try fixture.queue.state(second) == "succeeded")
    }

    @Test(arguments: ["cache_sensitive", "cache_version"])
    func `a job waits only for a call whose answer could serve the job`(column: String) throws {
        let fixture = try CacheFixture()
        let other = try fixture.queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('other', '0', 9) returning id")
        try fixture.queue.insert(6, "url, cache_ttl, \(column)", "'http://h/a', '1 min', 1 + i % 3")
        // Jobs 1 and 4 send the same request, and so on. Job 1 makes the call.
        #expect(try fixture.take() == [1, 2, 3, 5, 6])
        #expect(try fixture.queue.state(4) == "scheduled")
        let late = try fixture.insert(column, "2")
        #expect(try fixture.take(app: "2", worker: other) == [late])
        try fixture.answer(2)
        #expect(try fixture.queue.state(4) == "scheduled")
        try fixture.answer(1)
        #expect(try fixture.take() == [])
        #expect(try fixture.look(4) == "succeeded hit 200 body")
        for job in [3, 5, 6] as [Int64] { try fixture.answer(job) }
        try fixture.answer(late, app: "2")
        try expectNothingLeft(fixture)
    }

    @Test func `after a shared call fails, one waiting job is called and the rest keep waiting`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(4, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try fixture.take() == [1])
        #expect(
            try fixture.answer(1, status: 404, verdict: "f", code: "http_status") == "failed miss http_status 404 body")
        #expect(try fixture.queue.states() == "failed 1, ready 1, scheduled 2")
        #expect(try fixture.take() == [2])
        try fixture.answer(2, status: 0, verdict: "r", code: "reset")
        #expect(try fixture.take() == [3])
        #expect(try fixture.answer(3) == "succeeded miss 200 body")
        #expect(try fixture.take() == [])
        #expect(try fixture.queue.states() == "failed 1, scheduled 1, succeeded 2")
        try expectNothingLeft(fixture)
    }

    @Test func `if the answer cannot be cached, all waiting jobs are called at once`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(4, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try fixture.take() == [1])
        try fixture.answer(1, headers: "set-cookie: a=b")
        #expect(try fixture.take() == [2, 3, 4])
        for job in [2, 3, 4] as [Int64] { try fixture.answer(job, headers: "set-cookie: a=b") }
        try expectNothingLeft(fixture)
    }

    @Test(arguments: [
        "select postrider.cancel(1)", "select postrider_internal.requeue(1)",
        "delete from postrider_internal.ready where job_id = 1",
    ])
    func `after the calling job loses its lease, the next claim makes a new call`(end: String) throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(3, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try fixture.take() == [1])
        try fixture.queue.connection.execute(end)
        // A new job takes over the call at once. Waiting jobs are released by the leader's duties.
        let next = try fixture.insert()
        let called = try fixture.take()
        #expect(called.count == 1)
        #expect(called == [next] || called == [1])
        try fixture.answer(called[0])
        _ = try fixture.take()
        #expect(try fixture.queue.number("select count(*) from postrider_internal.results where state = 's'") >= 3)
        try expectNothingLeft(fixture)
    }

    @Test func `the leader releases one waiting job if the calling job was cancelled`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(3, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try fixture.take() == [1])
        #expect(try fixture.queue.text("select postrider.cancel(1)::text") == "true")
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try fixture.queue.states() == "cancelled 1, scheduled 2")
        try fixture.queue.connection.execute(
            "update postrider_internal.cache_flights set at = at - interval '2 s'; select postrider_internal.run_cache_duties()"
        )
        #expect(try fixture.queue.states() == "cancelled 1, ready 1, scheduled 1")
        #expect(try fixture.take() == [2])
    }

    @Test func `an attempt that lost its lease stores no cache entry`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.insert(2, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try fixture.take() == [1])
        try fixture.queue.connection.execute("update postrider_internal.ready set fence = fence + 1 where job_id = 1")
        try fixture.answer(1)
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
        #expect(try fixture.queue.state(2) == "ready")
    }

    @Test(arguments: [
        ("timeout = '9 s'", "true 1"), ("base_url = 'http://other/'", "false 0"), ("cache_namespace = 'x'", "false 0"),
        (#"headers = '{"Authorization": "Bearer bob"}'"#, "false 0"), ("query = '{\"v\": \"2\"}'", "false 0"),
    ])
    func `if a service changes during a call, the answer is cached only under an unchanged key`(
        change: String, expected: String
    ) throws {
        for mode in ["client", "http"] {
            let fixture = try CacheFixture()
            try fixture.queue.connection.execute(
                """
                insert into postrider.services (name, base_url, headers, cache_mode)
                values ('api', 'http://h/', '{"Authorization": "Bearer ada"}', '\(mode)')
                """)
            let first = try fixture.insert("service", "'api'", url: "a")
            #expect(try fixture.take() == [first])
            let second = try fixture.insert("service", "'api'", url: "a")
            #expect(try fixture.take() == [])
            try fixture.queue.connection.execute("update postrider.services set \(change)")
            try fixture.answer(first, headers: "cache-control: max-age=60")
            let called = try fixture.take()
            let entries = try fixture.queue.number("select count(*) from postrider.cache_entries")
            #expect("\(called.isEmpty) \(entries)" == expected, "\(change), \(mode)")
            #expect(try fixture.queue.state(second) == (called.isEmpty ? "succeeded" : "running"), "\(change), \(mode)")
        }
    }

    @Test func `a job cancelled or removed while it waits for a shared call is not called`() throws {
        let fixture = try CacheFixture()
        let first = try fixture.insert()
        #expect(try fixture.take() == [first])
        let second = try fixture.insert()
        let third = try fixture.insert("expires_at", "clock_timestamp() + interval '1 min'")
        let fourth = try fixture.insert()
        #expect(try fixture.take() == [])
        #expect(
            try fixture.queue.number("select count(*) from postrider_internal.scheduled where expires_at is not null")
                == 1
        )
        try fixture.queue.connection.execute("select postrider.cancel(\(second))")
        try fixture.queue.connection.execute("delete from postrider_internal.scheduled where job_id = \(third)")
        try fixture.answer(first, status: 404, verdict: "f", code: "http_status")
        #expect(try fixture.take() == [fourth])
    }

    private func expectNothingLeft(_ fixture: borrowing CacheFixture) throws {
        #expect(try fixture.queue.number("select count(*) from postrider_internal.cache_flights") == 0)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.cache_waits") == 0)
    }
}
