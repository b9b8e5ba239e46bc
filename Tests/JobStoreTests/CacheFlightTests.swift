// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Identical requests at the same time make one call.
struct CacheFlightTests {
    @Test func `of identical misses the first is called, the others wait unused and are served when it ends`() throws {
        let desk = try CacheDesk()
        try desk.queue.insert(64, "url, cache_ttl", "'http://h/a', '1 min'")
        let called = try desk.take()
        #expect(called == [1])
        #expect(try desk.queue.states() == "running 1, scheduled 63")
        #expect(
            try desk.queue.text("select postrider.explain(2)")?
                .hasPrefix("Job 2 is scheduled: it waits for the same call that job 1 is making") == true)
        #expect(try desk.answer(1) == "succeeded miss 200 body")
        #expect(try desk.queue.states() == "ready 63, succeeded 1")
        #expect(
            try desk.queue.number(
                "select count(*) from (select job_id < lag(job_id) over (order by seq) as d from postrider_internal.ready) o where d"
            )
                == 0)
        #expect(try desk.take() == [])
        #expect(try desk.queue.states() == "succeeded 64")
        #expect(
            try desk.queue.number("select count(*) from postrider.attempts where cache = 'hit' and attempt = 1") == 63)
        try expectNothingLeft(desk)
    }

    @Test func `the flight holds across workers`() throws {
        let desk = try CacheDesk()
        let other = try desk.queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('other', '0', 9) returning id")
        let first = try desk.insert()
        #expect(try desk.take() == [first])
        let second = try desk.insert()
        #expect(try desk.take(worker: other) == [])
        #expect(try desk.queue.state(second) == "scheduled")
        try desk.answer(first)
        #expect(try desk.take(worker: other) == [])
        #expect(try desk.queue.state(second) == "succeeded")
    }

    @Test(arguments: ["cache_sensitive", "cache_version"])
    func `nobody waits for an answer that would not serve it`(column: String) throws {
        let desk = try CacheDesk()
        let other = try desk.queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('other', '0', 9) returning id")
        try desk.queue.insert(6, "url, cache_ttl, \(column)", "'http://h/a', '1 min', 1 + i % 3")
        // 1 and 4 ask for the same, and so on: 1 leads.
        #expect(try desk.take() == [1, 2, 3, 5, 6])
        #expect(try desk.queue.state(4) == "scheduled")
        let late = try desk.insert(column, "2")
        #expect(try desk.take(app: "2", worker: other) == [late])
        try desk.answer(2)
        #expect(try desk.queue.state(4) == "scheduled")
        try desk.answer(1)
        #expect(try desk.take() == [])
        #expect(try desk.look(4) == "succeeded hit 200 body")
        for job in [3, 5, 6] as [Int64] { try desk.answer(job) }
        try desk.answer(late, app: "2")
        try expectNothingLeft(desk)
    }

    @Test func `when the call fails, one of those that wait makes the next, and the rest go on waiting`() throws {
        let desk = try CacheDesk()
        try desk.queue.insert(4, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try desk.take() == [1])
        #expect(
            try desk.answer(1, status: 404, verdict: "f", code: "http_status") == "failed miss http_status 404 body")
        #expect(try desk.queue.states() == "failed 1, ready 1, scheduled 2")
        #expect(try desk.take() == [2])
        try desk.answer(2, status: 0, verdict: "r", code: "reset")
        #expect(try desk.take() == [3])
        #expect(try desk.answer(3) == "succeeded miss 200 body")
        #expect(try desk.take() == [])
        #expect(try desk.queue.states() == "failed 1, scheduled 1, succeeded 2")
        try expectNothingLeft(desk)
    }

    @Test func `when the answer cannot be kept, all go at once, and for a while nobody waits`() throws {
        let desk = try CacheDesk()
        try desk.queue.insert(4, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try desk.take() == [1])
        try desk.answer(1, headers: "set-cookie: a=b")
        #expect(try desk.take() == [2, 3, 4])
        for job in [2, 3, 4] as [Int64] { try desk.answer(job, headers: "set-cookie: a=b") }
        try expectNothingLeft(desk)
    }

    @Test(arguments: [
        "select postrider.cancel(1)", "select postrider_internal.requeue(1)",
        "delete from postrider_internal.ready where job_id = 1",
    ])
    func `a flight whose lease is gone leads nobody`(end: String) throws {
        let desk = try CacheDesk()
        try desk.queue.insert(3, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try desk.take() == [1])
        try desk.queue.connection.execute(end)
        // A newcomer takes over at once; those that wait hear of it from the leader's duties.
        let next = try desk.insert()
        let called = try desk.take()
        #expect(called.count == 1)
        #expect(called == [next] || called == [1])
        try desk.answer(called[0])
        _ = try desk.take()
        #expect(try desk.queue.number("select count(*) from postrider_internal.results where state = 's'") >= 3)
        try expectNothingLeft(desk)
    }

    @Test func `the leader's duties wake one that waits for a call that nobody makes any more`() throws {
        let desk = try CacheDesk()
        try desk.queue.insert(3, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try desk.take() == [1])
        #expect(try desk.queue.text("select postrider.cancel(1)::text") == "true")
        try desk.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try desk.queue.states() == "cancelled 1, scheduled 2")
        try desk.queue.connection.execute(
            "update postrider_internal.cache_calls set at = at - interval '2 s'; select postrider_internal.run_cache_duties()"
        )
        #expect(try desk.queue.states() == "cancelled 1, ready 1, scheduled 1")
        #expect(try desk.take() == [2])
    }

    @Test func `an attempt that lost its lease stores nothing`() throws {
        let desk = try CacheDesk()
        try desk.queue.insert(2, "url, cache_ttl", "'http://h/a', '1 min'")
        #expect(try desk.take() == [1])
        try desk.queue.connection.execute("update postrider_internal.ready set fence = fence + 1 where job_id = 1")
        try desk.answer(1)
        #expect(try desk.queue.number("select count(*) from postrider.cache_entries") == 0)
        #expect(try desk.queue.state(2) == "ready")
    }

    @Test(arguments: [
        ("timeout = '9 s'", "true 1"), ("base_url = 'http://other/'", "false 0"), ("cache_namespace = 'x'", "false 0"),
        (#"headers = '{"Authorization": "Bearer bob"}'"#, "false 0"), ("query = '{\"v\": \"2\"}'", "false 0"),
    ])
    func `an answer of a service that was changed meanwhile serves only whom it would have served`(
        change: String, expected: String
    ) throws {
        for mode in ["client", "http"] {
            let desk = try CacheDesk()
            try desk.queue.connection.execute(
                """
                insert into postrider.services (name, base_url, headers, cache_mode)
                values ('api', 'http://h/', '{"Authorization": "Bearer ada"}', '\(mode)')
                """)
            let first = try desk.insert("service", "'api'", url: "a")
            #expect(try desk.take() == [first])
            let second = try desk.insert("service", "'api'", url: "a")
            #expect(try desk.take() == [])
            try desk.queue.connection.execute("update postrider.services set \(change)")
            try desk.answer(first, headers: "cache-control: max-age=60")
            let called = try desk.take()
            let entries = try desk.queue.number("select count(*) from postrider.cache_entries")
            #expect("\(called.isEmpty) \(entries)" == expected, "\(change), \(mode)")
            #expect(try desk.queue.state(second) == (called.isEmpty ? "succeeded" : "running"), "\(change), \(mode)")
        }
    }

    @Test func `one that waits can be cancelled, expires in time, and is not called again afterwards`() throws {
        let desk = try CacheDesk()
        let first = try desk.insert()
        #expect(try desk.take() == [first])
        let second = try desk.insert()
        let third = try desk.insert("expires_at", "clock_timestamp() + interval '1 min'")
        let fourth = try desk.insert()
        #expect(try desk.take() == [])
        #expect(
            try desk.queue.number("select count(*) from postrider_internal.scheduled where expires_at is not null") == 1
        )
        try desk.queue.connection.execute("select postrider.cancel(\(second))")
        try desk.queue.connection.execute("delete from postrider_internal.scheduled where job_id = \(third)")
        try desk.answer(first, status: 404, verdict: "f", code: "http_status")
        #expect(try desk.take() == [fourth])
    }

    private func expectNothingLeft(_ desk: borrowing CacheDesk) throws {
        #expect(try desk.queue.number("select count(*) from postrider_internal.cache_calls") == 0)
        #expect(try desk.queue.number("select count(*) from postrider_internal.cache_waits") == 0)
    }
}
