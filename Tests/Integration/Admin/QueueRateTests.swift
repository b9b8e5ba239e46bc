// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rate in queue_status and its estimate of the time for a backlog.
struct QueueRateTests {
    @Test func `rate_per_second counts the last 60 seconds, with a share of the previous calendar minute`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            begin;
            insert into postrider_internal.job_totals (minute, queue, state, jobs)
            select date_trunc('minute', now()) - m * interval '1 min', 'default', s::"char", 600
              from generate_series(0, 3) m, unnest(array['s', 'c', 'k', 'r']) s;
            insert into postrider_internal.job_totals (minute, queue, state, jobs) values ('-infinity', 'default', 's',
                100000);
            insert into postrider_internal.job_deltas (tracks, states, jobs, queue, at)
            values (array[0], array['f'::"char"], array[60], 'default', now() - interval '1 s'),
                   (array[0], array['s'::"char"], array[60], 'default', now() - interval '61 s')
            """)
        try queue.insert(6, "url", "'http://h/'")
        // 600 ends in this minute, 60 of them not yet folded, and a share of the 600 ends in the minute before.
        let wrong = try queue.rows(
            """
            select rate_per_second::text, estimated_drain::text
              from postrider.queue_status, lateral (select 660 + 600 * (1 - extract(second from now()) / 60) as ends) e
             where queue = 'default'
               and (rate_per_second <> round(ends / 60, 1)
                    or abs(extract(epoch from estimated_drain) - 6 * 60 / ends) > 0.001)
            """)
        #expect(wrong == [])
        try queue.connection.execute("rollback")
    }
}
