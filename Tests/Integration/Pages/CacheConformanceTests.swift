// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The cache features of a client's request object, expressed by columns of `jobs`, against httpbin.
///
/// Each call of `/uuid` returns a new value. An equal value shows that no call was made.
struct CacheConformanceTests {
    private let httpbin: HttpbinServer

    init() throws {
        httpbin = try HttpbinServer()
    }

    /// Runs one job to its end. Returns `attempts.cache` (hit, miss or the reason of a miss) and the UUID.
    private func run(_ queue: borrowing TestQueue, _ columns: String, _ values: String) throws -> (String?, String?) {
        let id = try queue.insert("url, \(columns)", "'\(httpbin.url)/uuid', \(values)")
        try queue.wait(for: id, toBe: "succeeded")
        let row = try queue.rows(
            """
            select a.cache, s.result ->> 'uuid'
            from postrider.job_status s join postrider.attempts a on a.job_id = s.id where s.id = \(id)
            """)[0]
        return (row[0], row[1])
    }

    @Test func `a cached answer serves until cache_ttl has passed, and then a new answer replaces it`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try run(queue, "cache_ttl", "'1 h'")
        let second = try run(queue, "cache_ttl", "'1 h'")
        #expect(first.0 == "miss" && second.0 == "hit" && first.1 == second.1)
        // `cache_ttl` of the asking job limits the age of the answer.
        try queue.connection.execute("update postrider.cache_entries set created_at = created_at - interval '2 h'")
        let third = try run(queue, "cache_ttl", "'1 h'")
        #expect(third.0 == "cache_expired" && third.1 != first.1)
        #expect(try run(queue, "cache_ttl", "'1 h'") == ("hit", third.1))
        // An answer from the future does not count: the clock was set back.
        try queue.connection.execute("update postrider.cache_entries set created_at = now() + interval '1 min'")
        #expect(try run(queue, "cache_ttl", "'1 h'").0 == "cache_expired")
    }

    @Test func `ignore_cache, another cache_version and another cache_sensitive make a call and replace the entry`()
        throws
    {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try run(queue, "cache_ttl", "'1 h'")
        let fresh = try run(queue, "cache_ttl, ignore_cache", "'1 h', true")
        #expect(fresh.1 != first.1)
        #expect(try run(queue, "cache_ttl", "'1 h'") == ("hit", fresh.1))
        let newer = try run(queue, "cache_ttl, cache_version", "'1 h', 2")
        #expect(newer.0 == "cache_version")
        #expect(try run(queue, "cache_ttl, cache_version", "'1 h', 2") == ("hit", newer.1))
        #expect(try run(queue, "cache_ttl", "'1 h'").0 == "cache_version")
        let mine = try run(queue, "cache_ttl, cache_sensitive", "'1 h', 'ada'")
        #expect(mine.0 == "cache_sensitive")
        #expect(try run(queue, "cache_ttl, cache_sensitive", "'1 h', 'ada'") == ("hit", mine.1))
        #expect(try run(queue, "cache_ttl", "'1 h'").0 == "cache_sensitive")
    }

    @Test func `the cache returns JSON, text and bytes unchanged`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for path in ["json", "encoding/utf8", "image/png", "bytes/3000?seed=5", "html"] {
            var bodies: [String?] = []
            for _ in 1...2 {
                let id = try queue.insert("url, cache_ttl", "'\(httpbin.url)/\(path)', '1 h'")
                try queue.wait(for: id, toBe: "succeeded")
                bodies.append(
                    try queue.text(
                        """
                        select from_cache || md5(body) || length(body) || (response_headers ->> 'content-type')
                        from postrider.job_status where id = \(id)
                        """))
            }
            #expect(bodies[0]?.hasPrefix("false") == true && bodies[1]?.hasPrefix("true") == true, "\(path)")
            // Without the words false and true both texts must be equal.
            #expect(bodies[0]?.dropFirst(5) == bodies[1]?.dropFirst(4), "\(path)")
        }
    }

    @Test func `services share cached answers only in one namespace, and cache_put and cache_invalidate work`() throws {
        let queue = try TestQueue()
        for (name, space) in [("one", "shared"), ("two", "shared"), ("three", "own")] {
            try queue.connection.execute(
                """
                insert into postrider.services (name, base_url, cache_namespace)
                values ('\(name)', '\(httpbin.url)', '\(space)')
                """)
        }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var answers: [String: String?] = [:]
        for name in ["one", "two", "three"] {
            let id = try queue.insert("service, url, cache_ttl", "'\(name)', 'uuid', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
            answers[name] = try queue.text("select result ->> 'uuid' from postrider.job_status where id = \(id)")
        }
        #expect(answers["one"] == answers["two"])
        #expect(answers["one"] != answers["three"])
        // httpbin has no `/users/7`: the job succeeds only by the stored answer, and a call gets a 404.
        try queue.connection.execute(
            """
            select postrider.cache_put(
              '{"service": "three", "url": "users/7", "cache_ttl": "1 h"}', '{"name": "ada"}'::jsonb)
            """)
        let id = try queue.insert("service, url, cache_ttl", "'three', 'users/7', '1 h'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.text("select result ->> 'name' from postrider.job_status where id = \(id)") == "ada")
        try queue.connection.execute("select postrider.cache_invalidate('three', '%/users/%')")
        let gone = try queue.insert("service, url, cache_ttl", "'three', 'users/7', '1 h'")
        try queue.wait(for: gone, toBe: "failed")
        #expect(
            try queue.rows("select error_code, status_code::text from postrider.job_status where id = \(gone)")
                == [["http_status", "404"]])
    }
}
