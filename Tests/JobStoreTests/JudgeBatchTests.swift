// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import TestSupport
import Testing

/// Many attempts in one call of `judge`. The findings about one attempt must not reach another attempt.
struct JudgeBatchTests {
    @Test(arguments: [[0, 3], [1, 2], [0, 1, 2], []] as [[Int]])
    func `attempts judged together each keep their own result and charset when some fail`(failed: [Int]) throws {
        let queue = try TestQueue()
        try queue.insert(5, "url, response_format, extract", "'http://h/' || i, 'json', '$.n'")
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0);
            update postrider_internal.ready set worker = 7, fence = 1, attempt = 1
            """)
        let seqs = try queue.rows("select seq::text, track::text from postrider_internal.ready order by seq")
        let attempts = seqs.enumerated().map { place, row in
            let seq = Int64(row[0] ?? "") ?? 0
            let lease = Lease(track: Int32(row[1] ?? "") ?? 0, seq: seq, fence: 1, jobID: seq, attempt: 1)
            let response = HTTPResponse(
                status: 200, headerBlock: Array("content-type: application/json\n".utf8),
                body: Array("{\"n\": \(place)}".utf8))
            let verdict = failed.contains(place) ? Verdict(.failed, .xmlInvalid, "no") : .success
            return FinishedAttempt(
                lease: lease, verdict: verdict, outcome: CallOutcome(.response(response)), isJudged: true)
        }
        let batch = FinishBatch(attempts)
        var ended = AttemptRows()
        var parameters = PGParameters()
        batch.encode(worker: 7, appVersion: nil, rows: &ended, into: &parameters)
        let stored = try queue.connection.query(batch.statement.sql, &parameters).int64s(0, 0)
        #expect(stored.count == 5)
        let rows = try queue.rows("select result::text, encoding from postrider_internal.results order by job_id")
        for (place, row) in rows.enumerated() {
            #expect(row == (failed.contains(place) ? [nil, nil] : ["\(place)", "utf-8"]), "place \(place)")
        }
    }
}
