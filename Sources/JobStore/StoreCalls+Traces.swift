// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// A job, batch or chain that has ended, with the facts for its span.
public struct EndedJob: Equatable, Sendable {
    /// The job.
    public var id: Int64
    /// The fence that was asked for; 0: a batch or chain.
    public var fence: Int64
    /// The batch or chain above it.
    public var parent: Int64?
    /// The batch or chain on top of it, or the job.
    public var root: Int64
    /// Whether its span stands below the span of its parent.
    public var isBelowParent: Bool
    /// The context that it carries; nil: it has begun a trace.
    public var context: TraceContext?
    /// `request`, `batch` or `chain`.
    public var kind: String
    /// The final state.
    public var state: String
    /// Where it belongs.
    public var labels: TraceLabels
    /// When it could start, by the database's clock in microseconds since 1970.
    public var start: Int64
    /// When it ended.
    public var end: Int64
    /// Its attempts.
    public var attempts: Int
    /// The status of the last answer.
    public var status: Int?
    /// The error code; nil for a success.
    public var errorCode: String?

    /// An ended job. By default it is a request that has succeeded and begins a trace.
    public init(
        id: Int64, fence: Int64 = 0, parent: Int64? = nil, root: Int64? = nil, isBelowParent: Bool = false,
        context: TraceContext? = nil, kind: String = "request", state: String = "succeeded",
        labels: TraceLabels = TraceLabels(), start: Int64 = 0, end: Int64 = 0, attempts: Int = 1, status: Int? = nil,
        errorCode: String? = nil
    ) {
        self.id = id
        self.fence = fence
        self.parent = parent
        self.root = root ?? id
        self.isBelowParent = isBelowParent
        self.context = context
        self.kind = kind
        self.state = state
        self.labels = labels
        self.start = start
        self.end = end
        self.attempts = attempts
        self.status = status
        self.errorCode = errorCode
    }
}

extension StoreCalls {
    /// `take_ended_spans`. The fence of a batch or chain is 0.
    ///
    /// - Parameter tracesAll: whether jobs without a carried context have a trace.
    public static func takeEndedSpans(
        jobs: [Int64], fences: [Int64], tracesAll: Bool, into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int64s: jobs)
        parameters.append(int64s: fences)
        parameters.append(bool: tracesAll)
    }

    /// The rows of `take_ended_spans`.
    public static func endedJobs(_ result: borrowing PGResult) -> [EndedJob] {
        typealias Column = EndedSpanColumn
        return (0..<result.rowCount).map { row in
            var labels = TraceLabels()
            labels.queue = result.text(row, Column.queue)
            labels.lane = result.optionalText(row, Column.lane)
            labels.service = result.optionalText(row, Column.service)
            labels.operation = result.optionalText(row, Column.operation)
            return EndedJob(
                id: result.int64(row, Column.jobID), fence: result.int64(row, Column.fence),
                parent: result.optionalInt64(row, Column.parentID), root: result.int64(row, Column.rootID),
                isBelowParent: result.bool(row, Column.isBelowParent),
                context: result.optionalText(row, Column.traceparent).flatMap {
                    TraceContext(traceparent: $0, state: result.optionalText(row, Column.tracestate) ?? "")
                },
                kind: result.text(row, Column.kind), state: result.text(row, Column.state), labels: labels,
                start: result.int64(row, Column.startUs), end: result.int64(row, Column.endUs),
                attempts: Int(result.int32(row, Column.attempt)),
                status: result.optionalInt64(row, Column.statusCode).map(Int.init),
                errorCode: result.optionalText(row, Column.errorCode))
        }
    }
}
