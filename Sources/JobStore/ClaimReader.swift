// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Turns the rows of `postrider_internal.claim` into jobs.
public struct ClaimReader: Sendable {
    private typealias Column = ClaimColumn

    private let calls: CallReader

    /// A reader with the fleet's settings that `enlist` returned.
    public init(calls: CallReader) {
        self.calls = calls
    }

    /// The job in a row of the result, with the columns of `StoreStatement.claim`. A job that needs more than its row
    /// has no call yet. If all jobs have a trace, a member needs the number of its root.
    public func job(_ result: borrowing PGResult, _ row: Int) -> ClaimedJob {
        let lease = Lease(
            track: result.int32(row, Column.track), seq: result.int64(row, Column.seq),
            fence: result.int64(row, Column.fence),
            jobID: result.int64(row, Column.jobID), attempt: result.int32(row, Column.attempt))
        var job = ClaimedJob(
            lease: lease, call: nil, isAtMostOnce: result.bool(row, Column.atMostOnce), okStatuses: .success,
            rekey: result.int16(row, Column.rekey))
        job.waited = result.microseconds(row, Column.waited)
        if result.bool(row, Column.isMember) { job.followUp.insert(.tree) }
        if result.bool(row, Column.hasCallbacks) { job.followUp.insert(.outcome) }
        if !result.isNull(row, Column.largeBody) {
            job.largeBody = ClaimReader.largeBody(
                result.int64(row, Column.largeBody), result.text(row, Column.bodyKind))
        }
        guard !result.bool(row, Column.isRich), !calls.tracesAll || !job.followUp.contains(.tree) else { return job }
        job.okStatuses = CallReader.okStatuses(result, row, Column.okStatuses)
        var call = calls.call(result, row, Column.self, for: job)
        if let texts = TraceTexts(before: &call.headers) ?? (calls.tracesAll ? TraceTexts() : nil) {
            job.trace = calls.trace(&call, of: job, texts)
        }
        job.call = call
        return job
    }

    /// The body that the claim left in the database. A negative size means that the claim did not read the body.
    private static func largeBody(_ bytes: Int64, _ kind: String) -> LargeBody {
        bytes < 0 ? .unread : LargeBody(bytes: Int(bytes), isPlain: kind == "b" || kind == "j")
    }
}
