// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `cache_mode = 'http'`: the rules of RFC 9111 for a private cache.
struct CacheHTTPTests {
    @Test(arguments: [
        ("max-age=60, private", #"{"max-age": "60", "private": ""}"#),
        ("  No-Cache ,MAX-AGE = 5", #"{"max-age": "5", "no-cache": ""}"#),
        (#"no-cache="set-cookie, x", max-age="10""#, #"{"max-age": "10", "no-cache": "set-cookie, x"}"#),
        (#"community="UC\"I""#, #"{"community": "UC\"I"}"#), (",, ,max-age=1,", #"{"max-age": "1"}"#),
        ("max-age=1, max-age=2", #"{"max-age": "1"}"#), ("", "{}"), ("max-age=", #"{"max-age": ""}"#),
        ("s-maxage=10, max-age=a b", #"{"s-maxage": "10"}"#),
    ])
    func `cache_control parses the Cache-Control header by its grammar`(text: String, expected: String) throws {
        let fixture = try CacheFixture()
        let same =
            "select (postrider_internal.cache_control('\(text)') = '\(expected)')::text, postrider_internal.cache_control('\(text)')::text"
        let row = try fixture.queue.rows(same)
        #expect(row[0][0] == "true", "\(row[0][1] ?? "")")
    }

    /// Header lines; whether the answer may be stored; seconds; whether it is never served stale; Vary.
    @Test(arguments: [
        ("cache-control: max-age=60", "true 60 false {}"), ("cache-control: no-store, max-age=60", "false 60 false {}"),
        ("cache-control: private, max-age=60", "true 60 false {}"), ("cache-control: s-maxage=60", "true 0 false {}"),
        ("cache-control: max-age=60\nage: 20", "true 40 false {}"),
        ("cache-control: max-age=60\nage: 90", "true 0 false {}"),
        ("cache-control: max-age=60, must-revalidate", "true 60 true {}"),
        ("cache-control: no-cache, max-age=60", "true 0 true {}"),
        ("cache-control: max-age=x", "true 0 false {}"),
        ("cache-control: max-age=99999999999999", "true 2147483648 false {}"),
        ("date: Sat, 21 Nov 2026 10:00:00 GMT\nexpires: Sat, 21 Nov 2026 10:01:30 GMT", "true 90 false {}"),
        (
            "cache-control: max-age=5\ndate: Sat, 21 Nov 2026 10:00:00 GMT\nexpires: Sat, 21 Nov 2026 10:01:30 GMT",
            "true 5 false {}"
        ),
        ("date: Sat, 21 Nov 2026 10:00:00 GMT\nexpires: Sat, 21 Nov 2026 09:00:00 GMT", "true 0 false {}"),
        ("expires: 0", "true 0 false {}"), ("last-modified: Sat, 21 Nov 2020 10:00:00 GMT", "true 0 false {}"),
        (
            "cache-control: max-age=9\nvary: Accept-Language , accept\nvary: ACCEPT",
            "true 9 false {accept,accept-language}"
        ),
        ("vary: *\ncache-control: max-age=9", "false 9 false {*}"),
        ("cache-control: no-cache\ncache-control: max-age=9", "true 0 true {}"),
        ("x: y", "true 0 false {}"),
        ("cache-control: max-age=60\ndate: Sat, 21 Nov 2026 09:58:00 GMT", "true 0 false {}"),
        ("cache-control: max-age=60\nage: 10\ndate: Sat, 21 Nov 2026 09:59:40 GMT", "true 40 false {}"),
        ("cache-control: max-age=60\nage: 30\ndate: Saturday, 21-Nov-26 09:59:40 GMT", "true 30 false {}"),
        ("cache-control: max-age=60\ndate: Sat, 21 Nov 2026 11:00:00 GMT", "true 60 false {}"),
        ("cache-control: max-age=60\ndate: yesterday", "true 60 false {}"),
        ("expires: Saturday, 21-Nov-26 10:01:00 GMT", "true 60 false {}"),
        ("expires: Sat Nov 21 10:00:09 2026", "true 9 false {}"),
        ("date: Sat Nov  7 10:00:00 2026\nexpires: Sat, 21 Nov 2026 10:00:10 GMT", "true 10 false {}"),
        ("expires: Sat Nov 31 10:00:09 2026", "true 0 false {}"),
        ("expires: Saturday, 21-Nov-2026 10:01:00 GMT", "true 0 false {}"),
    ])
    func `an answer is fresh for max-age or, without it, until Expires, minus its age`(lines: String, expected: String)
        throws
    {
        let fixture = try CacheFixture()
        let answer = try fixture.queue.text(
            """
            select concat_ws(' ', is_storable::text, extract(epoch from fresh)::bigint, is_strict::text, vary::text)
            from postrider_internal.http_freshness(convert_to('\(lines)' || chr(10), 'LATIN1'), '2026-11-21 10:00:00Z')
            """)
        #expect(answer == expected)
    }

    @Test func `the server's freshness time applies, limited by cache_ttl`() throws {
        let fixture = try fixture()
        #expect(
            try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=30") == "succeeded miss 200 a")
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 a")
        try age(fixture, "31 s")
        #expect(
            try fixture.fetch("service", "'s'", "b", headers: "cache-control: max-age=3000")
                == "succeeded cache_expired 200 b")
        try age(fixture, "31 s")
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 b")
        try age(fixture, "31 s")
        #expect(
            try fixture.fetch("service", "'s'", "c", headers: "cache-control: no-store")
                == "succeeded cache_expired 200 c"
        )
    }

    @Test func `after a 304 without Date, the age of the entry counts from the 304`() throws {
        let fixture = try fixture()
        let kept = "cache-control: max-age=60\netag: \"1\"\nage: 50\ndate: Sat, 21 Nov 2020 10:00:00 GMT"
        try fixture.fetch("service", "'s'", "a", headers: kept)
        let job = try fixture.insert("service", "'s'")
        #expect(try fixture.take() == [job])
        let end = try fixture.answer(job, "", status: 304, headers: "etag: \"1\"", verdict: "f", code: "http_status")
        #expect(end == "succeeded revalidated 200 a")
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 a")
    }

    @Test func `an answer with no-store, a wildcard Vary, or neither freshness nor ETag is not stored`() throws {
        for headers in [
            "cache-control: no-store", "vary: *\ncache-control: max-age=9", "x: y", "cache-control: no-cache",
        ] {
            let fixture = try fixture()
            try fixture.fetch("service", "'s'", "a", headers: headers)
            #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
        }
    }

    @Test func `a no-cache entry serves only after a 304, and identical requests revalidate in parallel`() throws {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: no-cache\netag: \"1\"")
        let jobs = [try fixture.insert("service", "'s'"), try fixture.insert("service", "'s'")]
        #expect(try fixture.take() == jobs)
        for job in jobs {
            let end = try fixture.answer(
                job, "", status: 304, headers: "cache-control: no-cache\netag: \"1\"", verdict: "f", code: "http_status"
            )
            #expect(end == "succeeded revalidated 200 a")
        }
    }

    @Test func `Vary keeps one answer for each value of the headers that it names`() throws {
        let fixture = try fixture()
        let headers = "cache-control: max-age=60\nvary: Accept-Language"
        func ask(_ language: String, _ body: String) throws -> String {
            try fixture.fetch(
                "service, headers", "'s', '{\"accept-language\": \"\(language)\"}'", body, headers: headers)
        }
        #expect(try ask("de", "eins") == "succeeded miss 200 eins")
        #expect(try ask("en", "one") == "succeeded miss 200 one")
        #expect(try ask("de", "") == "succeeded hit 200 eins")
        #expect(try ask("en", "") == "succeeded hit 200 one")
        #expect(try fixture.fetch("service", "'s'", "none", headers: headers) == "succeeded miss 200 none")
        #expect(try fixture.fetch("service", "'s'", "") == "succeeded hit 200 none")
    }

    @Test func `a service header selects a variant only for URLs to which it is sent`() throws {
        let fixture = try fixture()
        try fixture.queue.connection.execute(
            "update postrider.services set apply_to_absolute = false, headers = '{\"Accept-Language\": \"de\"}'")
        let headers = "cache-control: max-age=60\nvary: Accept-Language"
        for (url, body) in [("/a", "eins"), ("http://other/a", "one")] {
            let job = try fixture.insert("service", "'s'", url: url)
            #expect(try fixture.take() == [job])
            try fixture.answer(job, body, headers: headers)
        }
        for (url, body) in [("/a", "eins"), ("http://other/a", "one")] {
            let job = try fixture.insert("service", "'s'", url: url)
            #expect(try fixture.take() == [])
            #expect(try fixture.look(job) == "succeeded hit 200 \(body)")
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `an unsafe call invalidates the cached answer of its URL unless the call fails`(method: String) throws {
        let fixture = try fixture()
        let headers = "cache-control: max-age=60\nvary: Accept"
        try fixture.fetch("service, headers", "'s', '{\"Accept\": \"a\"}'", "old", headers: headers)
        let failing = try fixture.queue.insert("service, method, url", "'s', '\(method)', 'http://h/a'")
        #expect(try fixture.take() == [failing])
        try fixture.answer(failing, status: 404, verdict: "f", code: "http_status")
        #expect(
            try fixture.fetch("service, headers", "'s', '{\"Accept\": \"a\"}'") == "succeeded hit 200 old")
        let unsafe = try fixture.queue.insert("service, method, url", "'s', '\(method)', 'http://h/a'")
        #expect(try fixture.take() == [unsafe])
        try fixture.answer(unsafe)
        #expect(
            try fixture.fetch("service, headers", "'s', '{\"Accept\": \"a\"}'", "new", headers: headers)
                == "succeeded miss 200 new")
    }

    @Test(arguments: [
        ("http://h/b/c", "location: /a", true), ("http://h/b/c", "location: ../a", true),
        ("http://h/b?x=/y/", "location: a", true), ("http://h", "location: a", true),
        ("http://h/b", "content-location: http://H/a", true),
        ("http://h/b", "location: /x\ncontent-location: //h/a", true),
        ("http://h/b/c", "location: a", false), ("http://h/b", "location: http://h:81/a", false),
        ("http://h/b", "location: https://h/a", false), ("http://h/b", "location: //other/a", false),
        ("http://h/b", "location: mailto:a", false), ("http://h/b", "x: /a", false),
    ])
    func `an unsafe call invalidates the same-origin URLs in its Location and Content-Location`(
        url: String, headers: String, goes: Bool
    ) throws {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "old", headers: "cache-control: max-age=60")
        let unsafe = try fixture.queue.insert("service, method, url", "'s', 'POST', '\(url)'")
        #expect(try fixture.take() == [unsafe])
        try fixture.answer(unsafe, status: 201, headers: headers)
        #expect(
            try fixture.fetch("service", "'s'", "new") == (goes ? "succeeded miss 200 new" : "succeeded hit 200 old"))
    }

    @Test(arguments: [
        ("'/c?k&q=1', null", "'/c?k', '{\"q\": 1}'"),
        ("'/c', '{\"k\": \"a b\", \"q\": [1, 2]}'", "'/c?q=1&q=2&k=a%20b', null"),
        ("'/c#x', '{\"q\": 1}'", "'http://h/c?q=1&ts=5', '{\"ts\": 7}'"), ("'/c?c=1', null", "'/c', null"),
        ("'/c', '{\"c\": 2}'", "'/c?c=2', null"),
    ])
    func `an unsafe call invalidates a GET's entry even if the query is written differently`(get: String, put: String)
        throws
    {
        let fixture = try fixture()
        try fixture.queue.connection.execute(
            "update postrider.services set query = '{\"c\": 1}', cache_ignore = '{ts}'")
        let stored = try fixture.queue.insert("service, cache_ttl, url, query", "'s', '1 min', \(get)")
        #expect(try fixture.take() == [stored])
        try fixture.answer(stored, headers: "cache-control: max-age=60")
        let unsafe = try fixture.queue.insert("service, method, url, query", "'s', 'PUT', \(put)")
        #expect(try fixture.take() == [unsafe])
        try fixture.answer(unsafe)
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
    }

    @Test(arguments: [(200, "http_status", true), (302, "denied_redirect", true), (404, "http_status", false)])
    func `the HTTP status, not the job's outcome, decides if an unsafe call invalidates entries`(
        status: Int, code: String, goes: Bool
    ) throws {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "old", headers: "cache-control: max-age=60")
        let unsafe = try fixture.queue.insert(
            "service, method, url, ok_statuses", "'s', 'PUT', 'http://h/a', '{[201,202)}'")
        #expect(try fixture.take() == [unsafe])
        #expect(try fixture.answer(unsafe, status: status, verdict: "f", code: code).hasPrefix("failed \(code)"))
        #expect(
            try fixture.fetch("service", "'s'", "new") == (goes ? "succeeded miss 200 new" : "succeeded hit 200 old"))
    }

    @Test(arguments: [
        ("cache-control: max-age=60", "select postrider.cache_invalidate()", "rollback"),
        ("cache-control: max-age=60", "select postrider.cache_invalidate()", "commit"),
        (
            "cache-control: max-age=60\nvary: Accept-Language",
            "select from postrider_internal.cache_varies for update", "commit"
        ),
    ])
    func `an unsafe call does not wait for a locked entry, and the leader deletes it later`(
        headers: String, hold: String, end: String
    ) throws {
        let fixture = try fixture()
        let noted = "select count(*) from postrider_internal.pending_invalidations"
        try fixture.fetch("service", "'s'", "old", headers: headers)
        let other = try PGConnection(fixture.queue.database)
        try other.execute("begin; \(hold)")
        try fixture.queue.connection.execute("set lock_timeout = '200ms'")
        for _ in 1...2 {
            let unsafe = try fixture.queue.insert("service, method, url", "'s', 'POST', 'http://h/a'")
            #expect(try fixture.take() == [unsafe])
            #expect(try fixture.answer(unsafe).hasPrefix("succeeded"))
        }
        #expect(try fixture.queue.number(noted) == 1)
        // The leader does not wait for the lock either.
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try fixture.queue.number(noted) == 1)
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 old")
        try other.execute(end)
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try fixture.queue.number(noted) == 0)
        #expect(try fixture.fetch("service", "'s'", "new", headers: headers) == "succeeded miss 200 new")
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 new")
    }

    @Test func `an unsafe call invalidates entries even if its job was cancelled during the call`() throws {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "old", headers: "cache-control: max-age=60")
        let unsafe = try fixture.queue.insert("service, method, url", "'s', 'DELETE', 'http://h/a'")
        #expect(try fixture.take() == [unsafe])
        try fixture.queue.connection.execute("select postrider.cancel(\(unsafe))")
        try fixture.answer(unsafe)
        #expect(try fixture.fetch("service", "'s'", "new") == "succeeded miss 200 new")
    }

    @Test func `answers to no-store requests, and answers that vary by a kept cookie, are not stored`() throws {
        let fixture = try fixture()
        try fixture.fetch(
            "service, headers", "'s', '{\"cache-control\": [\"No-Store\"]}'", "a", headers: "cache-control: max-age=60")
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=60\nvary: cookie")
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 1)
        try fixture.queue.connection.execute(
            "delete from postrider.cache_entries; update postrider.services set cookies = true")
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=60\nvary: Accept, Cookie")
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
    }

    @Test func `a POST is not cached in HTTP mode, and a request's no-cache makes a call`() throws {
        let fixture = try fixture()
        #expect(
            try fixture.fetch("service, method", "'s', 'POST'", "a", headers: "cache-control: max-age=60")
                == "succeeded 200 a")
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=60")
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 a")
        let job = try fixture.insert("service, headers", "'s', '{\"Cache-Control\": \"no-cache\"}'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, "b", headers: "cache-control: max-age=60") == "succeeded cache_expired 200 b")
    }

    @Test func `an answer with must-revalidate is never served stale`() throws {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=5, must-revalidate")
        try age(fixture, "10 s")
        let job = try fixture.insert("service, max_attempts", "'s', 1")
        #expect(try fixture.take() == [job])
        #expect(
            try fixture.answer(job, status: 503, verdict: "r", code: "http_status").hasPrefix("failed cache_expired"))
    }

    @Test(arguments: [(#"{"Cache-Control": "no-cache"}"#, false), (#"{"Accept": "no-cache"}"#, true)])
    func
        `a request with Cache-Control: no-cache gets no stale answer, even after a failure`(
            headers: String, serves: Bool
        ) throws
    {
        let fixture = try fixture()
        try fixture.fetch("service", "'s'", "a", headers: "cache-control: max-age=60")
        for failedAt in ["null", "clock_timestamp()"] {
            if serves { try age(fixture, "61 s") }
            try fixture.queue.connection.execute("update postrider.cache_entries set failed_at = \(failedAt)")
            let job = try fixture.insert("service, max_attempts, headers", "'s', 1, '\(headers)'")
            let called = try fixture.take()
            #expect(called == (serves && failedAt != "null" ? [] : [job]))
            if called != [] { try fixture.answer(job, "sorry", status: 503, verdict: "r", code: "http_status") }
            #expect(
                try fixture.look(job)
                    == (serves ? "succeeded stale 200 a" : "failed cache_expired http_status 503 sorry"))
        }
    }

    @Test func `stores run in parallel, but an invalidation locks the cache entries of its service`() throws {
        let fixture = try fixture()
        let headers = "'cache-control: max-age=60' || chr(10)"
        var jobs: [Int64] = []
        for path in ["a", "b", "c"] { jobs.append(try fixture.insert("service", "'s'", url: "http://h/\(path)")) }
        jobs.append(try fixture.queue.insert("service, method, url", "'s', 'POST', 'http://h/a'"))
        #expect(try fixture.take() == jobs)
        let calls = jobs.map { "select fixture.finish(null, fixture.attempt(\($0), 200, \(headers), 'x', 's', null))" }
        let other = try PGConnection(fixture.queue.database)
        try fixture.queue.connection.execute("set lock_timeout = '100ms'")
        try other.execute("begin; \(calls[0])")
        try fixture.queue.connection.execute(calls[1])
        let waits = try #require(throws: PGError.self) { try fixture.queue.connection.execute(calls[3]) }
        #expect(waits.sqlState?.rawValue == "55P03")
        try other.execute("commit; begin; \(calls[3])")
        let waitsToo = try #require(throws: PGError.self) { try fixture.queue.connection.execute(calls[2]) }
        #expect(waitsToo.sqlState?.rawValue == "55P03")
        try other.execute("commit")
        try fixture.queue.connection.execute(calls[2])
        #expect(
            try fixture.queue.rows("select right(url, 1) from postrider.cache_entries order by 1") == [["b"], ["c"]])
    }

    @Test func `Vary records are evicted with old entries, and after 31 days in any case`() throws {
        let fixture = try fixture()
        let headers = "cache-control: max-age=60\nvary: accept"
        let count = "select count(*) from postrider_internal.cache_varies"
        for path in ["a", "b", "c"] {
            let job = try fixture.insert("service", "'s'", url: "http://h/\(path)")
            #expect(try fixture.take() == [job])
            try fixture.answer(job, "x", headers: headers)
        }
        #expect(try fixture.queue.number(count) == 3)
        try fixture.queue.connection.execute(
            """
            update postrider_internal.cache_varies set stored_at = now() - interval '31 days'
             where key = (select key from postrider_internal.cache_varies order by key limit 1);
            select postrider_internal.cache_evict();
            """)
        #expect(try fixture.queue.number(count) == 2)
        // An entry that is stored again keeps its row. Its time is refreshed once an hour.
        try fixture.queue.connection.execute(
            "update postrider_internal.cache_varies set stored_at = now() - interval '2 h'; update postrider.cache_entries set created_at = now() - interval '1 day'"
        )
        for path in ["a", "b", "c"] {
            let job = try fixture.insert("service", "'s'", url: "http://h/\(path)")
            #expect(try fixture.take() == [job])
            try fixture.answer(job, "y", headers: headers)
        }
        #expect(try fixture.queue.number(count + " where stored_at = now()") == 0)
        #expect(try fixture.queue.number(count + " where stored_at > now() - interval '1 min'") == 3)
        try fixture.queue.connection.execute(
            """
            update postrider_internal.cache_varies set stored_at = now() - interval '2 h'
             where key = (select key from postrider_internal.cache_varies order by key limit 1);
            update postrider_internal.cache_cursor set before = clock_timestamp(), page = 0;
            select postrider_internal.cache_evict();
            """)
        #expect(try fixture.queue.number(count) == 2)
    }

    private func fixture() throws -> CacheFixture {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_mode, stale_if_error) values ('s', 'http://h/',
                'http', '1 hour')
            """)
        return fixture
    }

    private func age(_ fixture: borrowing CacheFixture, _ time: String) throws {
        try fixture.queue.connection.execute(
            "update postrider.cache_entries set created_at = created_at - interval '\(time)'")
    }
}
