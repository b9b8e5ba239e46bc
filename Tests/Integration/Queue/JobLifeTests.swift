// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The life of a job from INSERT to a final state, with one worker and a target that records calls.
struct JobLifeTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    @Test func `a POST succeeds and stores its answer and one attempt`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("method, url, body_json", "'POST', '\(target.url)/ok', '{\"a\": 1}'")
        try queue.wait(for: id, toBe: "succeeded")
        let row = try queue.rows(
            """
            select status_code::text, convert_from(body, 'UTF8'), result::text, attempt::text, error_code,
                   response_headers #>> '{content-type,0}', (started_at >= created_at)::text, (finished_at >= started_at)::text
            from postrider.job_status where id = \(id)
            """)
        #expect(row == [["200", "{}", "{}", "1", nil, "application/json", "true", "true"]])
        #expect(try queue.number("select count(*) from postrider.attempts where job_id = \(id)") == 1)
        #expect(target.requests.map(\.method) == ["POST"])
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a job that fails twice succeeds at its third attempt with the same Idempotency-Key`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("method, url, backoff", "'POST', '\(target.url)/status/503,502,200', '{50 ms}'")
        try queue.wait(for: id, toBe: "succeeded")
        let tries = try queue.rows(
            """
            select attempt::text, status_code::text, error_code from postrider.attempts
            where job_id = \(id) order by fence
            """)
        #expect(tries == [["1", "503", "http_status"], ["2", "502", "http_status"], ["3", "200", nil]])
        let keys = target.requests.map { $0.header("idempotency-key") }
        let installation = try queue.text("select installation::text from postrider.settings")
        #expect(keys == Array(repeating: "\(installation ?? "")-\(id)", count: 3))
    }

    @Test func `a final status, used-up attempts and a refused connection fail with error code and message`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let final = try queue.insert("url", "'\(target.url)/status/404'")
        let tired = try queue.insert("url, max_attempts, backoff", "'\(target.url)/status/500', 2, '{10 ms}'")
        let closed = try TargetServer.freePort()
        let refused = try queue.insert("url, max_attempts", "'http://127.0.0.1:\(closed)/', 1")
        for id in [final, tired, refused] { try queue.wait(for: id, toBe: "failed") }
        let rows = try queue.rows(
            """
            select status_code::text, error_code, attempt::text, (error <> '')::text
            from postrider.job_status where id in (\(final), \(tired), \(refused)) order by id
            """)
        #expect(
            rows == [
                ["404", "http_status", "1", "true"], ["500", "http_status", "2", "true"],
                [nil, "connect", "1", "true"],
            ])
        #expect(target.requests.count == 3)
    }

    @Test func `a scheduled job starts within a second after its run_at and not before`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, run_at", "'\(target.url)/ok', now() + interval '1500 ms'")
        #expect(try queue.state(id) == "scheduled")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text(
                """
                select (started_at >= run_at and started_at < run_at + interval '\(Soak.seconds(1)) s')::text
                from postrider.job_status where id = \(id)
                """) == "true")
    }

    @Test func `a job not started by expires_at is expired and never called`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--queue", "other"])
        defer { worker.kill() }
        let id = try queue.insert("url, expires_at", "'\(target.url)/ok', now() + interval '500 ms'")
        try queue.wait(for: id, toBe: "expired")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "expired")
        #expect(target.requests.isEmpty)
    }

    @Test func `a past expires_at at INSERT expires jobs, trees and 10,000 rows without a call`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let late = "now() - interval '1 s'"
        try queue.insert("url, expires_at", "'\(target.url)/ok/1', \(late)")
        try queue.insert(10_000, "url, expires_at, tag", "'\(target.url)/ok/2', \(late), 'many'")
        let tree = try queue.number(
            """
            select postrider.submit(jsonb_build_object('expires_at', \(late), 'batch', jsonb_build_array(
              jsonb_build_object('url', '\(target.url)/ok/3'), jsonb_build_object('url', '\(target.url)/ok/4'))))
            """)
        try queue.wait(
            60, until: "select count(*) = 10000 from postrider.job_status where tag = 'many' and state = 'expired'")
        let ends = try queue.rows(
            "select kind, state, count(*)::text from postrider.job_status where tag is null group by 1, 2 order by 1, 2"
        )
        #expect(
            ends == [["batch", "expired", "1"], ["request", "cancelled", "2"], ["request", "expired", "1"]],
            "tree \(tree)")
        #expect(target.requests.isEmpty)
    }

    @Test func `a job that expires between two attempts fails with its last error`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        // The worker must run before the second job is inserted, because that job's first try must come before its
        // expiry.
        try queue.wait(for: try queue.insert("url", "'\(target.url)/ok'"), toBe: "succeeded")
        let id = try queue.insert(
            "url, expires_at, backoff", "'\(target.url)/status/503', now() + interval '8 s', '{1 h}'")
        try queue.wait(for: id, toBe: "failed")
        let row = try queue.rows(
            "select error_code, status_code::text, attempt::text from postrider.job_status where id = \(id)")
        #expect(row == [["http_status", "503", "1"]])
        #expect(target.requests.map(\.path) == ["/ok", "/status/503"])
    }

    @Test func `cancel ends a ready or scheduled job before any call`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--queue", "other"])
        defer { worker.kill() }
        let waiting = try queue.insert("url", "'\(target.url)/ok'")
        let scheduled = try queue.insert("url, run_at", "'\(target.url)/ok', now() + interval '1 s'")
        for id in [waiting, scheduled] {
            #expect(try queue.text("select postrider.cancel(\(id))::text") == "true")
            #expect(try queue.text("select postrider.cancel(\(id))::text") == "false")
            #expect(try queue.state(id) == "cancelled")
        }
        let other = try RunningWorker(queue.database)
        defer { other.kill() }
        let last = try queue.insert("url, run_at", "'\(target.url)/ok/last', now() + interval '1500 ms'")
        try queue.wait(for: last, toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/ok/last"])
    }

    @Test func `job_status of a job cancelled between two attempts shows its start time and attempt count`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, backoff", "'\(target.url)/status/503', '{1 h}'")
        try queue.wait(until: "select exists (select from postrider.attempts where job_id = \(id))")
        #expect(try queue.text("select postrider.cancel(\(id))::text") == "true")
        #expect(
            try queue.rows(
                """
                select s.error, (s.started_at = a.started_at)::text, s.attempt::text,
                       (select count(*)::text from postrider.attempts c where c.job_id = s.id)
                  from postrider.job_status s join postrider.attempts a on a.job_id = s.id where s.id = \(id)
                """) == [["cancelled before its next attempt", "true", "1", "1"]])
    }

    @Test func `cancel of a running job aborts its call within a second`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("url", "'\(target.url)/hang/a'")
        let other = try queue.insert("url", "'\(target.url)/wait/3000/b'")
        try TestClock.wait(10, for: "two requests") { target.requests.count == 2 }
        let cancelled = TestClock.now
        #expect(try queue.text("select postrider.cancel(\(id))::text") == "true")
        #expect(try queue.state(id) == "cancelled")
        try TestClock.wait(5, for: "end of the transfer") { target.requests("/hang/a").first?.endedAt != nil }
        let request = try #require(target.requests("/hang/a").first)
        #expect(request.isAborted)
        #expect(try #require(request.endedAt) - cancelled < Soak.nanoseconds(1))
        try queue.wait(for: other, toBe: "succeeded")
        #expect(try queue.state(id) == "cancelled")
        try worker.wait(for: "call_aborted")
    }

    @Test func `reschedule refuses a time past expires_at, and of two concurrent reschedules the later wins`() throws {
        let queue = try TestQueue()
        let id = try queue.insert(
            "url, run_at, expires_at", "'\(target.url)/ok', now() + interval '1 h', now() + interval '2 h'")
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute("select postrider.reschedule(\(id), now() + interval '3 h')")
        }
        #expect(error.sqlState?.rawValue == "PR001" && error.column == "run_at")
        try queue.connection.execute("begin; select postrider.reschedule(\(id), now() + interval '30 min')")
        let database = queue.database
        let other = BackgroundThread {
            try? PGConnection(database).execute("select postrider.reschedule(\(id), now() + interval '40 min')")
        }
        // Another session observes, because a transaction always sees one state of pg_stat_activity.
        let observer = try PGConnection(database)
        try TestClock.wait(10, for: "the other to wait") {
            try observer.query(
                "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            ).int64(0, 0) == 1
        }
        try queue.connection.execute("commit")
        other.join()
        #expect(
            try queue.text(
                "select (run_at > now() + interval '35 min')::text from postrider.job_status where id = \(id)")
                == "true")
    }

    @Test func `a rescheduled job takes its new time and its new priority`() throws {
        let queue = try TestQueue()
        let sooner = try queue.insert("url, run_at", "'\(target.url)/ok/sooner', now() + interval '1 h'")
        let higher = try queue.insert("url, priority", "'\(target.url)/ok/higher', -4")
        let normal = try queue.insert("url", "'\(target.url)/ok/normal'")
        try queue.connection.execute("select postrider.reschedule(\(sooner), now() + interval '1 s')")
        try queue.connection.execute("select postrider.reschedule(\(higher), priority => 9::smallint)")
        #expect(try queue.number("select priority::int from postrider.job_status where id = \(higher)") == 9)
        let worker = try RunningWorker(queue.database, concurrency: 1)
        defer { worker.kill() }
        try queue.waitUntilDone()
        #expect(target.requests.map(\.path) == ["/ok/higher", "/ok/normal", "/ok/sooner"])
        #expect(throws: PGError.self) { try queue.connection.execute("select postrider.reschedule(\(normal), now())") }
    }

    @Test func `retry continues the attempt count and keeps the Idempotency-Key unless new_key is true`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "method, url, max_attempts, backoff", "'PUT', '\(target.url)/status/500,500,500,500,200', 2, '{10 ms}'")
        try queue.wait(for: id, toBe: "failed")
        #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(0)") }
        try queue.connection.execute("select postrider.retry(\(id))")
        try TestClock.wait(10, for: "four requests") { target.requests.count == 4 }
        try queue.wait(for: id, toBe: "failed")
        try queue.connection.execute("select postrider.retry(\(id), new_key => true)")
        try queue.wait(for: id, toBe: "succeeded")
        let tries = try queue.rows(
            "select attempt::text from postrider.attempts where job_id = \(id) order by fence")
        #expect(tries == [["1"], ["2"], ["3"], ["4"], ["5"]])
        let keys = target.requests.map { $0.header("idempotency-key") ?? "" }
        #expect(Set(keys.prefix(4)).count == 1)
        #expect(keys[4] != keys[0] && keys[4].hasPrefix(keys[0]))
    }

    @Test func `one worker with one slot starts jobs by priority, then in the order of INSERT`() throws {
        let queue = try TestQueue()
        for (index, priority) in [0, 4, -4, 0, 4, 100, -100, 0, -4, 4, 0, 0].enumerated() {
            try queue.insert("url, priority", "'\(target.url)/ok/\(priority)/\(index)', \(priority)")
        }
        let worker = try RunningWorker(queue.database, concurrency: 1)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let expected = try queue.rows("select url from postrider.jobs order by priority desc, id").map { $0[0] ?? "" }
        #expect(target.requests.map { target.url + $0.path } == expected)
        try queue.insert(40, "url", "'\(target.url)/ok/second/' || i")
        try queue.waitUntilDone()
        #expect(target.requests.dropFirst(12).map(\.path) == (1...40).map { "/ok/second/\($0)" })
    }

    @Test func `the idempotency header has the name from settings and is not sent with GET`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set idempotency_header = 'X-Once'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for method in ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] {
            try queue.insert("method, url", "'\(method)', '\(target.url)/ok/\(method)'")
        }
        try queue.insert("method, url, headers", "'POST', '\(target.url)/ok/own', '{\"x-once\": \"mine\"}'")
        try queue.waitUntilDone()
        let with = target.requests.filter { $0.header("x-once") != nil }.map(\.path)
        #expect(Set(with) == ["/ok/POST", "/ok/PUT", "/ok/PATCH", "/ok/DELETE", "/ok/own"])
        #expect(
            target.requests("/ok/own").first?.headers.filter { $0.name.lowercased() == "x-once" }.map(\.value) == [
                "mine"
            ])
        #expect(target.requests.allSatisfy { $0.header("idempotency-key") == nil })
    }
}
