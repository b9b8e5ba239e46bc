// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import TestSupport
import Testing

/// Rows that somebody's open transaction holds, while calls are prepared and their ends are stored.
struct HeldRowTests {
    @Test func `locks of credentials are waited for for half a second, all of them together`() throws {
        let desk = try CacheDesk()
        try desk.queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url)
            select 'c' || i, 'oauth2_refresh_token', 'http://h/token' from generate_series(1, 60) i;
            select postrider.log_in('c' || i, '{"refresh_token": "r"}') from generate_series(1, 60) i
            """)
        try desk.queue.insert(60, "url, credential", "'http://h/a', 'c' || i")
        let other = try PGConnection(desk.queue.database)
        try other.execute("begin; update postrider.credentials set scope = 'x' where name <> 'c9'")
        // 60 halves of a second would be 30 s.
        try desk.queue.connection.execute("set lock_timeout = '7s'; set statement_timeout = '20s'")
        try desk.queue.connection.execute("begin")
        #expect(try desk.take() == [])
        #expect(try desk.queue.text("show lock_timeout") == "7s")
        try desk.queue.connection.execute("commit")
        #expect(try desk.queue.number("select count(*) from postrider.credential_waits") == 60)
        // The one that nobody holds, the last by name, is being fetched.
        #expect(
            try desk.queue.rows("select name from postrider.credentials where state = 'refreshing'") == [["c9"]])
        try other.execute("rollback")
    }

    @Test func `so are those of a batch of answers that say that tokens have ended`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url)
            select 'c' || i, 'oauth2_refresh_token', 'http://h/token' from generate_series(1, 60) i;
            select postrider.log_in('c' || i, '{"refresh_token": "r", "access_token": "a"}') from generate_series(1, 60) i;
            insert into postrider.tracks (queue, lane, priority) values ('default', 'h:80', 0)
            """)
        try queue.insert(60, "url, credential", "'http://h/', 'c' || i")
        try queue.connection.execute("update postrider.ready set worker = 7, fence = 1, attempt = 1")
        let attempts = try queue.rows(
            "select seq::text, track::text, job_id::text from postrider.ready order by job_id"
        )
        .enumerated().map { place, row in
            let lease = Lease(
                track: Int32(row[1] ?? "") ?? 0, seq: Int64(row[0] ?? "") ?? 0, fence: 1,
                jobID: Int64(row[2] ?? "") ?? 0, attempt: 1)
            var attempt = FinishedAttempt(
                lease: lease, verdict: Verdict(.failed, .httpStatus, "no"),
                outcome: CallOutcome(.response(HTTPResponse(status: 401))), isJudged: true)
            attempt.credential = "c\(place + 1)"
            attempt.credentialVersion = 1
            return attempt
        }
        let other = try PGConnection(queue.database)
        try other.execute("begin; update postrider.credentials set scope = 'x' where name <> 'c9'")
        try queue.connection.execute("set statement_timeout = '20s'")
        var columns = FinishColumns()
        var parameters = PGParameters()
        let batch = FinishBatch(attempts)
        batch.encode(worker: 7, appVersion: nil, columns: &columns, into: &parameters)
        #expect(try queue.connection.query(batch.statement.sql, &parameters).int64s(0, 0).count == 60)
        #expect(
            try queue.rows("select error_code, count(*)::text from postrider.tries group by 1 order by 1")
                == [["refresh_failed", "59"], ["token_expired", "1"]])
        try other.execute("rollback")
    }
}
