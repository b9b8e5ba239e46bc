// SPDX-License-Identifier: Apache-2.0
import CCurl
import CFiles
import JobModel

/// One running download: the state of its file, in addition to its flight.
///
/// A download is a call whose body goes to disk. Its steps:
///
/// - The disk thread opens and locks the part.
/// - libcurl requests the missing bytes.
/// - A pure function decides by the headers.
/// - libcurl and the disk thread fill the part.
/// - The disk thread moves it to its place. Then the slot is free.
final class DownloadTask {
    /// The event that it waits for.
    private enum Phase {
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
    private let folder: FilesFolder
    /// The note about the part, with this call's URL. The headers of the answer complete it.
    private var note: PartNote
    private var phase = Phase.opening
    /// The first requested byte.
    private var from: Int64 = 0
    /// How many durable bytes the disk had before.
    private var found: Int64 = 0
    private var hasAskedAgain = false
    /// Whether the whole file has arrived.
    private var isWhole = false

    /// A download whose part is being opened.
    init(_ download: Download, part: DownloadPart, url: String, in folder: FilesFolder) {
        self.download = download
        self.part = part
        self.folder = folder
        note = PartNote(url: url)
    }

    /// Whether no request was sent yet.
    var isOpening: Bool { if case .opening = phase { true } else { false } }

    /// Whether the body of the answer goes to the file.
    var isWriting: Bool { if case .writing = phase { true } else { false } }

    /// Whether it waits for the disk and not for the server.
    var awaitsDisk: Bool {
        switch phase {
        case .opening, .settling: true
        case .asking, .keeping, .writing: false
        }
    }

    /// The bytes on disk.
    var progress: DownloadProgress {
        let status = unsafe part.status
        let done = unsafe max(status.written, status.durable)
        return DownloadProgress(bytesDone: done, bytesTotal: note.total, gained: max(0, done - found))
    }

    /// The request is about to be sent, and its headers will decide.
    func requestBegins() { phase = .asking }

    /// Appends the header lines that a download adds to its request. Returns their number.
    func appendHeaders(to lines: inout [UInt8]) -> Int {
        RequestHeaders.append("Accept-Encoding", "identity", to: &lines)
        guard from > 0, let validator = note.validator else { return 1 }
        RequestHeaders.append("Range", "bytes=\(from)-", to: &lines)
        RequestHeaders.append("If-Range", validator, to: &lines)
        return 3
    }

    /// The step that the state of disk and transfer allows.
    func advance(_ flight: Flight) -> DownloadStep {
        switch phase {
        case .opening: opened(flight.call)
        case .asking where unsafe ccurl_transfer_is_paused(flight.transfer.handle): decide(flight)
        case .writing: write(flight.transfer)
        case .settling(let outcome): settled(outcome)
        case .asking, .keeping: .wait
        }
    }

    private func opened(_ call: HTTPCall) -> DownloadStep {
        let status = unsafe part.status
        switch unsafe status.state {
        case CFILES_PART_OPENING:
            guard unsafe folder.isSilent(since: status.waits_since) else { return .wait }
            return .refuse(silence(sent: .no, answer: nil))
        case CFILES_PART_OPEN:
            let text = unsafe status.text.map { unsafe String(cString: $0) }
            unsafe plan(found: status.found, text: text, method: call.method)
            return .send
        default:
            return unsafe .refuse(FileFailure.failure(status, path: download.path, sent: .no, answer: nil))
        }
    }

    /// Decides where to continue: after the last durable byte if there is a validator, otherwise at the start.
    private func plan(found: Int64, text: String?, method: HTTPMethod) {
        self.found = found
        phase = .asking
        guard found > 0, method == .get, let known = text.flatMap({ PartNote(text: $0) }), known.url == note.url,
            known.validator != nil
        else { return }
        note = known
        from = found
    }

    /// Decides by the headers where the body goes. The body waits meanwhile.
    private func decide(_ flight: Flight) -> DownloadStep {
        switch decision(flight) {
        case .keep:
            phase = .keeping
            unsafe ccurl_transfer_keep_body(flight.transfer.handle)
            return .resume
        case .writeAnew(let note): return fill(flight.transfer, from: 0, note: note).map(DownloadStep.end) ?? .resume
        case .continueFile(let total): return goOn(flight.transfer, total: total).map(DownloadStep.end) ?? .resume
        // The body of a refused range is useless.
        case .complete, .askAgain: return answered(flight).map(DownloadStep.end) ?? .wait
        case .fail(let code, let message): return .end(end(flight.transfer, code, message))
        }
    }

    private func decision(_ flight: Flight) -> DownloadDecision {
        let result = unsafe flight.transfer.result
        if unsafe flight.follows(result) { return .keep }
        let answer = unsafe AnswerReader.response(result)
        return DownloadDecision.decide(
            status: answer.status, headers: AnswerHeaders(block: answer.headerBlock), download: download, from: from,
            note: note, isFinal: !flight.call.isRepeatable || Throttle(answer) != nil, now: ccurl_wall_seconds())
    }

    /// Continues the file. If the first answer had no length, the range is the first to contain the size.
    private func goOn(_ transfer: CurlTransfer, total: Int64) -> DownloadEnd? {
        note.total = total
        return fill(transfer, from: from, note: nil)
    }

    /// Lets the body go to the part. Returns the end of the call without memory.
    private func fill(_ transfer: CurlTransfer, from: Int64, note: PartNote?) -> DownloadEnd? {
        if let note { self.note = note }
        // An answer may start the file again although only its rest was requested.
        self.from = from
        guard part.begin(at: from, note: note) else {
            return .call(.failure(CallRefusal.memory.failure(sent: .maybe)))
        }
        phase = .writing
        unsafe ccurl_transfer_file_body(transfer.handle, from, download.maxBytes ?? .max)
        return nil
    }

    /// Ends, or continues after a pause, a download whose body goes to the file.
    private func write(_ transfer: CurlTransfer) -> DownloadStep {
        let status = unsafe part.status
        if unsafe status.state == CFILES_PART_FAILED {
            // `settled` replaces the empty message by the failure of the disk.
            return .end(end(transfer, .file, ""))
        }
        guard unsafe ccurl_transfer_is_paused(transfer.handle) else { return .wait }
        if unsafe status.has_room { return .resume }
        guard unsafe folder.isSilent(since: status.waits_since) else { return .wait }
        // The message is built now, because the disk may be active again when the call is settled.
        return .abandon(failure(transfer, .file, silence(sent: .maybe, answer: nil).message))
    }

    /// The step after an answer that has ended, or whose rest is not needed. Nil for an ordinary answer, which ends as
    /// usual.
    func answered(_ flight: Flight) -> DownloadEnd? {
        let transfer = flight.transfer
        if case .keeping = phase { return nil }
        if case .asking = phase {
            let failed: DownloadEnd?
            switch decision(flight) {
            case .keep: return nil
            case .writeAnew(let note): failed = fill(transfer, from: 0, note: note)
            case .continueFile(let total): failed = goOn(transfer, total: total)
            case .complete: failed = fill(transfer, from: from, note: nil)
            case .askAgain: return askAgain(transfer)
            case .fail(let code, let message): return end(transfer, code, message)
            }
            if let failed { return failed }
        }
        let filed = unsafe ccurl_transfer_filed(transfer.handle)
        if let total = note.total, filed != total {
            return end(transfer, .truncated, "the server sent \(filed) of the file's \(total) bytes")
        }
        note.total = filed
        isWhole = true
        return unsafe .call(.response(AnswerReader.response(transfer.result)))
    }

    private func askAgain(_ transfer: CurlTransfer) -> DownloadEnd {
        guard !hasAskedAgain else {
            return end(transfer, .truncated, "the server's answers to range requests contradict each other")
        }
        hasAskedAgain = true
        from = 0
        return .sendAgain
    }

    private func end(_ transfer: CurlTransfer, _ code: ErrorCode, _ message: String) -> DownloadEnd {
        .call(.failure(failure(transfer, code, message)))
    }

    private func failure(_ transfer: CurlTransfer, _ code: ErrorCode, _ message: String) -> CallFailure {
        let status = unsafe transfer.result.status
        return CallFailure(code, message, sent: .maybe, status: status >= 200 ? Int(status) : nil)
    }

    private func silence(sent: SentState, answer: Int?) -> CallFailure {
        folder.silence(UploadFile.shown(download.path + ".part"), sent: sent, answer: answer)
    }

    /// Keeps the outcome of the call. The disk thread still moves its file to its place, or closes it.
    func settle(_ outcome: CallOutcome) {
        phase = .settling(outcome)
        if isWhole { part.finish() } else { part.suspend() }
    }

    private func settled(_ ended: CallOutcome) -> DownloadStep {
        let status = unsafe part.status
        var outcome = ended
        let isDone = unsafe status.state == CFILES_PART_DONE
        let (answer, sent): (Int?, SentState) =
            switch ended.ending {
            case .response(let response): (response.status, .maybe)
            case .failure(let failure): (failure.status, failure.sent)
            }
        switch unsafe status.state {
        case CFILES_PART_OPENING, CFILES_PART_OPEN:
            // The disk thread owns its current work and the part, and frees both when it continues, even after hours.
            guard unsafe folder.isSilent(since: status.waits_since) else { return .wait }
            outcome.ending = .failure(silence(sent: sent, answer: answer))
        case CFILES_PART_FAILED:
            outcome.ending = unsafe .failure(
                FileFailure.failure(status, path: download.path, sent: sent, answer: answer))
        default: break
        }
        let done = unsafe status.durable
        outcome.download = DownloadProgress(
            bytesDone: done, bytesTotal: note.total, gained: max(0, done - found), isComplete: isDone)
        return .conclude(outcome)
    }
}
