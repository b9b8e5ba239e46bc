// SPDX-License-Identifier: Apache-2.0
import JobModel

/// One download under way: its file beside the flight that fills it.
final class DownloadTask {
    /// What it waits for.
    enum Phase {
        /// The part is being opened; nothing has been sent.
        case opening
        /// Headers, to decide on.
        case asking
        /// The body of an answer that is no part of the file, or the end of such an answer.
        case keeping
        /// The body.
        case writing
        /// The disk; how the call ended is known.
        case settling(CallOutcome)
    }

    let download: Download
    let part: DownloadPart
    /// Of which file the part is, with this call's URL; what the server says is filled in.
    var note: PartNote
    var phase = Phase.opening
    /// The first byte that is asked for.
    var from: Int64 = 0
    /// Durable bytes that were there before.
    var found: Int64 = 0
    var hasAskedAgain = false
    /// The whole file has arrived.
    var isWhole = false

    init(_ download: Download, part: DownloadPart, url: String) {
        self.download = download
        self.part = part
        note = PartNote(url: url)
    }

    /// Decides where to go on: at the last durable byte if there is a validator to ask with, else at the start.
    func plan(found: Int64, text: String?, method: HTTPMethod) {
        self.found = found
        phase = .asking
        guard found > 0, method == .get, let known = text.flatMap({ PartNote(text: $0) }), known.url == note.url,
            known.validator != nil
        else { return }
        note = known
        from = found
    }

    /// The lines that a download adds to its request.
    func appendHeaders(to lines: inout [UInt8]) -> Int {
        RequestHeaders.append("Accept-Encoding", "identity", to: &lines)
        guard from > 0, let validator = note.validator else { return 1 }
        RequestHeaders.append("Range", "bytes=\(from)-", to: &lines)
        RequestHeaders.append("If-Range", validator, to: &lines)
        return 3
    }

    /// Why a call must not be a download, as a whole sentence.
    static func refusal(of call: HTTPCall) -> (ErrorCode, String)? {
        if call.method == .head { return (.config, "a HEAD request has no body for download_to; use GET") }
        let own = call.headers.first { ["range", "if-range"].contains($0.name.lowercased()) }
        if let own { return (.badHeader, "header \(own.name) is set by the worker itself for a download") }
        return nil
    }
}
