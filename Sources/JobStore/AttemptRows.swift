// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// What `postrider_internal.finish` and `postrider_internal.judge` take: an array of
/// `postrider_internal.finished_attempt`, with memory that is used again.
public struct AttemptRows: ~Copyable {
    private var rows = PGRowArrayBuilder(fields: 32)

    /// From this size on a row is given its memory at once: 64 KiB, which is more than all but body and headers take.
    private static let large = 64 << 10

    /// No rows.
    public init() {}

    /// Forgets all rows, and gives the memory of large ones back.
    public mutating func removeAll() { rows.removeAll() }

    /// Adds one row, its fields in the order of the type's.
    mutating func append(_ attempt: FinishedAttempt) {
        if attempt.bytes > AttemptRows.large { rows.reserve(attempt.bytes + AttemptRows.large) }
        rows.beginRow()
        rows.append(int32: attempt.lease.track)
        rows.append(int64: attempt.lease.seq)
        rows.append(int64: attempt.lease.fence)
        rows.append(int64: attempt.lease.jobID)
        append(attempt.verdict, attempt.outcome)
        append(attempt.outcome)
        append(attempt.server, attempt.outcome)
        rows.append(text: attempt.credential)
        rows.append(int64: attempt.credentialVersion)
        append(attempt.outcome, ofPage: attempt.followUp.contains(.page))
        // What the database finds out itself.
        rows.appendNull(.text)
        rows.appendNull(.text)
        rows.appendNull(.jsonb)
        rows.endRow()
    }

    /// Hands the rows over as the next parameter.
    func encode(into parameters: inout PGParameters) { parameters.append(rows: rows) }

    /// From `verdict` to `retry_after_ms`.
    private mutating func append(_ verdict: Verdict, _ outcome: CallOutcome?) {
        var status: Int?
        var answer: HTTPResponse?
        switch outcome?.ending {
        case .response(let response):
            status = response.status
            answer = response
        case .failure(let failure): status = failure.status
        case nil: break
        }
        rows.append(letter: verdict.kind.letter)
        rows.append(int16: status.map { Int16(clamping: $0) })
        rows.append(text: verdict.code?.rawValue)
        rows.append(text: verdict.message)
        rows.append(bytes: answer?.headerBlock)
        rows.append(bytes: answer?.body)
        rows.append(
            int64: verdict.retryAfter.map { wait in
                let (seconds, fraction) = wait.components
                return seconds * 1000 + fraction / 1_000_000_000_000_000
            })
    }

    /// From `dns` to `received`.
    private mutating func append(_ outcome: CallOutcome?) {
        let timings = outcome?.timings
        rows.append(int32: timings.map { Int32(clamping: $0.dns) })
        rows.append(int32: timings.map { Int32(clamping: $0.connect) })
        rows.append(int32: timings.map { Int32(clamping: $0.tls) })
        rows.append(int32: timings.map { Int32(clamping: $0.firstByte) })
        rows.append(int32: timings.map { Int32(clamping: $0.total) })
        rows.append(text: outcome?.remoteIP)
        rows.append(text: outcome?.httpVersion)
        rows.append(bool: outcome?.reused)
        rows.append(int64: outcome?.bytesSent)
        rows.append(int64: outcome?.bytesReceived)
    }

    /// `server` and `health`.
    private mutating func append(_ server: ServerChoice?, _ outcome: CallOutcome?) {
        rows.append(int32: server?.id)
        rows.append(letter: server == nil ? nil : outcome.map { ServerHealth($0).letter })
    }

    /// From `cookies` to `landed_at`.
    private mutating func append(_ outcome: CallOutcome?, ofPage isPage: Bool) {
        rows.append(
            text: outcome?.cookies.map { changes in
                // No line begins with a tab.
                (changes.set + changes.gone.map { "\t" + $0 }).joined(separator: "\n")
            })
        rows.append(bool: outcome?.redirected)
        rows.append(bool: outcome?.leftOrigin)
        // A URL may be long, and only links to further pages are resolved against it.
        rows.append(text: isPage ? outcome?.landedAt : nil)
    }
}
