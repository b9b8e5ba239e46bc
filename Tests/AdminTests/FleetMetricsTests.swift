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
}
