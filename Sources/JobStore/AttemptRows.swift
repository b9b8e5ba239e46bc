// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// Rows for `postrider_internal.finish` and `postrider_internal.judge`: an array of
/// `postrider_internal.finished_attempt`. Its memory is reused.
public struct AttemptRows: ~Copyable {
    private var rows = PGRowArrayBuilder(fields: 32)

    /// From this size on a row reserves its memory at once: 64 KiB. All fields except body and headers need less.
    private static let large = 64 << 10

    /// An array without rows.
    public init() {}

    /// Removes all rows, and frees the memory of large ones.
    public mutating func removeAll() { rows.removeAll() }

    /// Adds one row. Its fields have the order of the SQL type.
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
        // The database fills these fields: cache, encoding and result.
        rows.appendNull(.text)
        rows.appendNull(.text)
        rows.appendNull(.jsonb)
        rows.endRow()
    }

    /// Appends the rows as the next parameter.
    func encode(into parameters: inout PGParameters) { parameters.append(rows: rows) }

    /// The fields from `verdict` to `retry_after_ms`.
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
                let (seconds, attoseconds) = wait.components
                return seconds * 1000 + attoseconds / 1_000_000_000_000_000
            })
    }

    /// The fields from `dns` to `received`.
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

    /// The fields `server` and `health`.
    private mutating func append(_ server: ServerChoice?, _ outcome: CallOutcome?) {
        rows.append(int32: server?.id)
        rows.append(letter: server == nil ? nil : outcome.map { ServerHealth($0).letter })
    }

    /// The fields from `cookies` to `landed_at`.
    private mutating func append(_ outcome: CallOutcome?, ofPage isPage: Bool) {
        rows.append(
            text: outcome?.cookies.map { changes in
                // A tab marks a removed line, since no cookie line begins with one.
                (changes.set + changes.gone.map { "\t" + $0 }).joined(separator: "\n")
            })
        rows.append(bool: outcome?.redirected)
        rows.append(bool: outcome?.leftOrigin)
        // A URL may be long, and it is needed only to resolve links to further pages.
        rows.append(text: isPage ? outcome?.landedAt : nil)
    }
}
