// SPDX-License-Identifier: Apache-2.0
import JobModel

/// One running download: the state of its file, in addition to its flight.
final class DownloadTask {
    /// The event that it waits for.
    enum Phase {
        /// The part is being opened. No request has been sent.
        case opening
        /// The headers, which decide on the body.
        case asking
        /// The body or the end of an answer that is not part of the file.
        case keeping
        /// The body of the file.
        case writing
        /// The disk. The outcome of the call is known.
        case settling(CallOutcome)
    }

    let download: Download
    let part: DownloadPart
    /// The note about the part, with this call's URL. The headers of the answer complete it.
    var note: PartNote
    var phase = Phase.opening
    /// The first requested byte.
    var from: Int64 = 0
    /// How many durable bytes the disk had before.
    var found: Int64 = 0
    var hasAskedAgain = false
    /// Whether the whole file has arrived.
    var isWhole = false

    init(_ download: Download, part: DownloadPart, url: String) {
        self.download = download
        self.part = part
        note = PartNote(url: url)
    }

    /// Decides where to continue: after the last durable byte if there is a validator, otherwise at the start.
    func plan(found: Int64, text: String?, method: HTTPMethod) {
        self.found = found
        phase = .asking
        guard found > 0, method == .get, let known = text.flatMap({ PartNote(text: $0) }), known.url == note.url,
            known.validator != nil
        else { return }
        note = known
        from = found
    }

    /// Appends the header lines that a download adds to its request. Returns their number.
    func appendHeaders(to lines: inout [UInt8]) -> Int {
        RequestHeaders.append("Accept-Encoding", "identity", to: &lines)
        guard from > 0, let validator = note.validator else { return 1 }
        RequestHeaders.append("Range", "bytes=\(from)-", to: &lines)
        RequestHeaders.append("If-Range", validator, to: &lines)
        return 3
    }

    /// Why a call must not be a download, as a whole sentence. Nil if it may.
    static func refusal(of call: HTTPCall) -> (ErrorCode, String)? {
        if call.method == .head { return (.config, "a HEAD request has no body for download_to; use GET") }
        let own = call.headers.first { ["range", "if-range"].contains($0.name.lowercased()) }
        if let own { return (.badHeader, "header \(own.name) is set by the worker itself for a download") }
        return nil
    }
}
