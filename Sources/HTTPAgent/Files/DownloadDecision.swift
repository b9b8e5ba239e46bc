// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The use of an answer's body in a download, decided by its headers. Pure.
enum DownloadDecision: Equatable {
    /// The body is not part of the file: an error or a redirect.
    case keep
    /// The body is the whole file. It replaces the bytes on disk.
    case writeAnew(PartNote)
    /// The body is the rest of the file, or a piece of it. `total` is the size of the whole file.
    case continueFile(total: Int64)
    /// The file is complete already.
    case complete
    /// The body does not fit the bytes on disk. The whole file is requested once more.
    case askAgain
    /// The server violates HTTP.
    case fail(ErrorCode, String)

    /// Statuses that may be caused by the range. Some servers and stores refuse `Range` or `If-Range` with them.
    private static let rangeRefusals: Set<Int> = [400, 403, 404, 410, 412, 416]

    /// Decides by status and headers.
    ///
    /// - Parameters:
    ///   - from: the first requested byte; 0: the whole file was requested.
    ///   - note: the note of the part on disk. Its URL is the URL of this call.
    ///   - isFinal: whether a refusal of the range stands. It does if the answer asks for a later call, or if the call
    ///     must not be sent twice.
    ///   - now: seconds since 1970.
    static func decide(
        status: Int, headers: AnswerHeaders, download: Download, from: Int64, note: PartNote, isFinal: Bool = false,
        now: Int64
    ) -> DownloadDecision {
        if status == 206 {
            if from == 0, let range = headers.contentRange, range.first == 0, range.last + 1 == range.total {
                return writeAnew(headers, download, url: note.url, total: range.total, now: now)
            }
            guard from > 0 else {
                return .fail(
                    .truncated, "the server answered 206, a part of the file, although the whole file was requested")
            }
            guard let range = headers.contentRange, range.first == from, range.total == note.total ?? range.total,
                isSameVersion(headers, note)
            else { return .askAgain }
            return sizeDefect(range.total, download) ?? .continueFile(total: range.total)
        }
        if status == 416, from > 0 {
            if headers.unsatisfiedTotal == from && from == note.total ?? from { return .complete }
            return isFinal ? .keep : .askAgain
        }
        guard download.okStatuses.contains(status) else {
            return from > 0 && !isFinal && rangeRefusals.contains(status) ? .askAgain : .keep
        }
        // An answer without content is not an empty file. The bytes on disk stay.
        if [204, 205, 304].contains(status) {
            guard download.sha256 != nil, status != 304 else { return .keep }
            return .fail(.checksum, "the server answered \(status), no content, and a file with a sha256 was expected")
        }
        return writeAnew(headers, download, url: note.url, total: headers.contentLength, now: now)
    }

    /// Whether the sent rest belongs to the file on disk.
    ///
    /// The answer must repeat the validator of the request, and contradict none: not every server checks If-Range.
    private static func isSameVersion(_ headers: AnswerHeaders, _ note: PartNote) -> Bool {
        if let etag = note.etag, headers.strongETag != etag { return false }
        let given = headers.single("last-modified")
        if note.etag == nil, given == nil { return false }
        return given == nil || note.dated == nil || given == note.dated
    }

    private static func writeAnew(
        _ headers: AnswerHeaders, _ download: Download, url: String, total: Int64?, now: Int64
    ) -> DownloadDecision {
        var fresh = PartNote(url: url)
        fresh.etag = headers.strongETag
        fresh.modified = headers.strongModified(now: now)
        fresh.dated = headers.single("last-modified").flatMap { $0.utf8.count <= 64 ? $0 : nil }
        fresh.total = total
        return sizeDefect(total, download) ?? .writeAnew(fresh)
    }

    private static func sizeDefect(_ total: Int64?, _ download: Download) -> DownloadDecision? {
        guard let total, let limit = download.maxBytes, total > limit else { return nil }
        return .fail(.tooLarge, "the file has \(total) bytes, more than the limit of \(limit)")
    }
}
