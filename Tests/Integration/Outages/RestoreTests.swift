// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A database is set back to an earlier state while workers call its jobs.
struct RestoreTests {
    /// The jobs of the saved state, by their path.
    private struct Kept {
        /// Jobs with a call in flight at the time of the backup.
        var claimed: Set<String> = []
        var ended: Set<String> = []

        init(_ connection: borrowing PGConnection, _ target: TargetServer) throws {
            claimed = try Self.paths(
                "postrider_internal.ready x on x.job_id = j.id and x.worker > 0", connection, target)
            ended = try Self.paths("postrider_internal.results x on x.job_id = j.id", connection, target)
        }

        private static func paths(
            _ table: String, _ connection: borrowing PGConnection, _ target: TargetServer
        ) throws -> Set<String> {
            let rows = try connection.query("select j.url from postrider.jobs j join \(table)")
            return Set((0..<rows.rowCount).map { rows.text($0, 0).replacing(target.url, with: "") })
        }
    }

    private static func insert(
        _ name: String, _ path: String, _ count: Int, once: Bool, _ queue: borrowing TestQueue, _ target: TargetServer
    ) throws {
        try queue.insert(
            count, "method, url, delivery",
            "'POST', '\(target.url)\(path)/\(name)/\(once ? "once" : "often")/' || i, '\(once ? "at_most_once" : "at_least_once")'"
        )
    }

    @Test(arguments: RestoreKind.allCases)
    func `after a restore, each job gets its own result and at_most_once jobs are called once`(kind: RestoreKind) throws
    {
        let target = try TargetServer { request in
            let steps = TargetStep.byPath(request)
            return steps.dropLast() + TargetStep.answer(200, #"{"path": "\#(request.path)"}"#)
        }
        let fixture = try RestoreFixture(kind)
        let count = Soak.count(500, reduced: 40)
        let workers = try (1...Soak.count(4, reduced: 2)).map { _ in
            try RunningWorker(fixture.workersDatabase, concurrency: 16)
        }
        for worker in workers { try worker.wait(for: "enlisted") }
        for once in [true, false] { try Self.insert("early", "/held", 6, once: once, fixture.queue, target) }
        try TestClock.wait(20, for: "12 calls") { target.underWay == 12 }
        try Self.insert("backlog", "/wait/20", 10 * count, once: false, fixture.queue, target)
        try TestClock.wait(20, for: "the backlog") { target.requests.count > 12 + count }
        try fixture.save()
        let saved = try fixture.queue.text("select clock_timestamp()::text") ?? ""
        for once in [true, false] { try Self.insert("gone", "/wait/20", count, once: once, fixture.queue, target) }
        try fixture.queue.wait(
            until:
                "select count(*) > \(count) from postrider_internal.results r join postrider.jobs j on j.id = r.job_id where j.url like '%/gone/%'"
        )
        // A data folder that was set back is recognised by the heartbeats after the backup.
        try fixture.queue.wait(
            until:
                "select bool_and(heartbeat_at > '\(saved)') from postrider_internal.workers where ended_at is null and not lost"
        )
        var kept: Kept?
        try fixture.restore { kept = try Kept($0, target) }
        let callsBefore = Dictionary(grouping: target.requests, by: \.path).mapValues(\.count)
        let state = try #require(kept)
        #expect(state.claimed.count { $0.contains("/early/") } == 12)

        try TestClock.wait(20, for: "a worker") { workers.contains { $0.count(of: "database_restored") > 0 } }
        target.release()
        for once in [true, false] { try Self.insert("new", "/wait/20", count, once: once, fixture.queue, target) }
        try fixture.queue.waitUntilDone(60)

        for worker in workers { try worker.wait(for: "database_changed") }
        #expect(workers.map { $0.count(of: "database_restored") }.reduce(0, +) == 1)
        let calls = Dictionary(grouping: target.requests, by: \.path).mapValues(\.count)
        let once = calls.filter { $0.key.contains("/once/") && !$0.key.contains("/gone/") }
        try fixture.queue.report(
            .once, attack: "a restore of the database with calls in flight", calls: once.values.reduce(0, +),
            where: "j.delivery = 'at_most_once'")
        for (path, calls) in once { #expect(calls == 1, "\(path)") }
        let rows = try fixture.queue.connection.query(
            """
            select j.url, s.state, count(a.job_id), j.delivery, coalesce(convert_from(r.body, 'UTF8'), '')
            from postrider.jobs j join postrider.job_status s on s.id = j.id
              join postrider_internal.results r on r.job_id = j.id
            left join postrider.attempts a on a.job_id = j.id group by 1, 2, 4, 5
            """)
        #expect(rows.rowCount == 12 + 10 * count + 2 * count)
        for row in 0..<rows.rowCount {
            let path = rows.text(row, 0).replacing(target.url, with: "")
            let body = rows.text(row, 4)
            if path.contains("/early/once/") {
                #expect(rows.text(row, 1) == "unknown")
            } else {
                #expect(rows.text(row, 1) == "succeeded")
                #expect(body.contains("\"\(path)\""), "\(path): \(body)")
            }
            // If a call was made after the backup and the backup does not hold its claim, the database cannot know the
            // call.
            let isUnknown = !state.claimed.contains(path) && !state.ended.contains(path)
            let unknown = isUnknown ? callsBefore[path, default: 0] : 0
            #expect(calls[path, default: 0] <= Int(rows.int64(row, 2)) + unknown, "\(path)")
        }
        var pathsByKey: [String: Set<String>] = [:]
        for request in target.requests {
            pathsByKey[request.header("idempotency-key") ?? "", default: []].insert(request.path)
        }
        for (key, paths) in pathsByKey { #expect(paths.count == 1, "\(key): \(paths)") }
        for worker in workers { #expect(worker.end(15) == 0) }
    }
}
