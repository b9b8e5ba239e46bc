// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The arrays of `postrider.finish`, one for each column, with memory that is used again.
public struct FinishColumns: ~Copyable {
    private var track = PGArrayBuilder<Int32>()
    private var seq = PGArrayBuilder<Int64>()
    private var fence = PGArrayBuilder<Int64>()
    private var verdict = PGArrayBuilder<String>()
    private var status = PGArrayBuilder<Int16>()
    private var code = PGArrayBuilder<String>()
    private var error = PGArrayBuilder<String>()
    private var headers = PGArrayBuilder<[UInt8]>()
    private var body = PGArrayBuilder<[UInt8]>()
    private var retryAfter = PGArrayBuilder<Int64>()
    private var dns = PGArrayBuilder<Int32>()
    private var connect = PGArrayBuilder<Int32>()
    private var tls = PGArrayBuilder<Int32>()
    private var firstByte = PGArrayBuilder<Int32>()
    private var total = PGArrayBuilder<Int32>()
    private var address = PGArrayBuilder<String>()
    private var version = PGArrayBuilder<String>()
    private var reused = PGArrayBuilder<Bool>()
    private var sent = PGArrayBuilder<Int64>()
    private var received = PGArrayBuilder<Int64>()

    /// Empty columns.
    public init() {}

    /// Forgets all elements.
    mutating func removeAll() {
        track.removeAll()
        seq.removeAll()
        fence.removeAll()
        verdict.removeAll()
        status.removeAll()
        code.removeAll()
        error.removeAll()
        headers.removeAll()
        body.removeAll()
        retryAfter.removeAll()
        dns.removeAll()
        connect.removeAll()
        tls.removeAll()
        firstByte.removeAll()
        total.removeAll()
        address.removeAll()
        version.removeAll()
        reused.removeAll()
        sent.removeAll()
        received.removeAll()
    }

    /// Adds one element to each column.
    mutating func append(_ attempt: FinishedAttempt) {
        track.append(attempt.lease.track)
        seq.append(attempt.lease.seq)
        fence.append(attempt.lease.fence)
        verdict.append(attempt.verdict.kind.letter)
        if let value = attempt.verdict.code { code.append(value.rawValue) } else { code.appendNull() }
        if let value = attempt.verdict.message { error.append(value) } else { error.appendNull() }
        if let wait = attempt.verdict.retryAfter {
            let (seconds, fraction) = wait.components
            retryAfter.append(seconds * 1000 + fraction / 1_000_000_000_000_000)
        } else {
            retryAfter.appendNull()
        }
        guard let outcome = attempt.outcome else { return appendNothing() }
        append(outcome.ending)
        append(outcome)
    }

    private mutating func append(_ ending: CallOutcome.Ending) {
        switch ending {
        case .response(let response):
            status.append(Int16(clamping: response.status))
            headers.append(response.headerBlock)
            body.append(response.body)
        case .failure(let failure):
            if let value = failure.status { status.append(Int16(clamping: value)) } else { status.appendNull() }
            headers.appendNull()
            body.appendNull()
        }
    }

    private mutating func append(_ outcome: CallOutcome) {
        dns.append(Int32(clamping: outcome.timings.dns))
        connect.append(Int32(clamping: outcome.timings.connect))
        tls.append(Int32(clamping: outcome.timings.tls))
        firstByte.append(Int32(clamping: outcome.timings.firstByte))
        total.append(Int32(clamping: outcome.timings.total))
        if let value = outcome.remoteIP { address.append(value) } else { address.appendNull() }
        if let value = outcome.httpVersion { version.append(value) } else { version.appendNull() }
        reused.append(outcome.reused)
        sent.append(outcome.bytesSent)
        received.append(outcome.bytesReceived)
    }

    private mutating func appendNothing() {
        status.appendNull()
        headers.appendNull()
        body.appendNull()
        dns.appendNull()
        connect.appendNull()
        tls.appendNull()
        firstByte.appendNull()
        total.appendNull()
        address.appendNull()
        version.appendNull()
        reused.appendNull()
        sent.appendNull()
        received.appendNull()
    }

    /// Hands the columns over in the order of the function's parameters.
    func encode(worker: Int32, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(array: track)
        parameters.append(array: seq)
        parameters.append(array: fence)
        parameters.append(array: verdict)
        parameters.append(array: status)
        parameters.append(array: code)
        parameters.append(array: error)
        parameters.append(array: headers)
        parameters.append(array: body)
        parameters.append(array: retryAfter)
        parameters.append(array: dns)
        parameters.append(array: connect)
        parameters.append(array: tls)
        parameters.append(array: firstByte)
        parameters.append(array: total)
        parameters.append(array: address)
        parameters.append(array: version)
        parameters.append(array: reused)
        parameters.append(array: sent)
        parameters.append(array: received)
    }
}
