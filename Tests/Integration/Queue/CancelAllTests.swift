// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The jobs that `cancel_all` finds, and its count. No worker runs.
struct CancelAllTests {
    @Test func `cancel_all counts each batch once, and a worker cancels the remaining members later`() throws {
        let queue = try TestQueue()
        _ = try queue.number(
            #"""
            select postrider.submit('{"batch": {"each": [1, 2], "do": {"run_at": "2100-01-01", "batch": [{"url": "http://h/"}]}}}')
            """#)
        _ = try queue.number(
            """
            select postrider.submit(jsonb_build_object('batch', jsonb_agg(jsonb_build_object(
              'batch', jsonb_build_array(jsonb_build_object('url', 'http://h/', 'run_at', now() + interval '1 day'))))))
              from generate_series(1, 700)
            """)
        try queue.insert("url, run_at", "'http://h/', now() + interval '1 day'")
        #expect(try queue.number("select postrider.cancel_all()") == 3)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select bool_and(state = 'cancelled') from postrider.job_status")
    }

    /// The arguments, and the jobs that they select.
    @Test(arguments: [
        ("", "a b c d e f g"), ("queue => 'q'", "b d f"), ("lane => 'l'", "c d g"), ("tag => 't'", "e f g"),
        ("queue => 'q', lane => 'l'", "d"), ("queue => 'q', tag => 't'", "f"), ("lane => 'l', tag => 't'", "g"),
        ("lane => 'h:80', tag => 't'", "e f"), ("queue => 'nobody'", ""), ("lane => 'nobody'", ""),
        ("tag => 'nobody'", ""),
    ])
    func `cancel_all finds jobs by queue, lane and tag in every place where jobs wait`(words: String, expected: String)
        throws
    {
        for place in ["no track", "its track", "another priority", "later", "a batch"] {
            let queue = try TestQueue(sharedBy: #function, inTransaction: true)
            if place == "its track" {
                // The tracks must exist before the jobs.
                try queue.connection.execute(
                    """
                    insert into postrider_internal.tracks (queue, lane, priority)
                    select q, l, 0 from unnest(array['default', 'q']) q, unnest(array['h:80', 'l']) l
                    """)
            }
            let batch = "select max(id) from postrider.jobs where kind = 'batch'"
            try queue.connection.execute(
                """
                insert into postrider.jobs (kind, queue, tag) select 'batch', 'other', 'other' where \(place == "a batch");
                insert into postrider.jobs (url, queue, lane, tag, metadata, run_at, parent_id)
                select 'http://h/', q, l, t, jsonb_build_object('name', n),
                       now() + case when \(place == "later") then interval '1 h' else interval '0' end, (\(batch))
                  from (values ('default', null, null, 'a'), ('q', null, null, 'b'), ('default', 'l', null, 'c'),
                        ('q', 'l', null, 'd'),
                               ('default', null, 't', 'e'), ('q', null, 't', 'f'), ('default', 'l', 't', 'g')) v (q, l, t, n);
                """)
            if place == "another priority" {
                try queue.connection.execute(
                    "select postrider.reschedule(id, priority => 4) from postrider.jobs where kind = 'request'")
            }
            let count = try queue.number("select postrider.cancel_all(\(words))")
            let found = try queue.text(
                """
                select string_agg(metadata ->> 'name', ' ' order by id) from postrider.job_status
                where state = 'cancelled' and kind = 'request'
                """)
            if place == "a batch" && words.isEmpty {
                #expect(count == 1 && found == expected, "\(place)")
            } else {
                #expect(found ?? "" == expected, "\(place)")
                #expect(count == expected.split(separator: " ").count, "\(place)")
            }
        }
    }
}
