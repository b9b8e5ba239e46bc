// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// The dashboard's answers to requests, apart from the page's content.
struct DashboardAnswerTests {
    @Test func `all pages have headers that forbid foreign content, frames and caching`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        for path in ["/", "/jobs", "/jobs/1", "/metrics", "/healthz", "/nowhere"] {
            let headers = try watched.pages.read(path).headers
            let policy = try #require(headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none';") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("http"))
            #expect(headers["cache-control"] == "no-store")
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["referrer-policy"] == "same-origin")
        }
    }

    @Test func `the dashboard marks a queue with ready jobs and no worker`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database, ["--queue", "mail"])
        try watched.wait(until: "/readyz", hasStatus: 200)
        try queue.insert("url, queue", "'http://h/', 'mial'")
        try queue.insert("url, queue, run_at", "'http://h/', 'later', now() + interval '1 h'")
        let page = try watched.pages.read("/").lines.joined(separator: "\n")
        #expect(page.contains(#"<span class="state no worker">no worker</span>"#), "\(page)")
        #expect(page.contains(#"<span class="state open">open</span>"#))
    }

    /// An attacker's host name can resolve to 127.0.0.1. It must not make our pages part of the attacker's site.
    @Test func `without a token, only a Host of localhost or an IP address gets an answer`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        for (host, isAnswered) in [
            ("127.0.0.1", true), ("127.0.0.1:9464", true), ("localhost:9464", true), ("LOCALHOST", true),
            ("[::1]:80", true),
            ("rebound.example.com", false), ("127.0.0.1.example.com:80", false), ("localhost.example.com", false),
            ("", false),
        ] {
            for path in ["/", "/metrics", "/jobs/1"] {
                let status = try watched.pages.read(path, headers: ["Host: \(host)"]).status
                #expect((status != 421) == isAnswered, "\(host) \(path): \(status)")
            }
            #expect(try watched.pages.read("/healthz", headers: ["Host: \(host)"]).status == 200)
        }
    }

    @Test func `with a token, each Host is answered, and every page requires the token`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("token", "0123456789abcdef0123\n")
        let watched = try WatchedWorker(queue.database, ["--http-token-file", folder.path("token")])
        for path in ["/", "/jobs", "/jobs/1", "/lanes", "/dashboard.js", "/nowhere", "/metrics"] {
            let refused = try watched.pages.read(path)
            #expect(refused.status == 401)
            // Of two headers with one name, the reader keeps the last.
            #expect(refused.headers["www-authenticate"] == #"Basic realm="postrider", charset="UTF-8""#)
        }
        let headers = ["Host: workers.example.com", "Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWYwMTIz"]
        #expect(try watched.pages.read("/", headers: headers).status == 200)
    }

    @Test func `if the database does not answer, pages fail with 503 within seconds for each reader`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        try watched.wait(until: "/readyz", hasStatus: 200)
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; lock table postrider.jobs in access exclusive mode")
        let first = BackgroundThread { _ = try? watched.pages.read("/jobs/1") }
        try queue.waitUntilBlocked("as has_ended")
        let start = TestClock.now
        let second = try watched.pages.read("/jobs")
        #expect(second.status == 503)
        #expect(second.lines.joined().contains("earlier requests still wait for it"))
        // The request waits a second. A longer wait would block one of few threads.
        #expect(TestClock.now - start < 4_000_000_000)
        #expect(try watched.status("/metrics") == 200)
        first.join()
        let third = try watched.pages.read("/jobs/1")
        #expect(third.status == 503)
        #expect(third.lines.joined().contains("canceling statement due to statement timeout"))
        try holder.execute("commit")
        try watched.wait(until: "/jobs", hasStatus: 200)
    }

    @Test func `a job's page shows its attempts and members, and no page shows a secret`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let place = target.url.dropFirst("http://".count)
        let id = try queue.insert(
            "url, max_attempts, backoff, headers",
            #"'http://ada:5ecret@\#(place)/status/500', 2, '{1 ms}', '{"Authorization": "Bearer 5ecret"}'"#)
        let chain = try queue.number(
            #"select postrider.submit('{"chain": [{"name": "first", "url": "\#(target.url)/ok/1"}, {"url": "\#(target.url)/ok/2"}]}')"#
        )
        try queue.waitUntilDone()
        let job = try watched.pages.read("/jobs/\(id)")
        let page = job.lines.joined(separator: "\n")
        #expect(job.status == 200)
        for words in ["GET http://\(place)/status/500", "2 of 2", "http_status", ">Attempts<", "worker retry \(id)"] {
            #expect(page.contains(words), "\(words) in \(page)")
        }
        #expect(!page.contains("5ecret") && !page.contains("data-live"))
        let member = try queue.number(
            "select id from postrider.job_status where parent_id = \(chain) and name = 'first'")
        let tree = try watched.pages.read("/jobs/\(chain)").lines.joined(separator: "\n")
        for words in [">Tree<", "href=\"/jobs/\(member)\"", ">first GET ", "2 of 2 ended"] {
            #expect(tree.contains(words), "\(words) in \(tree)")
        }
        for path in ["/", "/jobs", "/services", "/lanes"] {
            #expect(try !watched.pages.read(path).lines.joined().contains("5ecret"))
        }
    }

    @Test func `a lane with an endless pause is shown without an end time`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        try queue.connection.execute("select postrider.pause_lane('held')")
        let id = try queue.insert("url, lane", "'http://h/', 'held'")
        for (path, words) in [
            ("/", "Needs attention"), ("/jobs/\(id)", "resume_lane(&#39;held&#39;)"), ("/lanes", ">paused<"),
        ] {
            let page = try watched.pages.read(path)
            #expect(page.status == 200 && page.lines.joined().contains(words), "\(path): \(page.lines)")
        }
        #expect(try !watched.pages.read("/lanes").lines.joined().contains(">until<"))
    }

    @Test func `a job's page cuts long bodies and describes binary bodies`() throws {
        let hostile = try HostileServer(ports: 23_480...23_499)
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let binary = try queue.insert("url", "'\(hostile.url("/nul"))'")
        let long = try queue.insert(
            "method, url, body_json", "'POST', '\(hostile.url("/echo"))', to_jsonb(repeat('é', 200000))")
        try queue.waitUntilDone()
        #expect(try watched.pages.read("/jobs/\(binary)").lines.joined().contains("(18 bytes, not text)"))
        let page = try watched.pages.read("/jobs/\(long)").lines.joined()
        #expect(page.contains("The first 64 KiB are shown.") && page.contains("The body is larger than 64 KiB"))
        #expect(page.utf8.count < 100_000, "\(page.utf8.count)")
    }
}
