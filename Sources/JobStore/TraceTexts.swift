// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The names and values of `trace_texts` and `rooted_trace_texts`: the context that a job carries, and the attributes of
/// its span.
struct TraceTexts {
    /// The context; empty: the job carries none.
    private(set) var traceparent = ""
    private(set) var tracestate = ""
    /// The batch or chain on top of the job; nil: not known.
    private(set) var root: Int64?
    private(set) var labels = TraceLabels()

    /// The texts of a job that carries no context.
    init() {}

    /// Reads pairs. Empty values count as missing.
    init(_ pairs: some Sequence<(String, String)>) {
        for (name, value) in pairs where !value.isEmpty {
            switch name {
            case ":traceparent": traceparent = value
            case ":tracestate": tracestate = value
            case ":root": root = Int64(value)
            case ":queue": labels.queue = value
            case ":lane": labels.lane = value
            case ":service": labels.service = value
            case ":operation": labels.operation = value
            default: break
            }
        }
    }

    /// Takes the texts that `claim` has put in front of the headers. Nil if the job carries no context.
    init?(before headers: inout [HTTPHeader]) {
        let count = headers.prefix { $0.name.utf8.first == UInt8(ascii: ":") }.count
        guard count > 0 else { return nil }
        self.init(headers[..<count].map { ($0.name, $0.value) })
        headers.removeFirst(count)
    }
}
