// SPDX-License-Identifier: Apache-2.0

/// The handling of the traces of jobs: `--trace`.
public enum TraceMode: String, CaseIterable, Sendable {
    /// A carried context is continued.
    case carried
    /// As `carried`. Jobs without a context begin a trace.
    case always
    /// A carried context is passed on unchanged, and no spans are written.
    case off
}

/// The trace of one attempt. It is a class, so that a job without a trace pays one pointer for it.
public final class JobTrace: Sendable {
    /// The context that the job continues. Its span is 0 if the trace begins with the job or its tree.
    public let context: TraceContext
    /// The span of the job.
    public let job: UInt64
    /// The span of this attempt, which the server sees.
    public let attempt: UInt64

    /// A trace with the spans of a job and its attempt.
    public init(_ context: TraceContext, job: UInt64, attempt: UInt64) {
        self.context = context
        self.job = job
        self.attempt = attempt
    }

    /// Whether a caller has begun the trace.
    public var isCarried: Bool { context.span != 0 }

    /// The headers of the call.
    public var headers: [HTTPHeader] {
        var place = context
        place.span = attempt
        return JobTrace.headers(traceparent: place.traceparent, tracestate: context.state)
    }

    /// The headers of a context.
    public static func headers(traceparent: String, tracestate: String) -> [HTTPHeader] {
        [HTTPHeader(name, traceparent)] + (tracestate.isEmpty ? [] : [HTTPHeader("tracestate", tracestate)])
    }

    private static let name = "traceparent"

    /// Whether headers have a context of their own.
    public static func isGiven(in headers: [HTTPHeader]) -> Bool {
        headers.contains { $0.name.lowercased() == name }
    }

    /// Puts the headers of a context in the place of others.
    public static func replace(in headers: inout [HTTPHeader], by new: [HTTPHeader]) {
        headers.removeAll { ["traceparent", "tracestate"].contains($0.name.lowercased()) }
        headers += new
    }
}
