// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

extension TraceSpan {
    /// The span of an attempt, in JSON. It has no header, body and query, since these may hold secrets.
    ///
    /// - Parameters:
    ///   - outcome: how the call ended; nil: the worker cut it off.
    ///   - error: why the attempt failed; nil: it succeeded.
    static func attempt(
        _ trace: JobTrace, _ job: ClaimedJob, _ outcome: CallOutcome?, error: String?, start: UInt64, end: UInt64
    ) -> [UInt8] {
        var span = TraceSpan(
            context: trace.context, id: trace.attempt, parent: trace.job, name: job.call?.method.rawValue ?? "call",
            kind: .client, start: start, end: end)
        if let call = job.call {
            let url = MaskedURL(call.url)
            span.add("http.request.method", call.method.rawValue)
            span.add("url.full", url.text)
            span.add("server.address", url.host.isEmpty ? nil : url.host)
            span.add("server.port", url.port.map(Int64.init))
        }
        switch outcome?.ending {
        case .response(let response): span.add("http.response.status_code", Int64(response.status))
        case .failure(let failure): span.add("http.response.status_code", failure.status.map(Int64.init))
        case nil: break
        }
        span.add("network.protocol.version", outcome?.httpVersion)
        span.add("network.peer.address", outcome?.remoteIP)
        if job.lease.attempt > 1 { span.add("http.request.resend_count", Int64(job.lease.attempt) - 1) }
        span.add("postrider.job.id", job.lease.jobID)
        span.add("postrider.attempt", Int64(job.lease.attempt))
        return span.json(error: error)
    }

    /// The span of a job, batch or chain, in JSON.
    static func job(_ job: EndedJob, context: TraceContext, id: UInt64, parent: UInt64) -> [UInt8] {
        let isRequest = job.kind == "request"
        let kind = isRequest ? "process" : job.kind
        let name = job.labels.operation ?? job.labels.queue.map { "\(kind) \($0)" } ?? kind
        var span = TraceSpan(
            context: context, id: id, parent: parent, name: name, kind: isRequest ? .consumer : .internal,
            start: UInt64(clamping: job.start) &* 1000, end: UInt64(clamping: job.end) &* 1000)
        span.add("postrider.job.id", job.id)
        span.add("postrider.job.kind", job.kind)
        span.add("postrider.job.state", job.state)
        if isRequest { span.add("postrider.job.attempts", Int64(job.attempts)) }
        span.add("postrider.queue", job.labels.queue)
        span.add("postrider.lane", job.labels.lane)
        span.add("postrider.service", job.labels.service)
        span.add("postrider.operation", job.labels.operation)
        if isRequest { span.add("http.response.status_code", job.status.map(Int64.init)) }
        let isGood = job.state == "succeeded" || job.state == "skipped"
        return span.json(error: isGood ? nil : job.errorCode ?? job.state)
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
