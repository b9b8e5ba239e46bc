// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The requests that share a cache entry.
struct CacheKeyTests {
    @Test(arguments: [
        ("url", "'http://h/a?x=1&y=2'", "'http://h/a?y=2&x=1'"),
        ("url", "'http://h/a?x=1&x=2&b=3'", "'http://h/a?b=3&x=1&x=2'"),
        ("url", "'http://h/a#one'", "'http://h/a#two'"),
        ("url, query", "'http://h/a', '{\"x\": 1, \"y\": [1, 2]}'", "'http://h/a', '{\"y\": [1,2], \"x\": 1}'"),
        (
            "method, url, body_json", "'POST', 'http://h/a', '{\"x\": 1, \"y\": 2}'",
            "'POST', 'http://h/a', '{\"y\":2,\"x\":1}'"
        ),
        (
            "method, url, body_form", "'POST', 'http://h/a', '{\"x\": 1, \"y\": 2}'",
            "'POST', 'http://h/a', '{\"y\":2,\"x\":1}'"
        ),
        ("url, headers", "'http://h/a', '{\"X-Request\": \"1\"}'", "'http://h/a', '{\"X-Request\": \"2\"}'"),
        ("url, service", "'b?ts=1&x=2', 's'", "'b?x=2&ts=7', 's'"),
        ("url, service", "'b', 's'", "'http://h/v1/b', 's'"), ("url, service", "'/b', 's'", "'http://h/b', 's'"),
        ("url, service", "'c/../b', 's'", "'b', 's'"),
        ("url, service, query", "'b', 's', '{\"ts\": 1, \"x\": 2}'", "'b', 's', '{\"x\": 2}'"),
        (
            "method, url, service, body_json", "'POST', 'b', 's', '{\"ts\": 1, \"x\": 2}'",
            "'POST', 'b', 's', '{\"x\": 2, \"ts\": 3}'"
        ),
        (
            "method, url, service, body_form", "'POST', 'b', 's', '{\"ts\": 1, \"x\": 2}'",
            "'POST', 'b', 's', '{\"x\": 2, \"ts\": 3}'"
        ),
        ("url, service, query", "'b?x=1&ts=1', 's', null", "'b?x=1', 's', '{\"ts\": 5}'"),
        ("url, service, query", "'b?ts=1', 's', null", "'b', 's', '{\"ts\": 5}'"),
        ("url, query, headers", "'http://h/a', '{}', '{}'", "'http://h/a', null, null"),
        ("url, service", "'b', 'empty'", "'b', 'plain'"),
        ("url, service", "'b', 'shared1'", "'b', 'shared2'"),
        ("url, headers", "'http://h/a', '{\"Cookie\": \"a=1\"}'", "'http://h/a', '{\"cookie\": \"a=1\"}'"),
        ("url, service", "'b?x=1', 'tenant'", "'http://h/v1/b?x=1', 'tenant'"),
        ("url, service", "'b?x=1', 'owner'", "'http://h/v1/b?x=1', 'owner'"),
    ])
    func `equivalent requests share a cache key`(columns: String, one: String, other: String) throws {
        #expect(try entries(columns, one, other) == 1)
    }

    @Test(arguments: [
        ("url", "'http://h/a'", "'http://h/b'"), ("url", "'http://h/a'", "'http://i/a'"),
        ("url", "'http://h/a'", "'https://h/a'"),
        ("url", "'http://h/a'", "'http://h:81/a'"), ("url", "'http://h/a?x=1&x=2'", "'http://h/a?x=2&x=1'"),
        ("url", "'http://h/a?x=1&x=1&y=2'", "'http://h/a?x=1&y=2&y=2'"),
        ("url", "'http://h/a?x=1'", "'http://h/a?x=1&x=1'"),
        ("url, query", "'http://h/a', '{\"q\": \"a%20b\"}'", "'http://h/a?q=a%20b', null"),
        ("url, query", "'http://h/a', '{\"x\": [1, 2]}'", "'http://h/a', '{\"x\": [2, 1]}'"),
        ("method, url", "'GET', 'http://h/a'", "'POST', 'http://h/a'"),
        ("method, url, body", "'POST', 'http://h/a', 'x'", "'POST', 'http://h/a', 'y'"),
        ("method, url, body, body_json", "'POST', 'http://h/a', '{}', null", "'POST', 'http://h/a', null, '{}'"),
        ("url, headers", "'http://h/a', '{\"Authorization\": \"a\"}'", "'http://h/a', '{\"authorization\": \"b\"}'"),
        ("url, headers", "'http://h/a', '{\"Cookie\": \"a=1\"}'", "'http://h/a', null"),
        ("url, service", "'b?x=2', 's'", "'b?x=3', 's'"), ("url, service", "'b', 's'", "'b', 'shared1'"),
        ("url, service", "'http://h/v1/b', 's'", "'http://h/v1/b', null"),
        ("url", "'http://h?email=a@b.c'", "'http://h?email=a@b.d'"),
    ])
    func `different requests have different cache keys`(columns: String, one: String, other: String) throws {
        #expect(try entries(columns, one, other) == 2)
    }

    @Test func `cache_digest sorts thousands of query arguments within 3 seconds`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set statement_timeout = '3s'")
        func key(_ arguments: [String]) throws -> String? {
            try queue.text(
                """
                select postrider_internal.cache_digest('GET', 'http://h/a?\(arguments.joined(separator: "&"))', false, null, null, null, null,
                  null, null, null, null, null, null, '{ts}', '')::text
                """)
        }
        let few = ["b=2", "B=1", "b=1", "a.b", "a=1", "b", "aé=1", "z="]
        let ignored = (1...60).map { "ts=\($0)" }
        #expect(try key(few) == key(ignored + few + [""]))
        #expect(try key(few) != key(ignored + few.reversed()))
        let many = (10_000..<16_000).map { "\($0)" }
        #expect(try key(many) == key(many.reversed()))
    }

    @Test func `an answer of a service with a password in its URL is not cached`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('p', 'http://ada:secret@h/')")
        let job = try fixture.queue.insert("url, service, cache_ttl", "'a', 'p', '1 min'")
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job) == "succeeded 200 body")
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
    }

    /// The number of different keys of two jobs.
    private func entries(_ columns: String, _ one: String, _ other: String) throws -> Int64 {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_ignore, cache_namespace, query)
            values ('s', 'http://h/v1', '{ts}', '', null),
              ('shared1', 'http://h/v1/', '{}', 'n', null), ('shared2', 'http://h/v1', '{}', 'n', null),
              ('plain', 'http://h/v1', '{ts}', 'm', null), ('empty', 'http://h/v1', '{ts}', 'm', '{"ts": 1}');
            insert into postrider.services (name, base_url, apply_to_absolute, query, headers)
            values ('tenant', 'http://h/v1', false, '{"tenant": "b"}', null),
              ('owner', 'http://h/v1', false, null, '{"Authorization": "b"}')
            """)
        try fixture.queue.insert("\(columns), cache_ttl", "\(one), '1 min'")
        try fixture.queue.insert("\(columns), cache_ttl", "\(other), '1 min'")
        return try fixture.queue.number(
            """
            select count(distinct postrider_internal.cache_key(j, s)) from postrider.jobs j
            left join postrider.services s on s.name = j.service
            """)
    }
}
