// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `retry_failed` repeats all failed jobs that match its arguments.
struct RetryFailedTests {
    /// Nine jobs with the numbers 0 to 8.
    ///
    /// Jobs 0–5 failed, with code http_status or connect, in queue a or b, an hour apart. Job 6 is unknown, 7 expired,
    /// 8 succeeded. The lane comes from the URL, except l for every third job. The first four have a tag.
    private static func make(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, queue, lane, tag)
            select 'http://h/' || i, case when i % 2 = 0 then 'a' else 'b' end, case when i % 3 = 0 then 'l' end, case
              when i < 4 then 't' end
              from generate_series(0, 8) i;
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, finished_at, fence,
                                                    started_at)
            select g.job_id, 3, g.track, (array['f','f','f','f','f','f','u','e','s'])[n.i + 1]::"char",
                   case when n.i < 3 then 'http_status' when n.i < 6
                     then 'connect' end, now() - n.i * interval '1 hour', 7, now()
              from gone g join (select id, right(url, 1)::int as i from postrider.jobs) n on n.id = g.job_id
            """)
    }

    @Test(
        arguments: [
            ("", "012345"), ("queue => 'a'", "024"), ("error_code => 'connect'", "345"),
            ("since => now() - interval '150 min'", "012"),
            ("'b', 'http_status', now() - interval '1 day'", "1"), ("queue => 'c'", ""), ("null, null, null", "012345"),
            ("tag => 't'", "0123"), ("lane => 'l'", "03"), ("lane => 'h:80'", "1245"),
            ("lane => 'h:80', tag => 't'", "12"), ("queue => 'a', lane => 'h:80'", "24"),
            ("'b', 'connect', '-infinity', 't', 'l'", "3"), ("tag => 't', since => now() - interval '150 min'", "012"),
            ("tag => 't', error_code => 'connect'", "3"), ("tag => 'nobody'", ""), ("lane => 'nobody'", ""),
        ], [false, true])
    func `retry_failed requeues only failed jobs that match queue, error code, time, tag and lane`(
        given: (arguments: String, jobs: String), hasTracks: Bool
    ) throws {
        let (arguments, jobs) = given
        let queue = try TestQueue(sharedBy: #function, inTransaction: true)
        if hasTracks {
            try queue.connection.execute(
                "insert into postrider_internal.tracks (queue, lane, priority) select q, l, 0 from unnest(array['a', 'b']) q, unnest(array['h:80', 'l']) l"
            )
        }
        try Self.make(queue)
        #expect(try queue.number("select postrider.retry_failed(\(arguments))") == jobs.count)
        let ready = try queue.text(
            "select coalesce(string_agg(right(url, 1), '' order by url), '') from postrider.job_status where state = 'ready'"
        )
        #expect(ready == jobs)
        let kept = try queue.rows(
            "select distinct attempt::text, max_attempts::text from postrider.job_status where state = 'ready'")
        #expect(kept == (jobs.isEmpty ? [] : [["3", "8"]]))
        #expect(
            try queue.number("select count(*) from postrider_internal.past_attempts where attempt = 3") == jobs.count)
    }

    @Test func `retry_failed reruns each failed tree once and leaves cancelled trees unchanged`() throws {
        let target = try TargetServer { request in
            request.path.hasPrefix("/bad") && request.turn == 1 ? TargetStep.answer(400) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        func submit(_ spec: String) throws -> Int64 { try queue.number("select postrider.submit('\(spec)')") }
        let url = target.url
        let chain = try submit(
            #"{"chain": [{"url": "\#(url)/1"}, {"batch": [{"url": "\#(url)/bad/1"}, {"url": "\#(url)/2"}]}, {"url": "\#(url)/3"}]}"#
        )
        let settled = try submit(
            #"{"batch": [{"url": "\#(url)/bad/2"}, {"url": "\#(url)/bad/3"}, {"url": "\#(url)/4"}], "mode": "settle"}"#)
        let first = try submit(
            #"{"batch": [{"chain": [{"url": "\#(url)/bad/4"}]}, {"url": "\#(url)/5"}], "mode": "first", "max_parallel": 1}"#
        )
        let single = try queue.insert("url, dedupe_key", "'\(url)/bad/5', 'k'")
        let taken = try queue.insert("url, dedupe_key", "'\(url)/bad/6', 't'")
        let expired = try queue.insert("url, expires_at", "'\(url)/bad/7', now() + interval '1 h'")
        try queue.waitUntilDone()
        try queue.insert("url, dedupe_key, run_at", "'http://h/', 't', now() + interval '1 h'")
        let cancelled = try submit(
            #"{"batch": [{"url": "\#(url)/bad/8"}, {"url": "\#(url)/hang", "run_at": "2100-01-01"}], "mode": "settle"}"#
        )
        try queue.wait(until: "select children_failed = 1 from postrider.job_status where id = \(cancelled)")
        try queue.connection.execute("select postrider.cancel(\(cancelled))")
        #expect(
            try queue.rows(
                "select state from postrider.job_status where id in (\(chain), \(settled), \(first), \(single)) order by id"
            ).map { $0[0] }
                == ["failed", "succeeded", "succeeded", "failed"])
        try queue.connection.execute(
            "set session_replication_role = replica; update postrider.jobs set expires_at = now() where id = \(expired); reset session_replication_role"
        )

        #expect(try queue.number("select postrider.retry_failed()") == 3)
        for id in [chain, settled, single] { try queue.wait(for: id, toBe: "succeeded") }
        #expect(try queue.number("select children_failed from postrider.job_status where id = \(settled)") == 0)
        #expect(try queue.state(taken) == "failed")
        #expect(try queue.state(expired) == "failed")
        #expect(try queue.state(cancelled) == "cancelled")
        #expect(target.requests("/1").count == 1)
        #expect(target.requests("/bad/1").count == 2)
        #expect(try queue.number("select postrider.retry_failed()") == 0)
        #expect(worker.isRunning)
    }

    @Test func `retry_failed reruns only the newest of several failed jobs with the same dedupe_key`() throws {
        let queue = try TestQueue()
        for _ in 1...3 {
            try queue.insert("url, dedupe_key", "'http://h/', 'k'")
            try queue.connection.execute(
                """
                with gone as (delete from postrider_internal.ready returning job_id)
                insert into postrider_internal.results (job_id, attempt, state) select job_id, 1, 'f' from gone
                """)
        }
        #expect(try queue.number("select postrider.retry_failed()") == 1)
        let last = try queue.number("select max(id) from postrider.jobs")
        #expect(try queue.number("select job_id from postrider_internal.ready") == last)
        let error = try #require(throws: PGError.self) { try queue.insert("url, dedupe_key", "'http://h/', 'k'") }
        #expect(error.message.hasPrefix("jobs.dedupe_key: job \(last) "))
        #expect(try queue.number("select postrider.retry_failed()") == 0)
    }

    @Test func `retry_failed finds a tree by the root's tag or a failed member's tag or lane`() throws {
        let target = try TargetServer { request in
            request.path == "/bad" && request.turn <= 3 ? TargetStep.answer(400) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        var roots: [Int64] = []
        for (whole, member, lane) in [("whole", "x", "a"), ("x", "member", "b"), ("x", "x", "lane")] {
            roots.append(
                try queue.number(
                    #"""
                    select postrider.submit('{"tag": "\#(whole)", "chain": [{"url": "\#(target.url)/bad", "tag": "\#(member)", "lane": "\#(lane)"}]}')
                    """#))
        }
        for root in roots { try queue.wait(for: root, toBe: "failed") }
        #expect(try queue.number("select postrider.retry_failed(tag => 'nobody')") == 0)
        for (root, words) in zip(roots, ["tag => 'whole'", "tag => 'member'", "lane => 'lane'"]) {
            #expect(try queue.number("select postrider.retry_failed(\(words))") == 1)
            try queue.wait(for: root, toBe: "succeeded")
        }
        #expect(worker.isRunning)
    }

    @Test func `retry_failed requeues 100,000 failed jobs in one statement`() throws {
        let queue = try TestQueue()
        let count = Soak.count(100_000, reduced: 10_000)
        try queue.insert(count - 1, "url", "'http://h/' || i")
        try queue.connection.execute(
            """
            set session_replication_role = replica;
            insert into postrider_internal.results (job_id, attempt, track, state, error_code) select id, 1, 1, 'f',
              'connect' from postrider.jobs;
            delete from postrider_internal.ready; delete from postrider_internal.intake;
            reset session_replication_role
            """)
        #expect(try queue.number("select postrider.retry_failed(error_code => 'connect')") == count - 1)
        #expect(try queue.number("select count(*) from postrider_internal.ready") == count - 1)
        #expect(try queue.number("select count(*) from postrider_internal.results") == 0)
    }
}
