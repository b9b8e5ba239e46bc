// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

extension TraceSpan {
    /// The span of an attempt. It has no header, body and query, since these may hold secrets.
    ///
    /// - Parameters:
    ///   - outcome: how the call ended; nil: the worker cut it off.
    ///   - error: why the attempt failed; nil: it succeeded.
    init(_ trace: JobTrace, _ job: ClaimedJob, _ outcome: CallOutcome?, error: String?, start: UInt64, end: UInt64) {
        self.init(
            context: trace.context, id: trace.attempt, parent: trace.job, name: job.call?.method.rawValue ?? "call",
            kind: .client, start: start, end: end, error: error)
        attributes.reserveCapacity(10)
        if let call = job.call {
            let url = MaskedURL(call.url)
            add("http.request.method", call.method.rawValue)
            add("url.full", url.text)
            add("server.address", url.host.isEmpty ? nil : url.host)
            add("server.port", url.port.map(Int64.init))
        }
        switch outcome?.ending {
        case .response(let response): add("http.response.status_code", Int64(response.status))
        case .failure(let failure): add("http.response.status_code", failure.status.map(Int64.init))
        case nil: break
        }
        add("network.protocol.version", outcome?.httpVersion)
        add("network.peer.address", outcome?.remoteIP)
        if job.lease.attempt > 1 { add("http.request.resend_count", Int64(job.lease.attempt) - 1) }
        add("postrider.job.id", job.lease.jobID)
        add("postrider.attempt", Int64(job.lease.attempt))
    }

    /// The span of a job, batch or chain.
    init(_ job: EndedJob, context: TraceContext, id: UInt64, parent: UInt64) {
        let isRequest = job.kind == "request"
        self.init(
            context: context, id: id, parent: parent,
            name: job.operation ?? (isRequest ? "process" : job.kind) + (job.queue.map { " \($0)" } ?? ""),
            kind: isRequest ? .consumer : .internal, start: UInt64(clamping: job.start) &* 1000,
            end: UInt64(clamping: job.end) &* 1000)
        attributes.reserveCapacity(10)
        add("postrider.job.id", job.id)
        add("postrider.job.kind", job.kind)
        add("postrider.job.state", job.state)
        if isRequest { add("postrider.job.attempts", Int64(job.attempts)) }
        add("postrider.queue", job.queue)
        add("postrider.lane", job.lane)
        add("postrider.service", job.service)
        add("postrider.operation", job.operation)
        if isRequest { add("http.response.status_code", job.status.map(Int64.init)) }
        error = ["succeeded", "skipped"].contains(job.state) ? nil : job.errorCode ?? job.state
    }

    /// Why an attempt failed: the status of an unwanted answer, otherwise the error code. Nil for a success.
    static func error(of outcome: CallOutcome, _ job: ClaimedJob) -> String? {
        let verdict = Verdict(
            outcome, okStatuses: job.okStatuses, isAtMostOnce: job.isAtMostOnce,
            isIdempotent: job.call?.method.isIdempotent ?? true, attempt: Int(job.lease.attempt))
        guard verdict.kind != .succeeded else { return nil }
        if case .response(let response) = outcome.ending, response.bodyDefect == nil { return "\(response.status)" }
        return verdict.code?.rawValue ?? "_OTHER"
    }
}
