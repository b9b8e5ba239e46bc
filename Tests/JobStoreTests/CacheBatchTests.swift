// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Answers that one batch of results brings for the cache.
struct CacheBatchTests {
    /// Ends the calls of all jobs in one batch. Each answer has the same headers, and `body` and its job as its body.
    private func answerTogether(
        _ fixture: borrowing CacheFixture, _ jobs: [Int64], _ body: String, headers: String = "x: y"
    ) throws {
        let attempts = jobs.map { "fixture.attempt(\($0), 200, '\(headers)' || chr(10), '\(body) \($0)', 's', null)" }
        try fixture.queue.connection.execute("select fixture.finish(null, \(attempts.joined(separator: ", ")))")
    }

    private func entries(_ fixture: borrowing CacheFixture) throws -> [String?] {
        try fixture.queue.rows(
            """
            select concat_ws(' ', substr(url, 10), version, convert_from(body, 'UTF8')) from postrider.cache_entries
             order by url
            """
        ).map { $0[0] }
    }

    private func expectCountedEntries(_ fixture: borrowing CacheFixture) throws {
        #expect(
            try fixture.queue.rows("select sum(entries)::text, sum(bytes)::text from postrider.cache_status")
                == fixture.queue.rows("select count(*)::text, sum(bytes)::text from postrider.cache_entries"))
    }

    @Test func `a batch stores new entries and replaces those that exist`() throws {
        let fixture = try CacheFixture()
        for url in ["a", "b", "c"] { try fixture.insert("cache_version", "1", url: "http://h/\(url)") }
        try answerTogether(fixture, try fixture.take(), "old")
        #expect(try entries(fixture) == ["a 1 old 1", "b 1 old 2", "c 1 old 3"])
        for url in ["d", "b", "e"] { try fixture.insert("cache_version", "2", url: "http://h/\(url)") }
        try answerTogether(fixture, try fixture.take(), "longer")
        #expect(try entries(fixture) == ["a 1 old 1", "b 2 longer 5", "c 1 old 3", "d 2 longer 4", "e 2 longer 6"])
        try expectCountedEntries(fixture)
    }

    @Test func `answers of all kinds that end together are cached as if each ended alone`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_mode)
            values ('client', 'http://h/client/', 'client'), ('http', 'http://h/http/', 'http')
            """)
        try fixture.insert(url: "http://h/none")
        try fixture.insert("service", "'client'", url: "x")
        try fixture.insert("service", "'http'", url: "x")
        try fixture.insert("rules", #"'[{"status": 200, "do": "succeed"}]'"#, url: "http://h/rule")
        let jobs = try fixture.take()
        #expect(jobs.count == 4)
        // Two jobs wait for the first two calls, and get their answers.
        try fixture.insert(url: "http://h/none")
        try fixture.insert("service", "'client'", url: "x")
        #expect(try fixture.take() == [])
        try answerTogether(fixture, jobs, "body", headers: "cache-control: max-age=60")
        #expect(try entries(fixture) == ["client/x 0 body 2", "http/x 0 body 3", "none 0 body 1"])
        #expect(try fixture.take() == [])
        #expect(try fixture.look(5) == "succeeded hit 200 body 1")
        #expect(try fixture.look(6) == "succeeded hit 200 body 2")
        try expectCountedEntries(fixture)
    }

    @Test func `answers that set a cookie are not cached, and the jobs that wait for them are called`() throws {
        let fixture = try CacheFixture()
        for url in ["a", "b", "a", "b"] { try fixture.insert(url: "http://h/\(url)") }
        let jobs = try fixture.take()
        #expect(jobs == [1, 2])
        try answerTogether(fixture, jobs, "body", headers: "set-cookie: a=b")
        #expect(try entries(fixture) == [])
        #expect(try fixture.take() == [3, 4])
    }

    @Test func `an entry that another transaction holds is not stored, the other answers are`() throws {
        let fixture = try CacheFixture()
        for url in ["a", "b", "c"] { try fixture.insert("cache_version", "1", url: "http://h/\(url)") }
        try answerTogether(fixture, try fixture.take(), "old")
        for url in ["a", "b", "c", "d"] { try fixture.insert("cache_version", "2", url: "http://h/\(url)") }
        let jobs = try fixture.take()
        let holder = try PGConnection(fixture.queue.database)
        try holder.execute("begin; select postrider.cache_invalidate('', 'http://h/b')")
        let start = TestClock.now
        try answerTogether(fixture, jobs, "new")
        #expect(TestClock.seconds(since: start) < 1)
        try holder.execute("commit")
        #expect(try entries(fixture) == ["a 2 new 4", "c 2 new 6", "d 2 new 7"])
        try expectCountedEntries(fixture)
    }
}
