// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// The metrics, alerts and the board, read by Debian's Prometheus.
@Suite(.enabled(if: Prometheus.isInstalled, "prometheus is not installed"))
struct PrometheusTests {
    /// A worker with jobs of all kinds: they succeed, fail, are retried, throttled and cancelled.
    private func busyWorker(_ target: TargetServer, _ queue: borrowing TestQueue) throws -> WatchedWorker {
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', '\(target.url)');
            insert into postrider.lanes (name, max_in_flight) values ('api', 4);
            insert into postrider.credentials (name, kind) values ('login', 'bearer');
            insert into postrider.client_limits (role, max_unfinished) values ('shop', 100);
            insert into postrider.schedules (name, cron, spec) values ('nightly', '@yearly', '{"url": "\(target.url)/ok"}');
            select postrider.run_schedule('nightly');
            select postrider.pause_lane('held');
            """)
        return try WatchedWorker(queue.database)
    }

    private func work(_ target: TargetServer, _ queue: borrowing TestQueue) throws {
        try queue.insert(20, "service, url", "'api', '/ok/' || i")
        try queue.insert(5, "url", "'\(target.url)/ok/p' || i")
        try queue.insert(4, "service, url, max_attempts", "'api', '/status/404', 1")
        try queue.insert(2, "service, url, max_attempts, backoff", "'api', '/status/500', 2, '{0.1 s}'")
        try queue.insert(1, "service, lane, url", "'api', 'throttled', '/status/429'")
    }

    @Test func `promtool finds no fault in the metrics of a worker`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try busyWorker(target, queue)
        try work(target, queue)
        try TestClock.wait(20, for: "ended jobs") {
            try watched.pages.read("/metrics").lines.contains { $0.hasPrefix("postrider_attempts_total") }
        }
        let folder = try TestFolder()
        try folder.shell(
            "\(ProjectFolder.python()) -c \"\(PrometheusTests.fetch)\" \(watched.url)/metrics > metrics.txt")
        let (status, output) = try Prometheus.promtool(["check", "metrics"], reading: folder.path("metrics.txt"))
        #expect(status == 0 && output.isEmpty, "\(output)")
    }

    private static let fetch =
        "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode(), end='')"

    @Test func `the alerts are valid and fire as their tests demand`() throws {
        for words in [
            ["check", "rules", "ops/prometheus/alerts.yml"], ["test", "rules", "ops/prometheus/alerts_test.yml"],
        ] {
            let (status, output) = try Prometheus.promtool(words)
            #expect(status == 0, "\(output)")
        }
    }

    @Test func `each expression of the board finds values of a real worker`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try busyWorker(target, queue)
        let prometheus = try Prometheus(scraping: watched.pages.port)
        let database = queue.database
        let url = target.url
        let isOver = Atomic<Bool>(false)
        // A rate needs two values of a series, so the work goes on.
        let working = BackgroundThread {
            guard let connection = try? PGConnection(database) else { return }
            while !isOver.load(ordering: .relaxed) {
                _ = try? connection.execute(
                    """
                    insert into postrider.jobs (service, lane, url, max_attempts, backoff)
                    select 'api', l, u, 2, '{0.1 s}'
                      from unnest('{/ok,/ok,/status/404,/status/500,/status/429}'::text[],
                                  '{api,api,api,api,throttled}'::text[]) t (u, l);
                    insert into postrider.jobs (url) values ('\(url)/ok');
                    """)
                TestClock.sleep(milliseconds: 300)
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            working.join()
        }
        let failures = try prometheus.failures(ofBoard: "ops/grafana/postrider.json")
        #expect(failures.isEmpty, "\(failures)")
    }
}
