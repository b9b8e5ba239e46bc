// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The files of one call that is to send them.
final class UploadTask {
    /// In the order of their parts.
    let files: [UploadFile]
    /// Not all are open; nothing has been sent.
    var isOpening = true

    init(_ files: [UploadFile]) {
        self.files = files
    }
}

// A call with files opens them all (disk), makes its body of them, and sends it (libcurl), waiting for the disk where that is slower.
extension HTTPAgent {
    /// Begins to open the files that a call's parts name; nil if they name none.
    func openFiles(of call: HTTPCall) throws(CallRefusal) -> UploadTask? {
        guard case .parts(let parts) = call.body, call.method != .head else { return nil }
        var files: [UploadFile] = []
        for part in parts {
            guard case .file(let path) = part.content else { continue }
            guard filesRoot != nil else {
                throw CallRefusal(
                    .config,
                    "a part names a file, which needs a directory: start the worker with --files DIR (POSTRIDER_FILES)")
            }
            guard !path.utf8.contains(0), !path.isEmpty else {
                throw CallRefusal(.file, "a part's file has no name, or one with a NUL in it")
            }
            guard let disk = openDisk(), let file = UploadFile(part, path: path, on: disk) else { throw .memory }
            files.append(file)
        }
        if files.isEmpty { return nil }
        sweepAt = min(sweepAt, ccurl_now() + diskLimit)
        return UploadTask(files)
    }

    /// Does what the disk makes possible.
    func serveUploads() {
        for slot in uploads.keys.sorted() {
            guard let task = uploads[slot], let flight = flights[slot] else { continue }
            if task.isOpening {
                opened(slot, flight, task)
            } else if let awaited = unsafe ccurl_transfer_awaited(flight.transfer.handle) {
                if let file = task.files.first(where: { unsafe $0.handle == awaited }) { sendOn(slot, flight, file) }
            }
        }
    }

    private func opened(_ slot: Int, _ flight: Flight, _ task: UploadTask) {
        for file in task.files {
            if let refusal = file.refusal { return refuse(slot, flight, refusal) }
            let status = file.status
            guard status.state == CCURL_FILE_OPENING else { continue }
            if hangs(since: status.waits_since) { conclude(slot, flight, silence(file, sent: .no)) }
            return
        }
        task.isOpening = false
        do throws(CallRefusal) {
            if case .parts(let parts) = flight.call.body { try add(parts, task.files, to: flight.transfer) }
            try sendFirst(flight, slot: slot)
        } catch {
            refuse(slot, flight, error)
        }
    }

    private func sendOn(_ slot: Int, _ flight: Flight, _ file: UploadFile) {
        let status = file.status
        if status.has_bytes || status.state != CCURL_FILE_OPEN {
            let code = unsafe ccurl_transfer_send_on(flight.transfer.handle)
            if code != 0 { finish(slot, flight, end: .library(UInt32(code))) }
        } else if hangs(since: status.waits_since) {
            unsafe deliver(slot, flight, result(of: flight.transfer), .failure(silence(file, sent: .maybe)))
        }
    }

    private func silence(_ file: UploadFile, sent: SentState) -> CallFailure {
        FileFailure.silence(nanoseconds: diskLimit, file: file.name, sent: sent, answer: nil)
    }

    private func refuse(_ slot: Int, _ flight: Flight, _ refusal: CallRefusal) {
        if refusal.lacksDescriptors, putOff(slot, flight) { return }
        var failure = refusal.failure
        if isTooMuch(flight.call, others: inFlight - 1) { failure.lacksDescriptors = false }
        conclude(slot, flight, failure)
    }

    private func conclude(_ slot: Int, _ flight: Flight, _ failure: CallFailure) {
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
    }
}
