// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// Rows for `postrider_internal.finish` and `postrider_internal.judge`: an array of
/// `postrider_internal.finished_attempt`. Its memory is reused.
public struct AttemptRows: ~Copyable {
    private var rows = PGRowArrayBuilder(fields: Int32(AttemptRows.fields.count))

    /// The fields of a row, in the order of the SQL type.
    private static let fields = AttemptField.allCases

    /// From this size on a row reserves its memory at once: 64 KiB. All fields except body and headers need less.
    private static let large = 64 << 10

    /// An array without rows.
    public init() {}

    /// Removes all rows, and frees the memory of large ones.
    public mutating func removeAll() { rows.removeAll() }

    /// Adds one row.
    mutating func append(_ attempt: FinishedAttempt) {
        if attempt.bytes > AttemptRows.large { rows.reserve(attempt.bytes + AttemptRows.large) }
        rows.beginRow()
        for field in AttemptRows.fields { append(field, of: attempt) }
        rows.endRow()
    }

    /// Appends the rows as the next parameter.
    func encode(into parameters: inout PGParameters) { parameters.append(rows: rows) }

    private mutating func append(_ field: AttemptField, of attempt: borrowing FinishedAttempt) {
        switch field {
        case .track: rows.append(int32: attempt.lease.track)
        case .seq: rows.append(int64: attempt.lease.seq)
        case .fence: rows.append(int64: attempt.lease.fence)
        case .jobID: rows.append(int64: attempt.lease.jobID)
        case .verdict: rows.append(letter: attempt.verdict.kind.letter)
        case .status: rows.append(int16: attempt.outcome?.status.map { Int16(clamping: $0) })
        case .code: rows.append(text: attempt.verdict.code?.rawValue)
        case .error: rows.append(text: attempt.verdict.message)
        case .headers: rows.append(bytes: attempt.outcome?.response?.headerBlock)
        case .body: rows.append(bytes: attempt.outcome?.response?.body)
        case .retryAfterMs: rows.append(int64: attempt.verdict.retryAfter?.wholeMilliseconds)
        case .dns: rows.append(int32: (attempt.outcome?.timings.dns).map { Int32(clamping: $0) })
        case .connect: rows.append(int32: (attempt.outcome?.timings.connect).map { Int32(clamping: $0) })
        case .tls: rows.append(int32: (attempt.outcome?.timings.tls).map { Int32(clamping: $0) })
        case .firstByte: rows.append(int32: (attempt.outcome?.timings.firstByte).map { Int32(clamping: $0) })
        case .total: rows.append(int32: (attempt.outcome?.timings.total).map { Int32(clamping: $0) })
        case .ip: rows.append(text: attempt.outcome?.remoteIP)
        case .http: rows.append(text: attempt.outcome?.httpVersion)
        case .reused: rows.append(bool: attempt.outcome?.reused)
        case .sent: rows.append(int64: attempt.outcome?.bytesSent)
        case .received: rows.append(int64: attempt.outcome?.bytesReceived)
        case .server: rows.append(int32: attempt.server?.id)
        case .health:
            rows.append(letter: attempt.server == nil ? nil : attempt.outcome.map { ServerHealth($0).letter })
        case .credential: rows.append(text: attempt.credential)
        case .version: rows.append(int64: attempt.credentialVersion)
        case .cookies: rows.append(text: attempt.outcome?.cookies.map(AttemptRows.lines))
        case .redirected: rows.append(bool: attempt.outcome?.redirected)
        case .leftOrigin: rows.append(bool: attempt.outcome?.leftOrigin)
        // A URL may be long, and it is needed only to resolve links to further pages.
        case .landedAt: rows.append(text: attempt.followUp.contains(.page) ? attempt.outcome?.landedAt : nil)
        // The database fills these fields.
        case .cache, .encoding: rows.appendNull(.text)
        case .result: rows.appendNull(.jsonb)
        }
    }

    /// A tab marks a removed line, since no cookie line begins with one.
    private static func lines(_ changes: CookieChanges) -> String {
        (changes.set + changes.gone.map { "\t" + $0 }).joined(separator: "\n")
    }
}

extension CallOutcome {
    /// The answer; nil if the call failed.
    fileprivate var response: HTTPResponse? {
        if case .response(let response) = ending { response } else { nil }
    }

    /// The status of the answer, or of the failure.
    fileprivate var status: Int? {
        switch ending {
        case .response(let response): response.status
        case .failure(let failure): failure.status
        }
    }
}
