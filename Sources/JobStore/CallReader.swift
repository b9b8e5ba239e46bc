// SPDX-License-Identifier: Apache-2.0

public import JobModel
internal import PGClient

/// Builds a job's request from the ten columns that `claim` and `prepare` share.
public struct CallReader: Sendable {
    /// The prefixes of Idempotency-Keys.
    private let prefixes: KeyPrefixes
    /// The header for the key, unless a service names another one.
    private let idempotencyHeader: String
    private let allowsPrivateNetwork: Bool
    private let traces: TraceMode

    /// A reader with the fleet's settings that `enlist` returned.
    public init(
        prefixes: KeyPrefixes, idempotencyHeader: String, allowsPrivateNetwork: Bool, traces: TraceMode = .off
    ) {
        self.prefixes = prefixes
        self.idempotencyHeader = idempotencyHeader
        self.allowsPrivateNetwork = allowsPrivateNetwork
        self.traces = traces
    }

    /// Whether jobs without a carried context begin a trace.
    var tracesAll: Bool { traces == .always }

    /// The call in a row of `claim` or `prepare`.
    ///
    /// - Parameter header: the header for the key, instead of the fleet's.
    func call<Column: CallColumn>(
        _ result: borrowing PGResult, _ row: Int, _ columns: Column.Type, for job: ClaimedJob,
        keyHeader header: String? = nil
    ) -> HTTPCall {
        let method = HTTPMethod(rawValue: result.text(row, Column.method)) ?? .get
        var call = HTTPCall(
            method: method, url: result.text(row, Column.url), allowsPrivateNetwork: allowsPrivateNetwork)
        if !result.isNull(row, Column.query) {
            call.query = CallReader.pairs(result.texts(row, Column.query)).map { FormField($0.0, $0.1) }
        }
        if !result.isNull(row, Column.headers) {
            call.headers = CallReader.pairs(result.texts(row, Column.headers)).map { HTTPHeader($0.0, $0.1) }
        }
        switch result.text(row, Column.bodyKind) {
        case "b": call.body = .bytes(result.bytes(row, Column.body), contentType: nil)
        case "j": call.body = .bytes(result.bytes(row, Column.body), contentType: "application/json")
        case "f": call.body = .form(CallReader.pairs(result.texts(row, Column.form)).map { FormField($0.0, $0.1) })
        default: break
        }
        if !result.isNull(row, Column.timeoutMs) {
            call.limits.total = .milliseconds(Int64(result.int32(row, Column.timeoutMs)))
        }
        if let bytes = result.optionalInt64(row, Column.maxResponse) { call.limits.maxResponseBytes = Int(bytes) }
        let hasKey = addKey(to: &call, header: header ?? idempotencyHeader, for: job)
        call.mayShareConnection = !job.isAtMostOnce
        call.isRepeatable = !job.isAtMostOnce && (hasKey || method.isIdempotent)
        return call
    }

    /// The ranges in a column. Null means the default.
    static func okStatuses(_ result: borrowing PGResult, _ row: Int, _ column: some PGColumn) -> StatusRanges {
        result.isNull(row, column) ? .success : StatusRanges(bounds: result.int32s(row, column))
    }

    /// Adds an Idempotency-Key that is equal in all attempts, so that a server can recognize a repetition. A header of
    /// the job itself takes precedence.
    ///
    /// - Returns: whether the call has a key now.
    private func addKey(to call: inout HTTPCall, header: String, for job: ClaimedJob) -> Bool {
        switch call.method {
        case .get, .head, .options: return false
        case .post, .put, .delete, .patch: break
        }
        let name = header.lowercased()
        guard !call.headers.contains(where: { $0.name.lowercased() == name }) else { return true }
        call.headers.append(HTTPHeader(header, key(of: job)))
        return true
    }

    /// The Idempotency-Key of a job, equal in all its attempts.
    func key(of job: ClaimedJob) -> String {
        "\(prefixes.prefix(of: job.lease.jobID))-\(job.lease.jobID)" + (job.rekey > 0 ? "-\(job.rekey)" : "")
    }

    /// Adds the headers that name the place of an attempt in its trace. A header of the job itself takes precedence over
    /// a trace that would begin here.
    ///
    /// - Returns: the trace, nil if this worker writes no spans for the job.
    func trace(_ call: inout HTTPCall, of job: ClaimedJob, _ texts: TraceTexts) -> JobTrace? {
        let id = job.lease.jobID
        let numbers = prefixes.numbers(of: id)
        let context: TraceContext
        if texts.traceparent.isEmpty {
            guard tracesAll, !JobTrace.isGiven(in: call.headers) else { return nil }
            let root = texts.root ?? id
            let trace = prefixes.numbers(of: root).trace(ofRoot: root)
            context = TraceContext(trace: trace, span: 0)
        } else {
            guard traces != .off,
                let carried = TraceContext(traceparent: texts.traceparent, state: texts.tracestate)
            else {
                let unchanged = JobTrace.headers(traceparent: texts.traceparent, tracestate: texts.tracestate)
                JobTrace.replace(in: &call.headers, by: unchanged)
                return nil
            }
            context = carried
        }
        let trace = JobTrace(
            context, job: numbers.span(ofJob: id), attempt: numbers.span(ofJob: id, fence: job.lease.fence),
            labels: texts.labels)
        JobTrace.replace(in: &call.headers, by: trace.headers)
        return trace
    }

    /// The pairs in a flat array of names and values in turn.
    static func pairs(_ flat: [String]) -> [(String, String)] {
        stride(from: 0, to: flat.count - 1, by: 2).map { (flat[$0], flat[$0 + 1]) }
    }
}
