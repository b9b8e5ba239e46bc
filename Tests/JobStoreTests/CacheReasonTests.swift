// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The entries that serve a job, and the reason given when an entry does not.
struct CacheReasonTests {
    @Test func `an XML job is served only by entries that a worker has parsed as XML`() throws {
        let fixture = try CacheFixture()
        let outdate = "update postrider.cache_entries set created_at = created_at - interval '2 min'"
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '1 hour')")
        try fixture.fetch("service", "'s'", "<a>", headers: "etag: \"1\"")
        let job = try fixture.insert("service, response_format", "'s', 'xml'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, "<a/>", headers: "etag: \"1\"") == "succeeded miss 200 <a/>")
        #expect(try fixture.fetch("service, response_format", "'s', 'xml'") == "succeeded hit 200 <a/>")
        try fixture.queue.connection.execute(outdate)
        let asking = try fixture.insert("service, response_format", "'s', 'xml'")
        #expect(try fixture.take() == [asking])
        #expect(
            try fixture.answer(asking, status: 304, verdict: "f", code: "http_status")
                == "succeeded revalidated 200 <a/>")
        // A raw job gets the entry unchanged. Its own answer is stored as unread, so an XML job can use it neither after
        // a 304 nor as stale.
        #expect(try fixture.fetch("service", "'s'") == "succeeded hit 200 <a/>")
        try fixture.queue.connection.execute(outdate)
        let late = try fixture.insert("service, response_format, max_attempts", "'s', 'xml', 1")
        #expect(try fixture.take() == [late])
        let spec = #"{"service": "s", "url": "http://h/a", "response_format": "xml"}"#
        try fixture.queue.connection.execute(
            "select postrider.cache_put('\(spec)', '<a>'::text); update postrider.cache_entries set etag = '\"1\"'; \(outdate)"
        )
        let end = try fixture.answer(late, status: 503, verdict: "r", code: "http_status")
        #expect(end == "failed cache_expired http_status 503 body")
        let last = try fixture.insert("service, response_format, max_attempts", "'s', 'xml', 1")
        #expect(try fixture.take() == [last])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
    }

    @Test(arguments: ["at_least_once", "at_most_once"])
    func `a cached HTML page that counts as a 502 is a miss`(delivery: String) throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, html_is_502) values ('s', 'http://h/', true)")
        try fixture.fetch("service", "'s'", "<html>", headers: "content-type: text/html")
        let job = try fixture.insert(
            "service, delivery, max_attempts, response_format", "'s', '\(delivery)', 1, 'json'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, "{}") == "succeeded miss 200 {}")
    }

    @Test func `an entry serves the next job without a call, with its status, headers and body`() throws {
        let fixture = try CacheFixture()
        #expect(
            try fixture.fetch("", "", "one", headers: "content-type: text/plain\n x-a: 1") == "succeeded miss 200 one")
        let job = try fixture.insert()
        #expect(try fixture.take() == [])
        #expect(try fixture.look(job) == "succeeded hit 200 one")
        let row = try fixture.queue.rows(
            """
            select from_cache::text, attempt::text, response_headers ->> 'content-type'
            from postrider.job_status where id = \(job)
            """)
        #expect(row == [["true", "1", "[\"text/plain\"]"]])
        #expect(
            try fixture.queue.rows("select hits::text, misses::text, entries::text from postrider.cache_status")
                == [["1", "1", "1"]])
    }

    @Test(arguments: [
        ("created_at = clock_timestamp() - interval '2 min'", "cache_expired"),
        ("created_at = clock_timestamp() + interval '1 min'", "cache_expired"),
        ("version = 7", "cache_version"), ("sensitive = 'ada'", "cache_sensitive"),
        ("app_version = '2.1'", "cache_app_version"),
        ("status = null", "cache_metadata"), ("headers = null", "cache_metadata"), ("ttl = null", "cache_metadata"),
        ("created_at = null", "cache_metadata"), ("created_at = 'infinity'", "cache_metadata"),
        ("status = 7", "cache_metadata"), ("sha256 = null", "cache_metadata"),
        ("body = null", "cache_data"), ("body = 'bode'", "cache_data"),
        // The first reason in the order of the metadata counts.
        ("version = 7, sensitive = 'ada', body = null", "cache_version"),
        ("created_at = clock_timestamp() - interval '2 min', version = 7", "cache_expired"),
    ])
    func `an unfit entry is replaced by the new answer, and the reason is recorded`(
        change: String, reason: String
    ) throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old")
        try fixture.queue.connection.execute("update postrider.cache_entries set \(change)")
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, "new") == "succeeded \(reason) 200 new")
        #expect(try fixture.fetch() == "succeeded hit 200 new")
        #expect(try fixture.queue.number("select \(reason) from postrider.cache_status") == 1)
        #expect(try fixture.queue.number("select entries from postrider.cache_status") == 1)
        #expect(
            try fixture.queue.number("select sum(bytes)::bigint from postrider.cache_entries")
                == fixture.queue.number("select bytes from postrider.cache_status"))
    }

    @Test func `a job with another cache_version or cache_sensitive misses and replaces the entry`() throws {
        let fixture = try CacheFixture()
        #expect(try fixture.fetch("cache_version", "1", "a") == "succeeded miss 200 a")
        #expect(try fixture.fetch("cache_version", "2", "b") == "succeeded cache_version 200 b")
        #expect(try fixture.fetch("cache_version", "1", "c") == "succeeded cache_version 200 c")
        #expect(try fixture.fetch("cache_version", "1") == "succeeded hit 200 c")
        #expect(try fixture.fetch("cache_version, cache_sensitive", "1, 'x'", "d") == "succeeded cache_sensitive 200 d")
        #expect(try fixture.fetch("cache_version", "1", "e") == "succeeded cache_sensitive 200 e")
    }

    @Test func `an entry serves only workers of the same app version`() throws {
        let fixture = try CacheFixture()
        let first = try fixture.insert()
        #expect(try fixture.take(app: "1.0") == [first])
        try fixture.answer(first, "old", app: "1.0")
        let same = try fixture.insert()
        #expect(try fixture.take(app: "1.0") == [])
        #expect(try fixture.look(same) == "succeeded hit 200 old")
        let other = try fixture.insert()
        #expect(try fixture.take(app: "1.1") == [other])
        #expect(try fixture.answer(other, "new", app: "1.1") == "succeeded cache_app_version 200 new")
    }

    @Test func `a job with ignore_cache skips the entry and stores its answer`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old")
        #expect(try fixture.fetch("ignore_cache", "true", "new") == "succeeded miss 200 new")
        #expect(try fixture.fetch() == "succeeded hit 200 new")
    }

    @Test(arguments: [
        (206, "x: y", "s", ""), (200, "set-cookie: a=b", "s", ""), (200, "x: y\nSet-Cookie: a=b", "s", ""),
        (500, "x: y", "f", "http_status"), (404, "x: y", "f", "http_status"), (0, "", "f", "tls_verify"),
    ])
    func `partial answers, answers with cookies and failures are not stored`(
        status: Int, headers: String, verdict: String, code: String
    )
        throws
    {
        let fixture = try CacheFixture()
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        try fixture.answer(
            job, status: status, headers: headers.lowercased(), verdict: verdict, code: code.isEmpty ? nil : code)
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
        let next = try fixture.insert()
        #expect(try fixture.take() == [next])
    }

    @Test func `the answer to a POST is cached, and its body is part of the key`() throws {
        let fixture = try CacheFixture()
        #expect(try fixture.fetch("method, body_json", "'POST', '{\"a\": 1}'", "one") == "succeeded miss 200 one")
        #expect(try fixture.fetch("method, body_json", "'POST', '{\"a\":1}'") == "succeeded hit 200 one")
        #expect(try fixture.fetch("method, body_json", "'POST', '{\"a\": 2}'", "two") == "succeeded miss 200 two")
    }

    @Test func `a cached body of a megabyte is served whole`() throws {
        let fixture = try CacheFixture()
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        try fixture.answer(job, String(repeating: "0123456789", count: 100_000))
        let next = try fixture.insert()
        #expect(try fixture.take() == [])
        #expect(
            try fixture.queue.number("select count(distinct body) from postrider.job_status where state = 'succeeded'")
                == 1)
        #expect(try fixture.queue.text("select cache from postrider.attempts where job_id = \(next)") == "hit")
    }

    @Test func `last_used of an entry is updated at most once a minute`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch()
        let used = "select extract(epoch from clock_timestamp() - last_used)::bigint from postrider.cache_entries"
        try fixture.queue.connection.execute("update postrider.cache_entries set last_used = now() - interval '50 s'")
        try fixture.fetch()
        #expect(try fixture.queue.number(used) >= 50)
        try fixture.queue.connection.execute("update postrider.cache_entries set last_used = now() - interval '70 s'")
        try fixture.fetch()
        #expect(try fixture.queue.number(used) < 50)
    }

    @Test(arguments: [
        ("cache_ttl", "'0'", "cache_ttl: must be more than 0"),
        ("cache_ttl", "'-1 s'", "cache_ttl: must be more than 0"),
        ("cache_ttl", "'101 years'", "cache_ttl: must be more than 0"),
        ("ignore_cache", "true", "ignore_cache: is for"),
        ("cache_version", "null", "cache_version: must not be null"),
        ("cache_ttl, cache_sensitive", "'1 s', repeat('x', 1001)", "cache_sensitive: must have"),
        (
            "cache_ttl, method, body_parts", "'1 s', 'POST', '[{\"name\": \"a\", \"file\": \"b\"}]'",
            "cache_ttl: cannot be used with a part"
        ),
    ])
    func `an INSERT with invalid or unusable cache columns is refused`(columns: String, values: String, message: String)
        throws
    {
        let fixture = try CacheFixture()
        #expect {
            try fixture.queue.insert("url, \(columns)", "'http://h/a', \(values)")
        } throws: { "\($0)".contains("jobs.\(message)") }
        #expect {
            try fixture.insert(url: "http://ada:secret@h/a")
        } throws: { "\($0)".contains("jobs.cache_ttl: cannot be used with a user") && !"\($0)".contains("secret") }
    }
}
