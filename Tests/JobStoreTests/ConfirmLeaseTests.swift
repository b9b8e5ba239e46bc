// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The check of a lease before the call of a job with hooks.
struct ConfirmLeaseTests {
    @Test func `a called job that expires before its next call fails with the status of its last call`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, expires_at", "'http://h/', now() + interval '1 h'")
        try queue.connection.execute(
            """
            insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt, status_code, error_code,
                                                          error)
            values (\(id), 1, now(), 1, 1, 503, 'http_status', 'status 503');
            update postrider_internal.ready
               set worker = 1, fence = 2, attempt = 2, since = now(), expires_at = now() - interval '1 s'
             where job_id = \(id)
            """)
        let row = try queue.rows("select track::text, seq::text from postrider_internal.ready where job_id = \(id)")[0]
        #expect(
            try queue.text(
                "select postrider_internal.confirm_lease(\(row[0] ?? ""), \(row[1] ?? ""), 2, \(id))::text") == "false")
        #expect(
            try queue.rows(
                "select state, error_code, status_code::text, error from postrider.job_status where id = \(id)")
                == [["failed", "http_status", "503", "status 503; no time was left for another attempt"]])
    }
}
