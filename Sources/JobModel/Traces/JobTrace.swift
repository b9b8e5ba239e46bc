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

/// Where a job belongs, for its span.
public struct TraceLabels: Equatable, Sendable {
    /// The queue; nil: not known.
    public var queue: String?
    /// The lane that the job names, or its service.
    public var lane: String?
    /// The service.
    public var service: String?
    /// The operation.
    public var operation: String?

    /// Labels of a job of which nothing is known.
    public init() {}
}

/// The trace of one attempt. It is a class, so that a job without a trace pays one pointer for it.
public final class JobTrace: Sendable {
    /// The context that the job continues. Its span is 0 if the trace begins with the job or its tree.
    public let context: TraceContext
    /// The span of the job.
    public let job: UInt64
    /// The span of this attempt, which the server sees.
    public let attempt: UInt64
    /// The attributes of the job's span.
    public let labels: TraceLabels

    /// A trace with the spans of a job and its attempt.
    public init(_ context: TraceContext, job: UInt64, attempt: UInt64, labels: TraceLabels = TraceLabels()) {
        self.context = context
        self.job = job
        self.attempt = attempt
        self.labels = labels
    }

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
    public static func isGiven(in headers: [HTTPHeader]) -> Bool { headers.contains { isName($0.name, name) } }

    /// Puts the headers of a context in the place of others.
    public static func replace(in headers: inout [HTTPHeader], by new: [HTTPHeader]) {
        headers.removeAll { isName($0.name, name) || isName($0.name, "tracestate") }
        headers += new
    }

    /// Whether a header has this name, in any case. Most names differ in their length, and cost nothing.
    private static func isName(_ header: String, _ name: String) -> Bool {
        header.utf8.count == name.utf8.count && header.lowercased() == name
    }
}
