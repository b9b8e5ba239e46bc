// SPDX-License-Identifier: Apache-2.0

import JobModel
import PGClient
import TestSupport
import Testing

/// SQL's rules for errors that say nothing about a job, and for jobs that may have been called.
struct RefusalRuleTests {
    @Test func `SQL and the worker treat the same errors as shortages`() throws {
        let queue = try TestQueue()
        let states = [
            "53200", "53100", "57014", "57P01", "58030", "58P01", "XX000", "XX001", "55P03", "40001", "40P01", "22021",
            "23514", "54000",
            "42P01", "3F000", "42501", "P0001", "PR008", "25006",
        ]
        for state in states {
            let isShortage = try queue.number("select postrider_internal.is_shortage('\(state)')::int::bigint") == 1
            #expect(isShortage == (SQLState(rawValue: state).cause == .shortage), "\(state)")
        }
    }

    /// Refuses to prepare the only job after so many earlier refusals. Returns the job's state afterwards, with the
    /// error code or the wait.
    private func state(after refusals: Int, isExpired: Bool = false) throws -> String? {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0)")
        let time = isExpired ? "1 ms" : "1 min"
        let id = try queue.insert(
            "url, delivery, expires_at", "'http://h/', 'at_most_once', now() + interval '\(time)'")
        if isExpired { try queue.wait(until: "select expires_at < now() from postrider.jobs") }
        if refusals > 0 {
            try queue.connection.execute(
                """
                insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, error_code,
                                                              refusals)
                values (\(id), 0, now(), 7, 1, 'internal', \(refusals))
                """)
        }
        try FinishFixture.finish(queue, attempt: 1, Verdict(.unprepared, .internal, "no"))
        return try queue.text(
            """
            select coalesce(
              (select format('%s %s', postrider_internal.state_name(r.state), r.error_code)
               from postrider_internal.results r),
              (select format('scheduled in %s ms, attempt %s, refusals %s',
                             round(extract(epoch from s.run_at - t.finished_at) * 1000),
                             s.attempt, t.refusals)
                 from postrider_internal.scheduled s, postrider_internal.past_attempts t where t.fence = 1))
            """)
    }

    @Test func `a job whose preparation is refused waits longer each time, and fails after 15 minutes`() throws {
        #expect(try state(after: 0) == "scheduled in 250 ms, attempt 0, refusals 1")
        #expect(try state(after: 4) == "scheduled in 4000 ms, attempt 0, refusals 5")
        #expect(try state(after: 34) == "scheduled in 30000 ms, attempt 0, refusals 35")
        #expect(try state(after: 35) == "failed internal")
        #expect(try state(after: 0, isExpired: true) == "failed internal")
        let queue = try TestQueue()
        let waited =
            "select sum(extract(epoch from postrider_internal.refusal_wait(n)))::bigint from generate_series(1, 35) n"
        #expect(try (870...930).contains(queue.number(waited)))
    }

    /// Inserts failed at_most_once jobs, one for each error code.
    private func makeFailed(_ queue: borrowing TestQueue, status: String, sent: Int) throws {
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, method, delivery, tag) select 'http://h/', 'POST', 'at_most_once', e.code
              from postrider.error_codes e;
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, fence, started_at,
                                                    status_code, bytes_sent)
            select g.job_id, 1, g.track, 'f', j.tag, 7, now(), \(status), \(sent) from gone g
              join postrider.jobs j on j.id = g.job_id
            """)
    }

    @Test(arguments: ["200", "409", "429", "500"])
    func `retry_failed repeats an answered at_most_once POST only after a 429, with any error code`(
        status: String
    ) throws {
        let queue = try TestQueue()
        try makeFailed(queue, status: status, sent: 90)
        let codes = try queue.rows("select code from postrider.error_codes").compactMap { $0[0] }
        for code in codes where status != "429" || !["http_status", "http_429"].contains(code) {
            #expect(try queue.number("select postrider.retry_failed(error_code => '\(code)')") == 0, "\(code)")
        }
        // With 429 the server says that it has not acted.
        #expect(try queue.number("select postrider.retry_failed()") == (status == "429" ? 2 : 0))
    }

    @Test func `retry_failed repeats an at_most_once job if nothing was sent, and retry repeats any job`() throws {
        let queue = try TestQueue()
        try makeFailed(queue, status: "null", sent: 0)
        #expect(try queue.number("select postrider.retry_failed(error_code => 'internal')") == 1)
        let other = try TestQueue()
        try makeFailed(other, status: "200", sent: 90)
        let id = try other.number("select job_id from postrider_internal.results where error_code = 'internal'")
        try other.connection.execute("select postrider.retry(\(id))")
        #expect(try other.state(id) == "ready")
    }
}
