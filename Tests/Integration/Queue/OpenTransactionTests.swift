// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Open transactions of clients delay only the work that needs their locked rows.
struct OpenTransactionTests {
    @Test func `an open transaction with a schedule's dedupe_key delays no other tick, job or heartbeat`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        try worker.wait(for: "enlisted")
        let other = try PGConnection(queue.database)
        try other.execute(
            "begin; insert into postrider.jobs (url, dedupe_key, run_at) values ('http://127.0.0.1:1/', 'k', now() + interval '1 h')"
        )
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec)
            select n, '* * * * * *', jsonb_build_object('url', '\(target.url)/ok/' || n) || s::jsonb
              from (values ('free', '{}'), ('held', '{"dedupe_key": "k", "on_duplicate": "skip"}')) v (n, s)
            """)
        try queue.wait(
            until: "select last_error like '%open transaction%' from postrider.schedules where name = 'held'")
        let planned = try queue.insert("url, run_at", "'\(target.url)/ok/planned', now() + interval '1 s'")
        try queue.wait(for: planned, toBe: "succeeded")
        try queue.wait(until: "select count(*) >= 3 from postrider.jobs where tag = 'free'")
        try queue.wait(
            until:
                "select heartbeat_at > timestamptz '\(queue.text("select now()::text") ?? "")' from postrider_internal.workers"
        )
        #expect(
            try queue.rows("select skipped::text, last_job_id::text from postrider.schedules where name = 'held'") == [
                ["0", nil]
            ])
        try other.execute("commit")
        try queue.wait(until: "select skipped > 0 and last_error is null from postrider.schedules where name = 'held'")
        #expect(worker.count(of: "worker_reaped") + worker.count(of: "statement_failed") == 0)
    }

    @Test
    func `a locked credential row delays its new token, which is neither lost nor fetched twice`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "delay": 1500}"#)
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('c', 'oauth2_refresh_token', '\(api.url)/token', 'app');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}')
            """)
        let workers = try (0..<2).map { _ in try api.worker(queue) }
        let id = try queue.insert("credential, url", "'c', '\(api.url)/api/x'")
        try queue.wait(until: "select worker is not null from postrider.credential_status")
        let other = try PGConnection(queue.database)
        try other.execute("begin; update postrider.credentials set scope = 'y'")
        // Longer than the original lease of the refresh.
        try queue.wait(40, until: "select until > began_at + interval '15 s' from postrider_internal.refreshes")
        let plain = try queue.insert("url", "'\(api.url)/open/x'")
        try queue.wait(for: plain, toBe: "succeeded")
        try other.execute("commit")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(api.log("POST /token") == ["POST /token r1 200"])
        #expect(workers.allSatisfy { $0.count(of: "worker_reaped") + $0.count(of: "statement_failed") == 0 })
    }

    @Test func `a locked lane row delays no other lane, and a 429 still pauses the lane`() throws {
        let target = try TargetServer { request in
            request.path.contains("full")
                ? TargetStep.answer(429, headers: ["Retry-After: 3600"]) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name) values ('l')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let other = try PGConnection(queue.database)
        try other.execute("begin; update postrider.lanes set retry_budget = 0.5 where name = 'l'")
        let refused = try queue.insert("url, lane", "'\(target.url)/full', 'l'")
        try queue.wait(
            until: "select paused_until > now() + interval '50 min' from postrider.lane_status where lane = 'l'")
        try queue.insert(3, "url, lane", "'\(target.url)/full', 'l'")
        for round in 1...3 {
            let plain = try queue.insert("url", "'\(target.url)/ok/\(round)'")
            try queue.wait(for: plain, toBe: "succeeded")
        }
        #expect(target.requests.count { $0.path.contains("full") } == 1)
        #expect(try queue.text("select postrider.explain(\(refused))")?.contains("asked for a wait of 3600") == true)
        try other.execute("commit")
        try queue.wait(until: "select paused_until > now() + interval '50 min' from postrider.lanes where name = 'l'")
        try queue.wait(until: "select not exists (select from postrider_internal.lane_pauses)")
        #expect(try queue.number("select count(*) from postrider.job_status where lane = 'l' and state = 'ready'") == 4)
    }

    @Test func `an open cancel delays no other job, and after its rollback the call's result is stored`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let other = try PGConnection(queue.database)
        let id = try queue.cancelOpenly(other, target)
        let start = TestClock.now
        for round in 1...3 {
            let plain = try queue.insert("url", "'\(target.url)/ok/\(round)'")
            try queue.wait(for: plain, toBe: "succeeded")
        }
        #expect(TestClock.seconds(since: start) < Soak.seconds(8))
        #expect(try queue.state(id) == "running")
        try other.execute("rollback")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests("/held").count == 1)
        #expect(worker.count(of: "worker_reaped") == 0)
    }

    @Test func `an open cancel of 60 running jobs delays neither claims nor other results`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 100)
        try queue.insert(60, "url, delivery, tag", "'\(target.url)/held/' || i, 'at_most_once', 'held'")
        try TestClock.wait(20, for: "the calls") { target.underWay == 60 }
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cancel_all(tag => 'held')")
        target.release()
        let start = TestClock.now
        for round in 1...5 {
            let plain = try queue.insert("url", "'\(target.url)/ok/\(round)'")
            try queue.wait(for: plain, toBe: "succeeded")
        }
        // A lock wait of a second for each of the 60 jobs would exceed this limit.
        #expect(TestClock.seconds(since: start) < Soak.seconds(10))
        #expect(
            try queue.number("select count(*) from postrider.job_status where tag = 'held' and state = 'running'") == 60
        )
        try TestClock.wait(40, for: "word of it") { worker.count(of: "results_locked") > 0 }
        try other.execute("rollback")
        try queue.wait(60, until: "select count(*) = 65 from postrider_internal.results where state = 's'")
        #expect(target.requests.count { $0.path.hasPrefix("/held") } == 60)
        #expect(worker.count(of: "worker_reaped") + worker.count(of: "statement_failed") == 0)
    }

    @Test func `an open DELETE of a lane with limits delays neither heartbeats nor other lanes`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, max_in_flight) values ('l', 2), ('m', 2)")
        let worker = try RunningWorker(queue.database)
        for lane in ["l", "m"] {
            let id = try queue.insert("url, lane", "'\(target.url)/ok/\(lane)', '\(lane)'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        let other = try PGConnection(queue.database)
        try other.execute("begin; delete from postrider.lanes where name = 'l'")
        let held = try queue.insert("url, lane", "'\(target.url)/ok/held', 'l'")
        try TestClock.wait(20, for: "a draw that finds the lock") { worker.output.contains("acquireLanePermits") }
        for _ in 1...2 {
            let moment = try queue.text("select now()::text") ?? ""
            try queue.wait(
                until:
                    "select heartbeat_at > timestamptz '\(moment)' from postrider_internal.workers where ended_at is null"
            )
        }
        let plain = try queue.insert("url", "'\(target.url)/ok/plain'")
        try queue.wait(for: plain, toBe: "succeeded")
        try other.execute("rollback")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(worker.count(of: "statement_failed") < 4)
        #expect(worker.count(of: "worker_reaped") == 0)
    }

    @Test(arguments: [(3, false), (3, true), (150, false)])
    func `an open join of a batch over a list delays neither other trees nor heartbeats`(
        elements: Int, isFollowed: Bool
    ) throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let list = (1...elements).map { "\($0)" }.joined(separator: ",")
        let held = try queue.submit(
            to: target,
            #"{"chain": [{"url": "URL/held", "notify": \#(isFollowed)}, "#
                + #"{"name": "list", "batch": {"each": [\#(list)], "do": {"url": "URL/ok/{{item}}"}}}]}"#)
        try TestClock.wait(20, for: "the first call") { target.underWay == 1 }
        // Takes the position that the first element needs.
        let other = try PGConnection(queue.database)
        try other.execute(
            "begin; insert into postrider.jobs (parent_id, url) select id, '\(target.url)/ok' from postrider.jobs where name = 'list'"
        )
        target.release()
        // The batch is deferred and not checked again and again.
        try queue.wait(until: "select exists (select from postrider_internal.tree_deltas where due_at > now())")
        for round in 1...3 {
            let id = try queue.submit(
                to: target,
                #"{"batch": [{"url": "URL/ok/a"}, {"chain": [{"url": "URL/ok/b"}, {"url": "URL/ok/c", "notify": true}]}]}"#
            )
            try queue.wait(for: id, toBe: "succeeded")
            let moment = try queue.text("select now()::text") ?? ""
            try queue.wait(
                until: "select heartbeat_at > timestamptz '\(moment)' from postrider_internal.workers")
            #expect(target.requests("/ok/c").count == round)
        }
        #expect(try queue.state(held) == "running")
        try other.execute("rollback")
        try queue.wait(for: held, toBe: "succeeded")
        #expect(Set(target.requests.map(\.path)).count == elements + 4)
        #expect(target.requests.count == elements + 1 + 3 * 3)
        #expect(worker.count(of: "worker_reaped") + worker.count(of: "statement_failed") == 0)
    }

    @Test func `an open cache_invalidate delays neither a POST to a cached URL nor other jobs`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, "\(request.turn)", headers: ["Cache-Control: max-age=600"])
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cache_mode) values ('s', '\(target.url)', 'http')")
        let worker = try RunningWorker(queue.database)
        func get() throws -> String? {
            let id = try queue.insert("service, url, cache_ttl", "'s', '/a', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
            return try queue.text("select result::text from postrider.job_status where id = \(id)")
        }
        #expect(try get() == "1")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.cache_invalidate()")
        let began = TestClock.now
        for round in 1...10 {
            let post = try queue.insert("service, method, url", "'s', 'POST', '/a'")
            try queue.insert(5, "url", "'\(target.url)/beside/\(round)/' || i")
            try queue.wait(for: post, toBe: "succeeded")
        }
        try queue.waitUntilDone()
        // One wait for the lock takes a second.
        #expect(TestClock.now - began < 8_000_000_000)
        try other.execute("rollback")
        try queue.wait(until: "select not exists (select from postrider.cache_entries)")
        #expect(try get() == "12")
        #expect(worker.count(of: "worker_reaped") + worker.count(of: "statement_failed") == 0)
    }
}
