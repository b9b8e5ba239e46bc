// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Health and metrics of a running worker.
struct AdminPagesTests {
    @Test func `/readyz answers 200 while the worker claims jobs and 503 while it drains`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        #expect(try watched.status("/healthz") == 200)
        try watched.wait(until: "/readyz", hasStatus: 200)
        _ = try queue.insert("url", "'\(target.url)/held/1'")
        try TestClock.wait(20, for: "the call") { target.underWay == 1 }
        watched.worker.send(15)
        try watched.wait(until: "/readyz", hasStatus: 503)
        let words = try watched.pages.read("/readyz").lines
        #expect(words == ["draining: the worker claims no more jobs"])
        #expect(try watched.status("/healthz") == 200)
        target.release()
        #expect(watched.worker.end(0) == 0)
    }

    @Test func `/metrics shows the true figures of the worker and of the fleet`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("select postrider.pause_queue('p\"a\\b')")
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec, missed, skipped, last_missed_at)
            values ('a', '@yearly', '{"url": "http://h/"}', 3, 4, to_timestamp(86400)), ('b', '@yearly', '{"url": "http://h/"}', 0, 0, null)
            """)
        let watched = try WatchedWorker(queue.database)
        for path in ["/ok/1", "/ok/2"] { _ = try queue.insert("url", "'\(target.url)\(path)'") }
        _ = try queue.insert("url, max_attempts", "'\(target.url)/status/404', 1")
        for code in [404, 410] { _ = try queue.insert("url, queue", "'\(target.url)/status/\(code)', 'q'") }
        _ = try queue.insert("url, queue, expires_at", "'\(target.url)/ok', 'p\"a\\b', now() + interval '0.5 s'")
        try queue.waitUntilDone()
        _ = try queue.insert("url, run_at", "'\(target.url)/ok/3', now() + interval '1 h'")
        _ = try queue.insert("url, queue", "'\(target.url)/ok/4', 'p\"a\\b'")
        _ = try queue.insert("url", "'\(target.url)/held/5'")
        try TestClock.wait(20, for: "the call") { target.underWay == 1 }
        let expected = [
            "postrider_build_info{version=0.1.0} 1",
            "postrider_call_duration_seconds_count{answer=2xx,service=} 2",
            "postrider_call_duration_seconds_count{answer=4xx,service=} 3",
            "postrider_call_duration_seconds_bucket{answer=2xx,le=+Inf,service=} 2",
            "postrider_attempts_total{lane_group=other,outcome=success,service=} 2",
            "postrider_attempts_total{lane_group=other,outcome=failed,service=} 3",
            "postrider_jobs_finished_total{queue=default,service=,state=succeeded} 2",
            "postrider_jobs_finished_total{queue=default,service=,state=failed} 1",
            "postrider_jobs_finished_total{queue=q,service=,state=failed} 2",
            "postrider_jobs_finished_total{queue=p\"a\\b,service=,state=expired} 1",
            "postrider_wait_seconds_count{queue=default} 3", "postrider_wait_seconds_count{queue=q} 2",
            "postrider_worker_slots 8", "postrider_worker_calls_in_flight 1",
            "postrider_worker_ready 1",
            "postrider_database_up 1", "postrider_workers{state=running} 1", "postrider_fleet_slots{state=running} 8",
            "postrider_jobs{queue=default,state=scheduled} 1", "postrider_jobs{queue=default,state=running} 1",
            "postrider_jobs{queue=default,state=ready} 0", "postrider_jobs{queue=p\"a\\b,state=ready} 1",
            "postrider_queue_paused{queue=p\"a\\b} 1", "postrider_queue_paused{queue=default} 0",
            "postrider_recent_failures{error_code=http_status,queue=default} 1",
            "postrider_recent_failures{error_code=http_status,queue=q} 2",
            "postrider_recent_failures{error_code=expired,queue=p\"a\\b} 1",
            "postrider_queue_has_worker{queue=default} 1", "postrider_queue_has_worker{queue=p\"a\\b} 1",
            "postrider_restores 0",
            "postrider_schedule_missed_ticks{schedule=a} 3", "postrider_schedule_missed_ticks{schedule=b} 0",
            "postrider_schedule_skipped_ticks{schedule=a} 4", "postrider_schedule_skipped_ticks{schedule=b} 0",
            "postrider_schedule_last_missed_timestamp_seconds{schedule=a} 86400",
        ]
        var missing = expected
        try TestClock.wait(20, for: "metrics without \(missing)") {
            let page = try watched.pages.read("/metrics")
            missing = expected.filter { !page.lines.contains($0) }
            return page.status == 200 && missing.isEmpty
        }
        target.release()
    }

    @Test func `/metrics shows queues that have ready jobs but no worker`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database, ["--queue", "mail"])
        _ = try queue.insert("url", "'http://h/'")
        let expected = [
            "postrider_queue_has_worker{queue=default} 0", "postrider_queue_has_worker{queue=mail} 1",
            "postrider_jobs{queue=default,state=ready} 1",
        ]
        try queue.connection.execute("insert into postrider.queues (name) values ('mail')")
        try TestClock.wait(20, for: "metrics of the queues") {
            let page = try watched.pages.read("/metrics")
            return expected.allSatisfy { page.lines.contains($0) }
        }
    }

    @Test func `/healthz, /readyz and /metrics answer while the database does not`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        try watched.wait(until: "/readyz", hasStatus: 200)
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; lock table postrider_internal.job_totals in access exclusive mode")
        let reading = BackgroundThread { _ = try? watched.pages.read("/metrics") }
        try queue.waitUntilBlocked("queue_status")
        #expect(try watched.status("/healthz") == 200)
        #expect(try watched.status("/readyz") == 200)
        // The second reader gives up after half a second, the first after five.
        let second = try watched.pages.read("/metrics")
        #expect(second.status == 200)
        #expect(second.lines.contains("postrider_database_up 0"))
        #expect(second.lines.contains("postrider_worker_slots 8"))
        try queue.wait(
            until:
                "select count(*) = 0 from pg_stat_activity where query like '%queue_status%' and state = 'active' and pid <> pg_backend_pid() and datname = current_database()"
        )
        try holder.execute("commit")
        try TestClock.wait(20, for: "the database") {
            try watched.pages.read("/metrics").lines.contains("postrider_database_up 1")
        }
        // The worker replaces a session that was cut.
        try queue.connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        #expect(try watched.pages.read("/metrics").lines.contains("postrider_database_up 1"))
        try watched.wait(until: "/readyz", hasStatus: 200)
        reading.join()
    }

    @Test func `/metrics counts workers lost within ten minutes and serves two concurrent readers`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        try watched.wait(until: "/readyz", hasStatus: 200)
        try queue.connection.execute(
            """
            insert into postrider_internal.workers (name, version, concurrency, queues, lost, heartbeat_at, ended_at)
            select 'gone', '0', 8, '{}', true, now() - age, now() - age from unnest('{1 min,11 min}'::interval[]) age
            """)
        let lines = try watched.pages.read("/metrics").lines
        #expect(lines.contains("postrider_workers{state=lost} 1"), "\(lines)")
        #expect(!lines.contains { $0.hasPrefix("postrider_fleet_slots{state=lost}") })
        let pages = watched.pages
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; lock table postrider_internal.job_totals in access exclusive mode")
        let isUp = Mutex<[Bool]>([])
        let read: @Sendable () -> Void = {
            let lines = (try? pages.read("/metrics").lines) ?? []
            isUp.withLock { $0.append(lines.contains("postrider_database_up 1")) }
        }
        let first = BackgroundThread(read)
        try queue.waitUntilBlocked("queue_status")
        let second = BackgroundThread(read)
        TestClock.sleep(milliseconds: 100)
        try holder.execute("commit")
        first.join()
        second.join()
        #expect(isUp.withLock { $0 } == [true, true])
    }

    @Test(arguments: ["127.0.0.2", "127.0.0.3"])
    func `40 open connections of one address do not block requests from any address`(probe: String) throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let program = """
            import socket, sys
            place = ("127.0.0.1", int(sys.argv[1]))
            held = []
            for _ in range(40):
                held.append(socket.create_connection(place, source_address=("127.0.0.3", 0)))
                held[-1].sendall(b"G")
            probe = socket.create_connection(place, source_address=("\(probe)", 0))
            probe.settimeout(5)
            probe.sendall(b"GET /healthz HTTP/1.0\\r\\n\\r\\n")
            print(probe.recv(12).decode())
            """
        let words = [try ProjectFolder.python(), "-c", program, "\(watched.pages.port)"]
        let outcome = try WorkerProcess.run(words, reading: "")
        #expect(outcome.output == "HTTP/1.0 200\n" || outcome.output == "HTTP/1.1 200\n", "\(outcome)")
    }

    @Test func `a worker that stops while /metrics is read exits with 0 within 6 s`() throws {
        let queue = try TestQueue()
        for round in 0..<3 {
            let watched = try WatchedWorker(queue.database)
            let pages = watched.pages
            let reads = Mutex(0)
            let readers = (0..<4).map { _ in
                BackgroundThread { while (try? pages.read("/metrics")) != nil { reads.withLock { $0 += 1 } } }
            }
            try watched.wait(until: "/readyz", hasStatus: 200)
            let holder = try PGConnection(queue.database)
            // In the last round a reader waits for the database.
            if round == 2 {
                try holder.execute("begin; lock table postrider_internal.job_totals in access exclusive mode")
                try queue.waitUntilBlocked("queue_status")
            } else {
                try TestClock.wait(20, for: "pages") { reads.withLock { $0 >= 8 } }
            }
            let start = TestClock.now
            #expect(watched.worker.end(15) == 0)
            #expect(TestClock.now - start < 6_000_000_000)
            for reader in readers { reader.join() }
        }
    }

    @Test func `/metrics requires the token, and a refused reader gets no figures`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("token", "0123456789abcdef0123\n")
        let watched = try WatchedWorker(queue.database, ["--http-token-file", folder.path("token")])
        #expect(try watched.status("/healthz") == 200)
        let refused = try watched.pages.read("/metrics")
        #expect(refused.status == 401)
        #expect(
            refused.lines == [
                "a token is needed; send it as Authorization: Bearer TOKEN, or as the password of any user"
            ])
        #expect(
            try watched.pages.read("/metrics", headers: ["Authorization: Bearer 0123456789abcdef0124"]).status == 401)
        let shown = try watched.pages.read("/metrics", headers: ["Authorization: Bearer 0123456789abcdef0123"])
        #expect(shown.status == 200)
        #expect(shown.lines.contains("postrider_worker_slots 8"))
        #expect(!watched.worker.output.contains("0123456789abcdef"))
    }

    @Test func `each path and method of the pages gets its expected status`() throws {
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        for (method, path, status) in [
            ("GET", "/", 200), ("GET", "/metrics/", 404), ("GET", "/jobs/1/", 404), ("GET", "/jobs/x", 404),
            ("GET", "/jobs/17", 404), ("GET", "/jobs/99999999999999999999", 404), ("GET", "/jobs?id=x", 404),
            ("GET", "/../etc/passwd", 404), ("GET", "/dashboard.css", 200), ("HEAD", "/", 200),
            ("POST", "/jobs/1", 405),
            ("GET", "/healthz?x=1", 200), ("HEAD", "/healthz", 200), ("HEAD", "/nowhere", 404),
            ("POST", "/metrics", 405),
            ("DELETE", "/", 405), ("OPTIONS", "/healthz", 405),
        ] {
            #expect(try watched.pages.read(path, method: method).status == status, "\(method) \(path)")
        }
    }
}
