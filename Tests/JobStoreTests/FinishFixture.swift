// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import PGClient
import TestSupport
import Testing

/// Ends the only job of a queue as a worker does.
enum FinishFixture {
    /// Claims the job for worker 7 and ends this attempt.
    static func finish(_ queue: borrowing TestQueue, attempt: Int32, fence: Int64 = 1, _ verdict: Verdict) throws {
        try queue.connection.execute(
            "update postrider_internal.ready set worker = 7, fence = \(fence), attempt = \(attempt), since = now()")
        let seq = try queue.number("select seq from postrider_internal.ready")
        let track = try queue.number("select track::bigint from postrider_internal.ready")
        let lease = Lease(track: Int32(track), seq: seq, fence: fence, jobID: seq, attempt: attempt)
        let batch = FinishBatch([FinishedAttempt(lease: lease, verdict: verdict, outcome: nil)])
        var rows = AttemptRows()
        var parameters = PGParameters()
        batch.encode(worker: 7, appVersion: nil, rows: &rows, into: &parameters)
        #expect(try queue.connection.query(StoreStatement.finish.sql, &parameters).int64s(0, 0) == [seq])
    }
}
