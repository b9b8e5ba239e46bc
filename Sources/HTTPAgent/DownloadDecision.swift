// SPDX-License-Identifier: Apache-2.0
import JobModel

/// What becomes of an answer's body, decided when its headers are there. Pure.
enum DownloadDecision: Equatable {
    /// It is no part of the file: an error, a redirect.
    case keep
    /// It is the whole file: what was there goes.
    case writeAnew(PartNote)
    /// It is the rest of the file.
    case continueFile
    /// Nothing is missing.
    case complete
    /// It does not fit what is there: ask once more, for the whole.
    case askAgain
    /// The server breaks the rules.
    case fail(ErrorCode, String)

    /// - Parameters:
    ///   - from: the first byte that was asked for; 0: the whole was.
    ///   - note: what the part on disk is of; its URL is that of this call.
    ///   - now: seconds since 1970.
    static func decide(
        status: Int, headers: AnswerHeaders, download: Download, from: Int64, note: PartNote, now: Int64
    ) -> DownloadDecision {
        if status == 206 {
            guard from > 0 else {
                return .fail(
                    .truncated, "the server answered 206, a part of the file, although the whole was asked for")
            }
            guard let range = headers.contentRange, range.first == from, range.total == note.total ?? range.total,
                note.etag == nil || headers.single("etag") == nil || headers.strongETag == note.etag
            else { return .askAgain }
            return sizeDefect(range.total, download) ?? .continueFile
        }
        if status == 416 && from > 0 {
            return headers.unsatisfiedTotal == from && from == note.total ?? from ? .complete : .askAgain
        }
        guard download.okStatuses.contains(status) else { return .keep }
        var fresh = PartNote(url: note.url)
        fresh.etag = headers.strongETag
        fresh.modified = headers.strongModified(now: now)
        fresh.total = headers.contentLength
        return sizeDefect(fresh.total, download) ?? .writeAnew(fresh)
    }

    private static func sizeDefect(_ total: Int64?, _ download: Download) -> DownloadDecision? {
        guard let total, let limit = download.maxBytes, total > limit else { return nil }
        return .fail(.tooLarge, "the file has \(total) bytes, more than the limit of \(limit)")
    }
}
