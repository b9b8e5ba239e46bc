// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import Admin

/// What a look at the metrics of the fleet reads.
struct FleetMetricsTests {
    @Test func `of any number of failures the latest thousand are read`() throws {
        let cluster = try TestQueue.quietCluster()
        let queue = try TestQueue(on: cluster)
        let count = Soak.count(1_000_000, reduced: 100_000)
        try queue.connection.execute(
            """
            insert into postrider.tracks (queue, lane, priority) values ('q', 'l', 0);
            insert into postrider.results (job_id, attempt, track, state, error_code, finished_at)
            select i, 1, (select id from postrider.tracks), case when i % 2 = 0 then 'f' else 's' end, 'connect', now() + i * interval '1 us'
              from generate_series(1, \(count)) i;
            """)
        try queue.connection.execute("vacuum analyze postrider.results")
        #expect(
            try queue.text("select string_agg(f::text, ' ') from (\(FleetMetrics.failures)) f") == "(q,connect,1000)")
        let blocks = try queue.buffers(FleetMetrics.failures)
        #expect(blocks < 5_000, "\(blocks)")
    }
}
