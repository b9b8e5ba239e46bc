// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The counters and histograms of running workers.
struct CounterTests {
    /// Waits until these lines stand in the metrics. Of two workers it adds the values of each sample.
    private func wait(for expected: [String], of workers: [WatchedWorker]) throws {
        var found: [String] = []
        do {
            try TestClock.wait(20, for: "metrics") {
                var sums: [String: Double] = [:]
                for worker in workers {
                    for line in try worker.pages.read("/metrics").lines {
                        guard let gap = line.lastIndex(of: " "), let value = Double(line[line.index(after: gap)...])
                        else { continue }
                        sums[String(line[..<gap]), default: 0] += value
                    }
                }
                found = sums.filter { $0.key.contains("_total{") || $0.key.contains("_count{") }
                    .map { "\($0.key.dropFirst("postrider_".count)) \(Int($0.value))" }.sorted()
                return found == expected.sorted()
            }
        } catch {
            Issue.record("found \(found)")
        }
    }

    @Test func `the counters of two workers add up to all jobs, attempts and calls`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', '\(target.url)');
            insert into postrider.lanes (name, max_in_flight) values ('limited', 2);
            """)
        let workers = try [WatchedWorker(queue.database), WatchedWorker(queue.database)]
        try queue.insert(60, "url", "'\(target.url)/ok/' || i")
        try queue.insert(20, "service, url, queue", "'api', '/ok/a' || i, 'q'")
        try queue.insert(6, "service, lane, url, validator", "'api', 'limited', '/ok/l' || i, '{\"type\": \"object\"}'")
        try queue.insert(2, "url, max_attempts, backoff", "'\(target.url)/status/500/' || i, 2, '{0.1 s}'")
        _ = try queue.insert("url, service", "'/status/404', 'api'")
        try queue.waitUntilDone()
        try wait(
            for: [
                "jobs_finished_total{queue=default,service=,state=succeeded} 60",
                "jobs_finished_total{queue=default,service=,state=failed} 2",
                "jobs_finished_total{queue=q,service=api,state=succeeded} 20",
                "jobs_finished_total{queue=default,service=api,state=failed} 7",
                "attempts_total{lane_group=other,outcome=success,service=} 60",
                "attempts_total{lane_group=other,outcome=retry,service=} 2",
                "attempts_total{lane_group=other,outcome=failed,service=} 2",
                "attempts_total{lane_group=api,outcome=success,service=api} 20",
                "attempts_total{lane_group=limited,outcome=failed,service=api} 6",
                "attempts_total{lane_group=api,outcome=failed,service=api} 1",
                "call_duration_seconds_count{answer=2xx,service=} 60",
                "call_duration_seconds_count{answer=5xx,service=} 4",
                "call_duration_seconds_count{answer=2xx,service=api} 26",
                "call_duration_seconds_count{answer=4xx,service=api} 1",
                "wait_seconds_count{queue=default} 69", "wait_seconds_count{queue=q} 20",
            ], of: workers)
    }

    @Test func `the leader counts jobs that end without an answer for their worker`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', '\(target.url)');
            select postrider.pause_queue('paused');
            """)
        let watched = try WatchedWorker(queue.database)
        // A cached answer serves the second job, a missing login ends the third, and the fourth and fifth are not called.
        try queue.wait(for: try queue.insert("service, url, cache_ttl", "'api', '/ok', '1 h'"), toBe: "succeeded")
        try queue.wait(for: try queue.insert("service, url, cache_ttl", "'api', '/ok', '1 h'"), toBe: "succeeded")
        try queue.connection.execute("insert into postrider.credentials (name, kind) values ('c', 'bearer')")
        try queue.wait(for: try queue.insert("service, url, credential", "'api', '/ok', 'c'"), toBe: "failed")
        _ = try queue.insert("service, url, queue, expires_at", "'api', '/ok', 'paused', now() + interval '0.5 s'")
        let cancelled = try queue.insert("url, queue", "'\(target.url)/ok', 'paused'")
        _ = try queue.number("select postrider.cancel(\(cancelled))::int")
        try queue.waitUntilDone()
        try wait(
            for: [
                "jobs_finished_total{queue=default,service=api,state=succeeded} 2",
                "jobs_finished_total{queue=default,service=api,state=failed} 1",
                "jobs_finished_total{queue=paused,service=api,state=expired} 1",
                "jobs_finished_total{queue=paused,service=,state=cancelled} 1",
                "attempts_total{lane_group=api,outcome=success,service=api} 1",
                "call_duration_seconds_count{answer=2xx,service=api} 1", "wait_seconds_count{queue=default} 1",
            ], of: [watched])
    }

    @Test func `a throttled call counts as an attempt and its job ends once`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let watched = try WatchedWorker(queue.database)
        let throttled = try queue.insert("url, lane", "'\(target.url)/status/429,200/a', 'throttled'")
        try queue.wait(for: throttled, toBe: "succeeded")
        try wait(
            for: [
                "jobs_finished_total{queue=default,service=,state=succeeded} 1",
                "attempts_total{lane_group=other,outcome=throttled,service=} 1",
                "attempts_total{lane_group=other,outcome=success,service=} 1",
                "call_duration_seconds_count{answer=4xx,service=} 1",
                "call_duration_seconds_count{answer=2xx,service=} 1",
                "wait_seconds_count{queue=default} 1",
            ], of: [watched])
    }
}
