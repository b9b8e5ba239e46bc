// SPDX-License-Identifier: Apache-2.0
import CCurl
import CFiles
public import JobModel

// A download is a call whose body goes to disk. Its steps:
//
// - The disk thread opens and locks the part.
// - libcurl requests the missing bytes.
// - A pure function decides by the headers.
// - libcurl and the disk thread fill the part.
// - The disk thread moves it to its place. Then the slot is free.
extension HTTPAgent {
    /// The progress of a running download. Nil for a slot without one.
    public func downloadProgress(slot: Int) -> DownloadProgress? {
        guard let task = downloads[slot] else { return nil }
        let status = unsafe task.part.status
        let done = unsafe max(status.written, status.durable)
        return DownloadProgress(bytesDone: done, bytesTotal: task.note.total, gained: max(0, done - task.found))
    }

    /// Removes partial downloads that are unchanged for this time, in the background. It does not follow links.
    ///
    /// Without a files root it does nothing. Once an hour is often enough.
    public func expireParts(olderThan age: Duration = .seconds(7 * 86_400)) {
        openDisk()?.expire(olderThan: max(1, age.components.seconds))
    }

    func openDisk() -> DiskThread? {
        if disk == nil, let filesRoot { disk = DiskThread(root: filesRoot) }
        return disk
    }

    /// Begins to open the file of a call. The request is sent when the file is open. Returns the reason if it cannot.
    func open(_ download: Download, _ flight: Flight, slot: Int) -> CallFailure? {
        guard filesRoot != nil else {
            return CallFailure(
                .config, "download_to needs a directory: start the worker with --files DIR (POSTRIDER_FILES)", sent: .no
            )
        }
        if let (code, message) = DownloadTask.refusal(of: flight.call) { return CallFailure(code, message, sent: .no) }
        guard !download.path.utf8.contains(0), unsafe cfiles_path_is_beneath(download.path),
            !download.path.hasSuffix(".part"), !download.path.hasSuffix(".part.meta"),
            !download.path.hasSuffix(".part.meta.new")
        else {
            return CallFailure(
                .file, "download_to must be a relative path without . and .., and must not end in .part", sent: .no)
        }
        guard let part = openDisk()?.open(download) else {
            return CallFailure(.internal, "the worker is out of memory or threads", sent: .no)
        }
        unsafe ccurl_transfer_set_part(flight.transfer.handle, part.handle)
        downloads[slot] = DownloadTask(download, part: part, url: PartNote.urlHash(of: flight.call))
        sweepAt = min(sweepAt, ccurl_now() + diskLimit)
        return nil
    }

    /// Advances downloads whose disk work or headers are ready.
    func serveDownloads() {
        for slot in downloads.keys.sorted() {
            guard let task = downloads[slot], let flight = flights[slot] else { continue }
            switch task.phase {
            case .opening: opened(slot, flight, task)
            case .asking where unsafe ccurl_transfer_is_paused(flight.transfer.handle): decide(slot, flight, task)
            case .writing: write(slot, flight, task)
            case .settling(let outcome): settled(slot, flight, task, outcome)
            case .asking, .keeping: break
            }
        }
    }

    /// Writes all bytes that have arrived, so that slow downloads reach the disk, too.
    func flushDownloads() {
        for task in downloads.values { if case .writing = task.phase { task.part.flush() } }
    }

    private func opened(_ slot: Int, _ flight: Flight, _ task: DownloadTask) {
        let status = unsafe task.part.status
        switch unsafe status.state {
        case CFILES_PART_OPENING:
            guard unsafe hangs(since: status.waits_since) else { return }
            conclude(slot, flight, CallOutcome(.failure(silence(task, sent: .no, answer: nil))))
        case CFILES_PART_OPEN:
            let text = unsafe status.text.map { unsafe String(cString: $0) }
            unsafe task.plan(found: status.found, text: text, method: flight.call.method)
            if !send(flight) { failForMemory(slot, flight, task, sent: .no) }
        default:
            let failure = unsafe FileFailure.failure(status, path: task.download.path, sent: .no, answer: nil)
            if failure.lacksDescriptors, postpone(slot, flight) { return }
            conclude(slot, flight, CallOutcome(.failure(failure)))
        }
    }

    /// Decides by the headers where the body goes. The body waits meanwhile.
    private func decide(_ slot: Int, _ flight: Flight, _ task: DownloadTask) {
        let transfer = flight.transfer
        switch decision(flight, task) {
        case .keep:
            task.phase = .keeping
            unsafe ccurl_transfer_keep_body(transfer.handle)
        case .writeAnew(let note): fill(slot, flight, task, from: 0, note: note)
        case .continueFile(let total): goOn(slot, flight, task, total: total)
        case .complete, .askAgain:
            // The body of a refused range is useless.
            answered(slot, flight, task)
            return
        case .fail(let code, let message): return end(slot, flight, task, code, message)
        }
        resume(slot, flight)
    }

    private func resume(_ slot: Int, _ flight: Flight) {
        let code = unsafe ccurl_transfer_resume(flight.transfer.handle)
        if code != 0 { finish(slot, flight, end: .library(UInt32(code))) }
    }

    private func decision(_ flight: Flight, _ task: DownloadTask) -> DownloadDecision {
        let result = unsafe result(of: flight.transfer)
        if unsafe isFollowed(result, flight) { return .keep }
        let answer = unsafe answer(result)
        return DownloadDecision.decide(
            status: answer.status, headers: AnswerHeaders(block: answer.headerBlock), download: task.download,
            from: task.from, note: task.note, isFinal: !flight.call.isRepeatable || Throttle(answer) != nil,
            now: ccurl_wall_seconds())
    }

    /// Continues the file. If the first answer had no length, the range is the first to contain the size.
    private func goOn(_ slot: Int, _ flight: Flight, _ task: DownloadTask, total: Int64) {
        task.note.total = total
        fill(slot, flight, task, from: task.from, note: nil)
    }

    private func fill(_ slot: Int, _ flight: Flight, _ task: DownloadTask, from: Int64, note: PartNote?) {
        if let note { task.note = note }
        // An answer may start the file again although only its rest was requested.
        task.from = from
        guard task.part.begin(at: from, note: note) else {
            return failForMemory(slot, flight, task, sent: .maybe)
        }
        task.phase = .writing
        unsafe ccurl_transfer_file_body(flight.transfer.handle, from, task.download.maxBytes ?? .max)
    }

    /// Ends, or continues after a pause, a download whose body goes to the file.
    private func write(_ slot: Int, _ flight: Flight, _ task: DownloadTask) {
        let status = unsafe task.part.status
        if unsafe status.state == CFILES_PART_FAILED {
            // `settled` replaces the empty message by the failure of the disk.
            end(slot, flight, task, .file, "")
        } else if unsafe !ccurl_transfer_is_paused(flight.transfer.handle) {
            return
        } else if unsafe status.has_room {
            resume(slot, flight)
        } else if unsafe hangs(since: status.waits_since) {
            // The message is built now, because the disk may be active again when the call is settled.
            end(slot, flight, task, .file, silence(task, sent: .maybe, answer: nil).message)
            // It must be settled at once, since the disk will not signal it.
            mayHaveFinished = true
        }
    }

    /// Whether the disk has been silent for too long. If not, it sets the next check.
    func hangs(since: Int64) -> Bool {
        guard since > 0 else { return false }
        if since + diskLimit <= ccurl_now() { return true }
        sweepAt = min(sweepAt, since + diskLimit)
        return false
    }

    private func silence(_ task: DownloadTask, sent: SentState, answer: Int?) -> CallFailure {
        let file = disk?.current ?? UploadFile.shown(task.download.path + ".part")
        return FileFailure.silence(nanoseconds: diskLimit, file: file, sent: sent, answer: answer)
    }

    /// Handles an answer that has ended, or whose rest is not needed. False for an ordinary answer, which ends as
    /// usual.
    @discardableResult
    func answered(_ slot: Int, _ flight: Flight, _ task: DownloadTask) -> Bool {
        if case .keeping = task.phase { return false }
        if case .asking = task.phase {
            switch decision(flight, task) {
            case .keep: return false
            case .writeAnew(let note): fill(slot, flight, task, from: 0, note: note)
            case .continueFile(let total): goOn(slot, flight, task, total: total)
            case .complete: fill(slot, flight, task, from: task.from, note: nil)
            case .askAgain:
                askAgain(slot, flight, task)
                return true
            case .fail(let code, let message):
                end(slot, flight, task, code, message)
                return true
            }
            if case .settling = task.phase { return true }
        }
        let filed = unsafe ccurl_transfer_filed(flight.transfer.handle)
        if let total = task.note.total, filed != total {
            end(slot, flight, task, .truncated, "the server sent \(filed) of the file's \(total) bytes")
        } else {
            task.note.total = filed
            task.isWhole = true
            let result = unsafe result(of: flight.transfer)
            unsafe deliver(slot, flight, result, .response(answer(result)))
        }
        return true
    }

    private func askAgain(_ slot: Int, _ flight: Flight, _ task: DownloadTask) {
        guard !task.hasAskedAgain else {
            return end(slot, flight, task, .truncated, "the server's answers to range requests contradict each other")
        }
        task.hasAskedAgain = true
        task.from = 0
        var next = flight
        let result = unsafe result(of: flight.transfer)
        unsafe next.elapsedMicroseconds += result.total_us
        unsafe next.bytesSent += result.bytes_sent
        unsafe next.bytesReceived += result.bytes_received
        flight.transfer.stop()
        flights[slot] = next
        if !send(next) { failForMemory(slot, next, task, sent: .maybe) }
    }

    /// Ends the call for lack of memory or of a connection pool.
    private func failForMemory(_ slot: Int, _ flight: Flight, _ task: DownloadTask, sent: SentState) {
        unsafe deliver(slot, flight, result(of: flight.transfer), .failure(CallRefusal.memory.failure(sent: sent)))
    }

    private func end(_ slot: Int, _ flight: Flight, _ task: DownloadTask, _ code: ErrorCode, _ message: String) {
        let result = unsafe result(of: flight.transfer)
        let status = unsafe result.status >= 200 ? Int(result.status) : nil
        unsafe deliver(slot, flight, result, .failure(CallFailure(code, message, sent: .maybe, status: status)))
    }

    /// Ends the call. The disk thread still moves its file to its place, or closes it.
    func settle(_ slot: Int, _ flight: Flight, _ task: DownloadTask, _ outcome: CallOutcome) {
        flight.transfer.stop()
        task.phase = .settling(outcome)
        if task.isWhole { task.part.finish() } else { task.part.suspend() }
    }

    private func settled(_ slot: Int, _ flight: Flight, _ task: DownloadTask, _ ended: CallOutcome) {
        let status = unsafe task.part.status
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
            guard unsafe hangs(since: status.waits_since) else { return }
            outcome.ending = .failure(silence(task, sent: sent, answer: answer))
        case CFILES_PART_FAILED:
            outcome.ending = unsafe .failure(
                FileFailure.failure(status, path: task.download.path, sent: sent, answer: answer))
        default: break
        }
        let done = unsafe status.durable
        outcome.download = DownloadProgress(
            bytesDone: done, bytesTotal: task.note.total, gained: max(0, done - task.found), isComplete: isDone)
        conclude(slot, flight, outcome)
    }

    private func conclude(_ slot: Int, _ flight: Flight, _ outcome: CallOutcome) {
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: outcome))
    }
}
