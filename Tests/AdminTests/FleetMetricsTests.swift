// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import Admin

/// The queries of the fleet's metrics, and the lines that they become.
struct FleetMetricsTests {
    @Test func `the query for failures reads only the latest thousand`() throws {
        let cluster = try TestQueue.quietCluster()
        let queue = try TestQueue(on: cluster)
        let count = Soak.count(1_000_000, reduced: 100_000)
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('q', 'l', 0);
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, finished_at)
            select i, 1, (select id from postrider_internal.tracks), case when i % 2 = 0 then 'f'
              else 's' end, 'connect', now() + i * interval '1 us'
              from generate_series(1, \(count)) i;
            """)
        // Autovacuum is off in this cluster, and the plan needs the statistics of the table.
        try queue.connection.execute("vacuum analyze postrider_internal.results")
        #expect(
            try queue.text("select string_agg(f::text, ' ') from (\(FailureMetrics.query)) f") == "(q,connect,1000)")
        let blocks = try queue.buffers(FailureMetrics.query)
        #expect(blocks < 5_000, "\(blocks)")
    }

    @Test func `usage and limits of clients have the client as label`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.client_limits (role, max_unfinished, max_lanes) values ('shop', 100, 10),
              ('mail', null, null);
            insert into postrider_internal.client_usage (role, version, unfinished, lanes) values ('shop', 1, 91, 3),
              ('mail', 1, 90, 0)
            """)
        // A client without a limit has no line for that limit. Lanes are counted only if max_lanes is set.
        let lines = try FleetMetrics.read(queue.connection).text.split(separator: "\n").filter {
            $0.hasPrefix("postrider_client")
        }
        #expect(
            lines == [
                "postrider_client_unfinished_jobs{client=\"shop\"} 91",
                "postrider_client_unfinished_jobs{client=\"mail\"} 90",
                "postrider_client_max_unfinished_jobs{client=\"shop\"} 100",
                "postrider_client_lanes{client=\"shop\"} 3",
                "postrider_client_max_lanes{client=\"shop\"} 10",
            ])
    }

    @Test func `restores are counted, and the time of the last one is shown`() throws {
        let queue = try TestQueue()
        func lines() throws -> [Substring] {
            try FleetMetrics.read(queue.connection).text.split(separator: "\n").filter {
                $0.contains("restore") && !$0.hasPrefix("#")
            }
        }
        #expect(try lines() == ["postrider_restores 0"])
        // The row that is inserted last has the earlier time.
        for time in [86_400, 3_600] {
            try queue.connection.execute(
                """
                insert into postrider_internal.identities (above_id, found_at, system_identifier, timeline,
                                                           database_oid, workers_oid, found_by)
                select 0, to_timestamp(\(time)), 1, 1, 1, 1, 'a'
                """)
        }
        #expect(try lines() == ["postrider_restores 2", "postrider_last_restore_timestamp_seconds 86400"])
    }

    /// The samples of a family.
    private func samples(_ family: String, _ queue: borrowing TestQueue) throws -> [String] {
        try FleetMetrics.read(queue.connection).text.split(separator: "\n").filter { $0.hasPrefix(family) }
            .map { String($0.dropFirst(family.count)) }
    }

    @Test func `paused lanes have the value 1 and further lanes share one sample`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.lanes (name, rate_limit) values ('limited', 5);
            insert into postrider.lanes (name, paused_until) values ('after a 429', now() - interval '1 s');
            select postrider.pause_lane('a');
            insert into postrider_internal.lane_pauses values ('b', now() + interval '1 min', 'busy');
            """)
        #expect(
            try samples("postrider_lane_paused", queue) == [
                "{lane=\"a\"} 1", "{lane=\"b\"} 1", "{lane=\"limited\"} 0",
            ])
        try queue.connection.execute("select postrider.pause_lane('c' || i) from generate_series(1, 300) i")
        let all = try samples("postrider_lane_paused", queue)
        #expect(all.count == 201)
        #expect(all.last == "{lane=\"other\"} 1")
    }

    @Test func `a credential has the value 1 in its present state only`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.credentials (name, kind) select 'c' || lpad(i::text, 3, '0'), 'bearer' from generate_series(1, 201) i"
        )
        let all = try samples("postrider_credential_state", queue)
        #expect(
            all.prefix(4) == [
                "{credential=\"c001\",state=\"active\"} 0", "{credential=\"c001\",state=\"refreshing\"} 0",
                "{credential=\"c001\",state=\"cooldown\"} 0", "{credential=\"c001\",state=\"logged_off\"} 1",
            ])
        #expect(all.count == 804)
        #expect(all.last == "{credential=\"other\",state=\"logged_off\"} 1")
    }

    @Test func `the last success of a schedule stays after later failures and after its job is deleted`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.schedules (name, cron, spec) values ('a', '@yearly', '{\"url\": \"http://h/\"}')")
        func run(_ state: String, at time: Int) throws -> Int64 {
            let job = try queue.number("select postrider.run_schedule('a')")
            try queue.connection.execute(
                """
                delete from postrider_internal.ready;
                insert into postrider_internal.results (job_id, attempt, track, state, finished_at)
                values (\(job), 1, 0, '\(state)', to_timestamp(\(time)))
                """)
            return job
        }
        let family = "postrider_schedule_last_success_timestamp_seconds"
        #expect(try samples(family, queue).isEmpty)
        let first = try run("s", at: 1_000)
        #expect(try samples(family, queue) == ["{schedule=\"a\"} 1000"])
        try queue.connection.execute("select postrider_internal.fold_schedule_runs()")
        try queue.connection.execute("delete from postrider_internal.results where job_id = \(first)")
        for time in 0..<20 { _ = try run("f", at: 2_000 + time) }
        #expect(try samples(family, queue) == ["{schedule=\"a\"} 1000"])
        #expect(try queue.number("select count(*) from postrider_internal.schedule_runs") == 11)
        _ = try run("s", at: 3_000)
        try queue.connection.execute("select postrider_internal.fold_schedule_runs()")
        #expect(try samples(family, queue) == ["{schedule=\"a\"} 3000"])
        #expect(try queue.number("select count(*) from postrider_internal.schedule_runs") == 1)
        try queue.connection.execute("delete from postrider.schedules; select postrider_internal.fold_schedule_runs()")
        #expect(try queue.number("select count(*) from postrider_internal.schedule_runs") == 0)
    }
}
