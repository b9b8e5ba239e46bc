// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The statements that give workers what their metrics need.
struct MetricRowTests {
    @Test func `a track has its queue and the row of lanes that limits it as labels`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority)
            values ('q', 'tenant:1', 0), ('q', 'tenant:eu:1', 0), ('r', 'exact', 0), ('r', 'paused', 0), ('r', 'none', 0);
            insert into postrider.lanes (name, rate_limit) values ('tenant:*', 1), ('tenant:eu:*', 1), ('exact', 1);
            insert into postrider.lanes (name) values ('paused'), ('tenant:1');
            """)
        #expect(
            try queue.rows(
                """
                select t.lane, l.queue, l.lane_group from postrider_internal.tracks t
                  join postrider_internal.track_labels(array(select id from postrider_internal.tracks)) l on l.track = t.id
                 order by t.lane
                """) == [
                    ["exact", "r", "exact"], ["none", "r", nil], ["paused", "r", nil], ["tenant:1", "q", "tenant:*"],
                    ["tenant:eu:1", "q", "tenant:eu:*"],
                ])
    }

    @Test func `the leader takes ends that no worker counts once, with queue, service and state`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', 'http://h');
            insert into postrider.jobs (queue, service, lane, url, run_at)
            select 'q', 'api', 'l' || i, '/', now() + interval '1 h' from generate_series(1, 3) i;
            insert into postrider.jobs (url, run_at) values ('http://h/', now() + interval '1 h');
            select postrider.submit('{"batch": [{"url": "http://h/a"}, {"url": "http://h/b"}], "run_at": "2100-01-01"}');
            select postrider.cancel(id) from postrider.jobs where parent_id is null;
            """)
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        let epoch = try queue.number("select postrider_internal.lead(\(worker)::int)")
        while try queue.number("select count(*) from postrider_internal.trees where state = 'o'") > 0 {
            try queue.connection.execute("select * from postrider_internal.settle(0, true, false)")
        }
        func take(_ epoch: Int64) throws -> [[String?]] {
            try queue.rows(
                """
                select queue, service, state, jobs::text
                  from postrider_internal.take_unreported_ends(\(worker)::int, \(epoch), 0, 100) order by 1, 2, 3
                """)
        }
        #expect(try take(epoch + 1).isEmpty)
        #expect(try take(epoch) == [["default", "", "cancelled", "3"], ["q", "api", "cancelled", "3"]])
        #expect(try take(epoch).isEmpty)
    }
}
