// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Turns the rows of `postrider_internal.claim` into jobs.
public struct ClaimReader: Sendable {
    private let calls: CallReader

    /// A reader with the fleet's settings that `enlist` returned.
    public init(calls: CallReader) {
        self.calls = calls
    }

    /// The job in a row of the result, with the columns of `StoreStatement.claim`. A job that needs more than its row
    /// has no call yet.
    public func job(_ result: borrowing PGResult, _ row: Int) -> ClaimedJob {
        let lease = Lease(
            track: result.int32(row, 0), seq: result.int64(row, 1), fence: result.int64(row, 2),
            jobID: result.int64(row, 3), attempt: result.int32(row, 4))
        var job = ClaimedJob(
            lease: lease, call: nil, isAtMostOnce: result.bool(row, 5), okStatuses: .success,
            rekey: result.int16(row, 6))
        if result.bool(row, 18) { job.followUp.insert(.tree) }
        if result.bool(row, 19) { job.followUp.insert(.outcome) }
        if !result.isNull(row, 20) {
            job.largeBody = ClaimReader.largeBody(result.int64(row, 20), result.text(row, 11))
        }
        guard !result.bool(row, 17) else { return job }
        job.okStatuses = CallReader.okStatuses(result, row, 16)
        job.call = calls.call(result, row, from: 7, for: job)
        return job
    }

    /// The body that the claim left in the database. A negative size means that the claim did not read the body.
    private static func largeBody(_ bytes: Int64, _ kind: String) -> LargeBody {
        bytes < 0 ? .unread : LargeBody(bytes: Int(bytes), isPlain: kind == "b" || kind == "j")
    }
}
