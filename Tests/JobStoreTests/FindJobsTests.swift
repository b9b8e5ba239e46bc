// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import JobStore

/// Lists of jobs by any filter: they show the rows of job_status, and one search looks at a bounded number of rows.
final class FindJobsTests {
    private let queue: TestQueue

    init() throws {
        queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        let epoch = try queue.lead(worker)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('billing', 'https://billing.example.com/v1'),
              ('mail', 'https://mail.example.com');
            insert into postrider.operations (name, spec) values ('ping', '{"url": "https://h/ping"}');
            insert into postrider.jobs (url, service, lane, queue, tag, run_at)
            select case when i % 4 < 2 then '/invoices/' || i else 'http://ada:pw@h' || i % 3 || '/x?api_key=s' || i end,
                   case i % 4 when 0 then 'billing' when 1 then 'mail' end, case when i % 10 = 0 then 'slow' end,
                   (array['default', 'a', 'b'])[1 + i % 3], case when i % 5 = 0 then 'five' end,
                   now() + case when i % 7 = 0 then interval '1 h' else interval '0' end
              from generate_series(1, 800) i;
            insert into postrider.jobs (operation, queue) select 'ping', 'a' from generate_series(1, 20);
            select postrider.submit('{"queue": "a", "tag": "five", "chain": [{"url": "http://h1/1"}, {"url": "http://h1/2"}]}');
            """)
        while try queue.number("select more::int from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
            == 1
        {}
        try queue.connection.execute(
            """
            update postrider_internal.ready set seq = nextval('postrider.jobs_id_seq')
              where job_id % 11 = 0 and parent_id is null;
            update postrider_internal.ready set worker = \(worker), fence = 1 where job_id % 13 = 0;
            with gone as (delete from postrider_internal.ready
                           where job_id % 2 = 1 and worker = 0 and parent_id is null returning *)
            insert into postrider_internal.results (job_id, fence, attempt, state, status_code, error_code, finished_at)
            select job_id, 7, 1, (array['s', 'f', 'c', 'e', 'k', 'u'])[1 + job_id / 2 % 6]::"char",
                   case when job_id % 3 = 0 then 503 else 200 end,
                   case job_id / 2 % 6 when 0 then null when 1 then 'envelope' else 'timeout' end,
                   now() - job_id * interval '1 min' from gone;
            insert into postrider_internal.envelope_errors (job_id, fence, code, name)
            select job_id, 7, '17', 'NO_FUNDS' from postrider_internal.results where state = 'f' and job_id % 3 = 0;
            with gone as (delete from postrider_internal.ready
                           where job_id % 17 = 0 and worker = 0 and parent_id is null returning *)
            insert into postrider_internal.outcomes (job_id, attempt, state, error_code)
            select job_id, 1, (array['s', 'f', 'c', 'e', 'k', 'u'])[1 + job_id / 17 % 6]::"char", 'cancelled' from gone;
            insert into postrider.jobs (url, queue) select 'http://late/' || i, 'b' from generate_series(1, 30) i;
            """)
    }

    private static let filters: [JobFilter] =
        [JobFilter(limit: 0)] + JobFilter.states.map { JobFilter(state: $0, limit: 0) }
        + JobFilter.states.map { JobFilter(state: $0, queues: ["a"], limit: 0) }
        + JobFilter.states.map { JobFilter(state: $0, queues: ["default", "b"], limit: 0) }
        + JobFilter.states.map { JobFilter(state: $0, lane: "billing", limit: 0) }
        + JobFilter.states.map { JobFilter(state: $0, tag: "five", limit: 0) }
        + [
            JobFilter(queues: ["default"], limit: 0), JobFilter(queues: ["a"], service: "mail", limit: 0),
            JobFilter(lane: "slow", limit: 0), JobFilter(lane: "h1:80", limit: 0), JobFilter(lane: "none", limit: 0),
            JobFilter(service: "billing", limit: 0), JobFilter(operation: "ping", limit: 0),
            JobFilter(errorCode: "timeout", limit: 0), JobFilter(errorCode: "cancelled", limit: 0),
            JobFilter(state: "failed", errorName: "NO_FUNDS", limit: 0), JobFilter(errorName: "NO_FUNDS", limit: 0),
            JobFilter(url: "/invoices/4", limit: 0), JobFilter(url: "api_key=***", limit: 0),
            JobFilter(url: "api_key=s", limit: 0), JobFilter(url: "http://h1", limit: 0),
            JobFilter(status: 503, limit: 0), JobFilter(state: "failed", queues: ["b"], status: 503, limit: 0),
            JobFilter(tag: "five", service: "mail", limit: 0), JobFilter(tag: "O'Hara", limit: 0),
            JobFilter(lane: "x') or true or ('", limit: 0),
        ]

    private func ids(_ filter: JobFilter) throws -> [Int64] {
        var parameters = PGParameters()
        let source = filter.source(&parameters)
        let result = try queue.connection.query("select s.id as value \(source)", &parameters)
        return (0..<result.rowCount).map { result.int64($0, PGValueColumn.value) }
    }

    @Test func `a search page by page finds the jobs that job_status selects, for each filter`() throws {
        let now = try #require(try queue.text("select now()::text"))
        let ago = try #require(try queue.text("select (now() - interval '5 h')::text"))
        let filters =
            Self.filters + [
                JobFilter(since: ago, limit: 0), JobFilter(until: ago, limit: 0),
                JobFilter(state: "failed", since: ago, until: now, limit: 0),
            ]
        for var filter in filters {
            filter.limit = 10_000
            var slow = filter
            slow.mayFindJobs = false
            let expected = try ids(slow)
            #expect(try ids(filter) == expected, "\(filter)")
            for window in [10, 300] {
                var found: [Int64] = []
                filter.limit = 7
                filter.before = nil
                repeat {
                    let search = try filter.search(queue.connection, window: window)
                    found += search.ids
                    #expect(search.reached.map { $0 < filter.before ?? .max } != false, "\(filter)")
                    filter.before = search.reached
                } while filter.before != nil && found.count <= expected.count
                #expect(found == expected, "window \(window), \(filter)")
            }
        }
        // The filters select jobs, except the two that name nothing.
        #expect(try ids(JobFilter(errorName: "NO_FUNDS", limit: 10_000)).count > 10)
        #expect(try ids(JobFilter(url: "api_key=s", limit: 10_000)).isEmpty)
    }

    @Test func `a search without a match reads a bounded number of pages`() throws {
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, lane) select 'http://h/' || i, 'l' || i % 50 from generate_series(1, 20000) i;
            delete from postrider_internal.intake;
            insert into postrider_internal.results (job_id, attempt, state) select j.id, 1, 'f' from postrider.jobs j
              where j.id > 10000 on conflict do nothing;
            """)
        try queue.connection.execute("vacuum analyze")
        for filter in [
            #"{"service": "none"}"#, #"{"state": "failed", "tag": "none", "status": "418"}"#,
            #"{"state": "failed", "lane": "none"}"#, #"{"error_code": "tls"}"#,
            #"{"state": "succeeded", "url": "none"}"#,
        ] {
            let call = "select * from postrider_internal.find_jobs('\(filter)', null, 20, 100)"
            _ = try queue.rows("select ids::text from (\(call)) x")
            let plan = try queue.text("explain (analyze, buffers, format json) \(call)") ?? ""
            let place = try #require(plan.firstRange(of: "\"Shared Hit Blocks\": "))
            let pages = try #require(Int(plan[place.upperBound...].prefix { $0.isNumber }))
            #expect(pages < 2500, "\(filter): \(pages)")
        }
    }

    @Test func `failures are counted by service, lane, error, status and state`() throws {
        let groups = try queue.rows(
            """
            select g.service, g.lane, g.error_code, g.error_name, g.status_code::text, g.state, g.jobs::text
              from postrider_internal.failure_groups('{}', 10000) g order by g.jobs desc, 1, 2, 3, 4, 5, 6
            """)
        let expected = try queue.rows(
            """
            select s.service, s.lane, s.error_code, s.error_name, s.status_code::text, s.state, count(*)::text
              from postrider.job_status s where s.state in ('failed', 'unknown', 'expired')
                and s.id in (select job_id from postrider_internal.results)
             group by 1, 2, 3, 4, 5, 6 order by count(*) desc, 1, 2, 3, 4, 5, 6
            """)
        #expect(groups == expected && groups.count > 3)
        // A window that is too small says how far it has looked; the next one goes on from there.
        let few = try queue.rows(
            "select g.looked::text, g.reached::text from postrider_internal.failure_groups('{}', 5) g limit 1")
        #expect(few[0][0] == "5")
        let reached = try #require(few[0][1])
        let all = "select sum(g.jobs)::bigint from postrider_internal.failure_groups('{}', 10000) g"
        let older = try queue.number(
            "select sum(g.jobs)::bigint from postrider_internal.failure_groups('{\"until\": \"\(reached)\"}', 10000) g")
        #expect(try queue.number(all) - older == 5)
        let none = try queue.rows(
            "select g.jobs::text, g.looked::text from postrider_internal.failure_groups('{\"lane\": \"none\"}', 3) g")
        #expect(none == [[nil, "3"]])
    }

    @Test func `a chart of few jobs counts each of them`() throws {
        try queue.connection.execute("update postrider_internal.results set finished_at = now(), total_us = 1500")
        for (filter, condition) in [("{}", "true"), (#"{"lane": "mail"}"#, "s.lane = 'mail'")] {
            let chart = try queue.rows(
                """
                select sum(c.finished)::int::text, sum(c.failed)::int::text, bool_and(c.is_exact)::text,
                       max(c.call_p99_ms)::text
                  from postrider_internal.chart_points('1 hour', '1 min', '\(filter)') c
                """)
            let counts = try queue.rows(
                """
                select count(*)::text, (count(*) filter (where s.state in ('failed', 'unknown', 'expired')))::text
                  from postrider.job_status s
                 where \(condition) and s.id in (select job_id from postrider_internal.results)
                """)
            #expect(chart == [counts[0] + ["true", "1.5"]], "\(filter)")
        }
    }

    @Test func `a chart of many jobs estimates their number within a tenth`() throws {
        try queue.connection.execute(
            """
            insert into postrider.jobs (url) select 'http://h/' || i from generate_series(1, 40000) i;
            delete from postrider_internal.intake;
            insert into postrider_internal.results (job_id, attempt, state, finished_at)
            select j.id, 1, case when j.id % 4 = 0 then 'f' else 's' end, now() from postrider.jobs j
             where j.url like 'http://h/%' on conflict do nothing;
            """)
        let chart = try queue.rows(
            """
            select (sum(c.finished) between 36000 and 44000)::text, (sum(c.failed) between 9000 and 11000)::text,
                   bool_or(c.is_exact)::text
              from postrider_internal.chart_points('24 hours', '15 min', '{}') c
            """)
        #expect(chart == [["true", "true", "false"]])
    }
}
