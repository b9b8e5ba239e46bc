// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The cache with real workers and servers.
struct CacheTests {
    @Test func `64 identical requests on two workers make one call`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let workers = [
            try RunningWorker(queue.database, concurrency: 16), try RunningWorker(queue.database, concurrency: 16),
        ]
        defer { workers.kill() }
        for round in 1...3 {
            try queue.insert(64, "url, cache_ttl", "'\(target.url)/wait/200/\(round)', '1 hour'")
            try queue.waitUntilDone()
        }
        #expect(target.requests.count == 3)
        #expect(try queue.states() == "succeeded 192")
        #expect(try queue.number("select count(*) from postrider.attempts where cache = 'hit' and attempt = 1") == 189)
        #expect(try queue.number("select count(*) from postrider.job_status where from_cache and body = '{}'") == 189)
    }

    @Test func `if a shared call fails, the next waiting job calls, until a call succeeds`() throws {
        let target = try TargetServer { request in
            [.pause(milliseconds: 50)] + TargetStep.answer(request.turn < 4 ? 404 : 200)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        try queue.insert(20, "url, cache_ttl", "'\(target.url)/a', '1 hour'")
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 3, succeeded 17")
        #expect(target.requests.count == 4)
    }

    @Test func `jobs that wait for a killed worker's call go on once the worker is lost`() throws {
        let target = try TargetServer { request in request.turn > 1 ? TargetStep.answer(200) : [.hang] }
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        try queue.insert(1, "url, cache_ttl", "'\(target.url)/a', '1 hour'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        let second = try RunningWorker(queue.database)
        defer { second.kill() }
        try queue.insert(10, "url, cache_ttl", "'\(target.url)/a', '1 hour'")
        try queue.wait(until: "select count(*) = 10 from postrider.job_status where state = 'scheduled'")
        first.end(SIGKILL)
        try queue.waitUntilDone(40)
        #expect(try queue.states() == "succeeded 11")
        #expect(target.requests.count == 2)
    }

    @Test func `cache_invalidate affects all services of its namespace and no other`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_namespace)
            values ('a', '\(target.url)', 'shared'), ('b', '\(target.url)', 'shared'), ('c', '\(target.url)', '')
            """)
        func fetch(_ service: String, _ path: String) throws -> Bool {
            let id = try queue.insert("service, url, cache_ttl", "'\(service)', '\(path)', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
            return try queue.text("select from_cache::text from postrider.job_status where id = \(id)") == "true"
        }
        #expect(
            try [fetch("a", "ok"), fetch("b", "ok"), fetch("c", "ok"), fetch("c", "ok")] == [false, true, false, true])
        #expect(try queue.number("select postrider.cache_invalidate('b', '%/ok')") == 1)
        #expect(try [fetch("b", "ok"), fetch("c", "ok")] == [false, true])
    }

    @Test func `an expired cache entry is revalidated by a 304 from nginx`() throws {
        let nginx = try NginxServer(firstPort: 23_560)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let url = "http://127.0.0.1:\(nginx.port)/text"
        let first = try queue.insert("url, cache_ttl", "'\(url)', '1 hour'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.connection.execute("update postrider.cache_entries set created_at = created_at - interval '2 hours'")
        let second = try queue.insert("url, cache_ttl", "'\(url)', '1 hour'")
        try queue.wait(for: second, toBe: "succeeded")
        let third = try queue.insert("url, cache_ttl", "'\(url)', '1 hour'")
        try queue.wait(for: third, toBe: "succeeded")
        #expect(
            try queue.rows(
                """
                select a.cache, a.status_code::text, convert_from(s.body, 'UTF8'), s.from_cache::text
                from postrider.job_status s join postrider.attempts a on a.job_id = s.id order by s.id
                """) == [
                    ["miss", "200", "hello", "false"], ["revalidated", "200", "hello", "false"],
                    ["hit", "200", "hello", "true"],
                ])
    }

    @Test(arguments: [("/leads", 1), ("/moves", 2)])
    func `a 304 after a changed redirect does not revalidate the cache entry`(
        path: String, attempt: Int
    )
        throws
    {
        // The same ETag at two URLs. /leads always redirects, /moves redirects from its second turn on.
        let target = try TargetServer { request in
            switch request.path {
            case "/leads" where request.turn == 1:
                TargetStep.answer(302, headers: ["Location: /first"])
            case "/leads",
                "/moves" where request.turn > 1:
                TargetStep.answer(302, headers: ["Location: /second"])
            default:
                request.header("if-none-match") == nil
                    ? TargetStep.answer(200, "\"\(request.path)\"", headers: ["ETag: \"same\""])
                    : [.send([UInt8]("HTTP/1.1 304 Not Modified\r\nETag: \"same\"\r\n\r\n".utf8))]
            }
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for turn in 1...2 {
            let job = try queue.insert("url, cache_ttl, backoff", "'\(target.url)\(path)', '1 hour', '{0 s}'")
            try queue.wait(for: job, toBe: "succeeded")
            try queue.connection.execute(
                "update postrider.cache_entries set created_at = created_at - interval '2 hours'")
            let row = try queue.rows(
                "select attempt::text, result ->> 0 from postrider.job_status where id = \(job)")[0]
            #expect(row == (turn == 1 ? ["1", path == "/leads" ? "/first" : "/moves"] : ["\(attempt)", "/second"]))
        }
    }

    @Test func `stale_if_error serves an old answer while the server is down`() throws {
        let target = try TargetServer { request in
            request.turn == 1
                ? TargetStep.answer(200, "\"old\"") : request.turn == 2 ? TargetStep.answer(503) : [.reset]
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, stale_if_error) values ('s', '\(target.url)', '1 day')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for turn in 1...3 {
            let job = try queue.insert("service, url, cache_ttl", "'s', '/a', '1 hour'")
            try queue.wait(for: job, toBe: "succeeded")
            #expect(try queue.text("select result #>> '{}' from postrider.job_status where id = \(job)") == "old")
            #expect(
                try queue.text("select cache from postrider.attempts where job_id = \(job)")
                    == (turn == 1 ? "miss" : "stale"))
            try queue.connection.execute(
                "update postrider.cache_entries set created_at = now() - interval '2 hours', failed_at = null")
        }
        #expect(try queue.number("select count(*) from postrider.attempts where attempt > 1") == 0)
    }

    @Test func `a killed worker leaves no incomplete cache entry`() throws {
        let target = try TargetServer { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return TargetStep.answer(
                200, String(repeating: "\(number) ", count: number * 50), headers: ["Etag: \"\(number)\""])
        }
        let queue = try TestQueue()
        for round in 1...Soak.count(50, reduced: 3) {
            let worker = try RunningWorker(queue.database, concurrency: 32)
            try queue.insert(
                1500, "url, cache_ttl, cache_version", "'\(target.url)/' || 1 + (i * 7919) % 600, '1 hour', \(round)")
            try TestClock.wait(20, for: "answers to be stored") {
                try queue.number("select count(*) from postrider.cache_entries where version = \(round)") > 20
            }
            TestClock.sleep(milliseconds: round * 37 % 190)
            worker.end(SIGKILL)
            #expect(
                try queue.number(
                    """
                    select count(*) from postrider.cache_entries e
                    where e.sha256 <> sha256(e.body) or e.etag <> '"' || split_part(e.url, '/', 4) || '"'
                       or convert_from(e.body, 'UTF8')
                          <> repeat(split_part(e.url, '/', 4) || ' ', 50 * split_part(e.url, '/', 4)::int)
                    """) == 0)
        }
        let last = try RunningWorker(queue.database, concurrency: 32)
        defer { last.kill() }
        try queue.waitUntilDone(120)
        try queue.report(
            .cache, attack: "SIGKILL while answers are stored", rounds: Soak.count(50, reduced: 3),
            calls: target.requests.count)
        #expect(
            try queue.number(
                """
                select count(*) from postrider.job_status
                where state <> 'succeeded' or convert_from(body, 'UTF8')
                   <> repeat(split_part(url, '/', 4) || ' ', 50 * split_part(url, '/', 4)::int)
                """) == 0)
        #expect(try queue.number("select count(*) from postrider.job_status where from_cache") > 0)
        #expect(
            try queue.number("select sum(bytes)::bigint from postrider.cache_entries")
                == queue.number("select sum(bytes)::bigint from postrider.cache_status"))
    }
}
