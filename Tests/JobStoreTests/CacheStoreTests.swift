// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Entries that a user stores or deletes, and the size limit.
struct CacheStoreTests {
    @Test func `cache_put stores an answer that serves later identical jobs`() throws {
        let fixture = try CacheFixture()
        let put =
            "select postrider.cache_put('{\"kind\": \"request\", \"url\": \"http://h/a\", \"cache_version\": 3}', '{\"a\": 1}'::jsonb)::text"
        #expect(try fixture.queue.text(put) == "true")
        #expect(try fixture.fetch("cache_version", "3") == "succeeded hit 200 {\"a\": 1}")
        #expect(try fixture.queue.text("select result ->> 'a' from postrider.job_status") == "1")
        try fixture.queue.connection.execute(
            "select postrider.cache_put('{\"url\": \"http://h/a\", \"method\": \"POST\", \"body\": \"x\"}', 'text', '2.0')"
        )
        let job = try fixture.insert("method, body", "'POST', 'x'")
        #expect(try fixture.take(app: "2.0") == [])
        #expect(try fixture.look(job) == "succeeded hit 200 text")
        try fixture.queue.connection.execute(
            "select postrider.cache_put('{\"url\": \"http://h/b\"}', '\\x00ff'::bytea)")
        #expect(
            try fixture.queue.text("select encode(body, 'hex') from postrider.cache_entries where url = 'http://h/b'")
                == "00ff")
    }

    @Test(arguments: [
        ("'[]'", "$: the spec must be an object"), ("'{\"uri\": \"http://h\"}'", "$.uri: no such key"),
        ("'{\"url\": \"nowhere\"}'", "$.url:"), ("'{\"url\": \"http://h\", \"method\": \"GOT\"}'", "$.method:"),
        ("'{\"url\": \"http://h\", \"cache_version\": \"x\"}'", "$: "),
        ("'{\"url\": \"http://h\", \"cache_ttl\": \"0\"}'", "$.cache_ttl:"),
        ("'{\"url\": \"/a\", \"service\": \"none\"}'", "$.service:"),
        ("'{\"url\": \"http://h\", \"method\": \"HEAD\"}'", "$.method: an answer to HEAD"),
        ("'{\"url\": \"http://h\", \"download_to\": \"a\"}'", "$.download_to: an answer that"),
        ("'{\"url\": \"http://h\", \"kind\": \"chain\"}'", "$.kind: must be request"),
        ("'{\"url\": \"http://h\", \"id\": 1}'", "$.id: no such key"),
    ])
    func `cache_put names the JSON path of an error in its spec`(spec: String, message: String) throws {
        let fixture = try CacheFixture()
        #expect {
            try fixture.queue.connection.execute("select postrider.cache_put(\(spec), 'x'::text)")
        } throws: { "\($0)".contains(message) }
    }

    @Test func `CDN calls are cached without a base URL, separately for each CDN`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, cdn_url, cache_namespace)
            values ('one', 'http://one/', 'shared'), ('two', 'http://two/', 'shared')
            """)
        for service in ["one", "two"] {
            let first = try fixture.insert("service, use_cdn", "'\(service)', true", url: "a")
            #expect(try fixture.take() == [first])
            #expect(try fixture.answer(first, service) == "succeeded miss 200 \(service)")
            let second = try fixture.insert("service, use_cdn", "'\(service)', true", url: "a")
            #expect(try fixture.take() == [])
            #expect(try fixture.look(second) == "succeeded hit 200 \(service)")
        }
    }

    @Test func `cache_invalidate deletes entries by service and a LIKE pattern of the URL`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('s', 'http://h/v1');
            select postrider.cache_put(jsonb_build_object('url', 'http://h/' || p), 'x'::text)
              from unnest('{a/1,a/2,b/1}'::text[]) p;
            select postrider.cache_put('{"url": "a/1", "service": "s"}', 'x'::text);
            """)
        #expect(try fixture.queue.number("select postrider.cache_invalidate('', 'http://h/a/%')") == 2)
        #expect(try fixture.queue.number("select postrider.cache_invalidate('s', '%/v1/a/_')") == 1)
        #expect(try fixture.queue.number("select postrider.cache_invalidate()") == 1)
        #expect(
            try fixture.queue.rows(
                "select sum(entries)::text, sum(bytes)::text, sum(invalidated)::text from postrider.cache_status")
                == [["0", "0", "4"]])
    }

    @Test func `a cache above its size limit evicts the least recently used entries`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            select postrider.cache_put(jsonb_build_object('url', 'http://h/' || i), repeat('x', 300))
              from generate_series(1, 2000) i;
            update postrider.cache_entries set last_used = now() - substr(url, 10)::int * interval '1 s';
            update postrider.settings set cache_max_bytes = 1000 * (select max(bytes) from postrider.cache_entries);
            select postrider_internal.run_cache_duties();
            """)
        let rest = try fixture.queue.rows(
            "select count(*)::text, max(substr(url, 10)::int)::text from postrider.cache_entries")
        let count = Int(rest[0][0] ?? "") ?? 0
        // A tenth less than 1,000 of the largest. The table has fewer pages than the sample, so all entries are seen.
        #expect((895...910).contains(count), "\(count)")
        #expect(rest[0][1] == "\(count)")
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(
            try fixture.queue.rows("select entries::text, bytes::text, evicted::text from postrider.cache_status")
                == fixture.queue.rows(
                    "select count(*)::text, sum(bytes)::text, (2000 - count(*))::text from postrider.cache_entries"))
    }

    @Test func `repeated duties shrink a large cache below its limit, oldest entries first`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            select postrider.cache_put(jsonb_build_object('url', 'http://h/' || i), repeat('x', 1500))
              from generate_series(1, 12000) i;
            update postrider.cache_entries set last_used = now() - substr(url, 10)::int * interval '1 s';
            update postrider.settings set cache_max_bytes = 6000 * (select max(bytes) from postrider.cache_entries);
            """)
        for _ in 1...8 { try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()") }
        let rest = try fixture.queue.number("select count(*) from postrider.cache_entries")
        #expect((4000...6000).contains(rest))
        #expect(try fixture.queue.number("select max(substr(url, 10)::bigint) from postrider.cache_entries") < 7000)
        #expect(
            try fixture.queue.number("select count(*) from postrider_internal.cache_cursor where before is null") == 1)
    }

    @Test func `an answer that would fill a quarter of the cache is not stored`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute("update postrider.settings set cache_max_bytes = 4000")
        try fixture.fetch("", "", String(repeating: "x", count: 1000))
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
    }

    @Test func `folding the cache counters leaves cache_status unchanged`() throws {
        let fixture = try CacheFixture()
        try fixture.fetch()
        try fixture.fetch()
        try fixture.fetch("cache_version", "2")
        let status = "select (c)::text from postrider.cache_status c"
        let before = try fixture.queue.text(status)
        try fixture.queue.connection.execute("select postrider_internal.run_cache_duties()")
        #expect(try fixture.queue.text(status) == before)
        #expect(try fixture.queue.number("select count(*) from postrider_internal.cache_deltas") == 0)
    }
}
