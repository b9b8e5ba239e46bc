// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The handling of entries that are too old.
struct CacheStaleTests {
    private static let outdate = "update postrider.cache_entries set created_at = created_at - interval '2 min'"

    @Test func `an expired entry is revalidated by ETag and date, and a 304 renews it`() throws {
        let fixture = try CacheFixture()
        let dates = "last-modified: Fri, 20 Nov 2026 10:00:00 GMT"
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"\n\(dates)\nx-a: 1\ncontent-type: text/plain")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(
            try fixture.queue.text("select headers::text from fixture.held")
                == #"{if-none-match,"\"v1\"",if-modified-since,"Fri, 20 Nov 2026 10:00:00 GMT"}"#)
        let end = try fixture.answer(
            job, "", status: 304, headers: "etag: \"v1\"\nx-a: 2\ncontent-length: 0", verdict: "f", code: "http_status")
        #expect(end == "succeeded revalidated 200 old")
        #expect(
            try fixture.queue.text("select response_headers::text from postrider.job_status where id = \(job)")
                == #"{"x-a": ["2"], "etag": ["\"v1\""], "content-type": ["text/plain"], "last-modified": ["Fri, 20 Nov 2026 10:00:00 GMT"]}"#
        )
        #expect(try fixture.fetch() == "succeeded hit 200 old")
        #expect(try fixture.queue.number("select revalidated from postrider.cache_status") == 1)
    }

    @Test(arguments: [("cache_version", "2"), ("cache_sensitive", "'ada'")])
    func `an entry with another version, sensitive value or app version is not revalidated`(
        column: String, value: String
    ) throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert(column, value)
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
        #expect(try fixture.answer(job, "new", headers: "etag: \"v1\"") == "succeeded cache_expired 200 new")
        let other = try fixture.insert(column, value)
        #expect(try fixture.take(app: "2.0") == [other])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
    }

    @Test(arguments: ["version = 7", "sensitive = 'ada'", "app_version = '2.0'"])
    func `a 304 serves no entry whose version or sensitive value changed during the call`(change: String) throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        try fixture.queue.connection.execute("update postrider.cache_entries set \(change)")
        let before = try fixture.queue.text("select (e)::text from postrider.cache_entries e")
        try fixture.answer(job, "", status: 304, verdict: "f", code: "http_status")
        #expect(try fixture.queue.state(job) == "scheduled")
        #expect(try fixture.queue.text("select (e)::text from postrider.cache_entries e") == before)
    }

    @Test(arguments: [
        "etag: \"\u{1}\"", "etag: \"é\"", "etag: \"a\"\netag: \"b\"", "etag: a, b",
        "etag: \(String(repeating: "x", count: 300))",
        "etag:", "last-modified: yesterday", "last-modified: Fri, 20 Nov 2026 10:00:00 GMT\u{1}",
    ])
    func `a malformed ETag or Last-Modified is not used for revalidation`(headers: String) throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: headers)
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS"])
    func `an expired entry of a POST, PUT, DELETE or OPTIONS is not revalidated by ETag`(method: String) throws {
        let fixture = try CacheFixture()
        try fixture.fetch("method", "'\(method)'", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert("method", "'\(method)'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
        #expect(try fixture.answer(job, "new", headers: "etag: \"v1\"") == "succeeded cache_expired 200 new")
    }

    @Test func `a 200 replaces an expired entry`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        #expect(try fixture.fetch("", "", "new", headers: "etag: \"v2\"") == "succeeded cache_expired 200 new")
        #expect(try fixture.fetch() == "succeeded hit 200 new")
    }

    @Test func `a job's own If-None-Match is sent unchanged, and a 304 to it fails the job`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert("headers", "'{\"If-None-Match\": \"x\"}'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == "{If-None-Match,x}")
        let end = try fixture.answer(job, "", status: 304, verdict: "f", code: "http_status")
        #expect(end.hasPrefix("failed cache_expired http_status 304"))
    }

    @Test func `a 304 for a deleted entry leads to a retry`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch("", "", "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.number("select postrider.cache_invalidate()") == 1)
        try fixture.answer(job, "", status: 304, verdict: "f", code: "http_status")
        #expect(try fixture.queue.state(job) == "scheduled")
        #expect(try fixture.queue.number("select attempt::bigint from postrider.job_status where id = \(job)") == 1)
    }

    @Test(arguments: [
        (0, "connect", "r", true), (0, "timeout", "r", true), (503, "http_status", "r", true),
        (500, "http_status", "r", true),
        (0, "tls_verify", "f", false), (404, "http_status", "f", false), (429, "http_429", "w", false),
        (503, "http_status", "w", true),
        (408, "http_status", "r", false),
    ])
    func `stale_if_error serves a stale entry only while the server fails`(
        status: Int, code: String, verdict: String, serves: Bool
    ) throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '1 hour')")
        try fixture.fetch("service", "'s'", "old")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert("service", "'s'")
        #expect(try fixture.take() == [job])
        let end = try fixture.answer(job, "sorry", status: status, verdict: verdict, code: code)
        #expect((end == "succeeded stale 200 old") == serves)
        // For a second, other jobs are served without a call to the server that just failed.
        let next = try fixture.insert("service", "'s'")
        // After a 429, the lane also waits.
        #expect(try fixture.take() == (serves || status == 429 ? [] : [next]))
    }

    @Test(arguments: [
        ("GET", 503, "http_status", "f", "succeeded stale 201 old"),
        ("POST", 500, "http_status", "f", "succeeded stale 201 old"),
        ("GET", 0, "timeout", "u", "succeeded stale 201 old"), ("HEAD", 0, "timeout", "u", "succeeded stale 201 old"),
        ("POST", 0, "timeout", "u", "unknown cache_expired timeout sorry"),
        ("GET", 404, "http_status", "f", "failed cache_expired http_status 404 sorry"),
        ("GET", 200, "http_status", "f", "failed cache_expired http_status 200 sorry"),
    ])
    func `an at_most_once job gets a stale entry unless its call may have acted`(
        method: String, status: Int, code: String, verdict: String, expected: String
    ) throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '1 hour')")
        let columns = "service, method, delivery, max_attempts, ok_statuses"
        let values = "'s', '\(method)', 'at_most_once', 1, '{[201,202)}'"
        let first = try fixture.insert(columns, values)
        #expect(try fixture.take() == [first])
        try fixture.answer(first, "old", status: 201)
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert(columns, values)
        #expect(try fixture.take() == [job])
        let end = try fixture.answer(job, "sorry", status: status, verdict: verdict, code: code)
        #expect(end == expected)
    }

    @Test func `a job is called if the entry's failed_at lies in the future`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '1 hour')")
        try fixture.fetch("service", "'s'", "old")
        try fixture.queue.connection.execute(
            Self.outdate + "; update postrider.cache_entries set failed_at = clock_timestamp() + interval '5 min'")
        let job = try fixture.insert("service", "'s'")
        #expect(try fixture.take() == [job])
    }

    @Test func `an entry older than stale_if_error is not served, so the job fails`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '30 s')")
        try fixture.fetch("service", "'s'", "old")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert("service, max_attempts", "'s', 1")
        #expect(try fixture.take() == [job])
        #expect(
            try fixture.answer(job, status: 503, verdict: "r", code: "http_status").hasPrefix(
                "failed cache_expired http_status 503"))
    }

    @Test func `stale_if_error serves no entry to a job with ignore_cache`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h/', '1 hour')")
        try fixture.fetch("service", "'s'", "old")
        let job = try fixture.insert("service, max_attempts, ignore_cache", "'s', 1, true")
        #expect(try fixture.take() == [job])
        let end = try fixture.answer(job, "sorry", status: 500, verdict: "r", code: "http_status")
        #expect(end == "failed miss http_status 500 sorry")
    }
}
