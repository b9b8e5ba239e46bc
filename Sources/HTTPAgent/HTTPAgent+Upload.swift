// SPDX-License-Identifier: Apache-2.0
import CCurl
import CFiles
import JobModel

// A call with files goes through three steps. The disk thread opens all files and reads the beginning of the first one.
// Then the agent builds the body and libcurl sends it, and waits for the disk if that is slower.
//
// So the body follows the request's head at once. If the connection was closed while a call waited between the two,
// libcurl would not send the request again.
extension HTTPAgent {
    /// Begins to open the files of a call's parts, in order.
    func openFiles(of call: HTTPCall) throws(CallRefusal) -> [UploadFile] {
        guard case .parts(let parts) = call.body, call.method != .head else { return [] }
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
            guard let disk = openDisk(), let file = UploadFile(part, path: path, isFirst: files.isEmpty, on: disk)
            else { throw .memory }
            files.append(file)
        }
        if !files.isEmpty { sweepAt = min(sweepAt, ccurl_now() + diskLimit) }
        return files
    }

    /// Waits for the files of a call before it is sent.
    func open(_ files: [UploadFile], slot: Int) {
        uploads[slot] = files
        openingUploads.insert(slot)
    }

    /// Advances calls whose disk work is ready.
    func serveUploads() {
        for slot in openingUploads {
            guard let files = uploads[slot], let flight = flights[slot] else { continue }
            opened(slot, flight, files)
        }
        var waiting: [Int] = []
        var transfer = unsafe ccurl_loop_awaiting(loop)
        while let handle = unsafe transfer {
            unsafe waiting.append(ccurl_transfer_slot(handle))
            unsafe transfer = ccurl_transfer_next_awaiting(handle)
        }
        for slot in waiting {
            guard let files = uploads[slot], let flight = flights[slot] else { continue }
            let awaited = unsafe ccurl_transfer_awaited(flight.transfer.handle)
            if let file = files.first(where: { unsafe $0.handle == awaited }) { sendOn(slot, flight, file) }
        }
    }

    /// Sends the call once all its files are open, and the files at the beginning of its body have bytes in memory.
    private func opened(_ slot: Int, _ flight: Flight, _ files: [UploadFile]) {
        var bytesBefore: Int64 = 0
        var unread: [UploadFile] = []
        for file in files {
            let status = file.status
            if let refusal = file.refusal(status) { return refuse(slot, flight, refusal) }
            guard status.state == CFILES_FILE_OPEN else { return wait(for: file, status, slot, flight) }
            if status.size > 0, !status.has_bytes, bytesBefore < Int64(CFILES_FILE_AHEAD) { unread.append(file) }
            bytesBefore += status.size
        }
        for file in unread { file.read() }
        if let file = unread.first { return wait(for: file, file.status, slot, flight) }
        openingUploads.remove(slot)
        do throws(CallRefusal) {
            if case .parts(let parts) = flight.call.body { try add(parts, files, to: flight.transfer) }
            try sendFirst(flight, slot: slot)
        } catch {
            refuse(slot, flight, error)
        }
    }

    /// Keeps the call waiting, or ends it if the disk has been silent for too long.
    private func wait(for file: UploadFile, _ status: cfiles_file_status, _ slot: Int, _ flight: Flight) {
        if hangs(since: status.waits_since) { conclude(slot, flight, silence(file, sent: .no)) }
    }

    /// Continues a transfer that waits for bytes of a file, or ends it if the disk has been silent for too long.
    private func sendOn(_ slot: Int, _ flight: Flight, _ file: UploadFile) {
        let status = file.status
        // A server that has answered may not want the rest of the body. But libcurl ends no transfer while its sending
        // is paused.
        let isAnswered = unsafe ccurl_transfer_take_answered(flight.transfer.handle)
        if status.has_bytes || status.state != CFILES_FILE_OPEN || isAnswered {
            let code = unsafe ccurl_transfer_send_on(flight.transfer.handle)
            if code != 0 { finish(slot, flight, end: .library(UInt32(code))) }
        } else if hangs(since: status.waits_since) {
            let result = unsafe result(of: flight.transfer)
            // The answer is complete, although the server expected the rest of the body.
            if unsafe result.answer_whole { return finish(slot, flight, end: .library(UInt32(CURLE_OK.rawValue))) }
            unsafe deliver(slot, flight, result, .failure(silence(file, sent: .maybe)))
        }
    }

    private func silence(_ file: UploadFile, sent: SentState) -> CallFailure {
        let current = disk?.current ?? file.name
        return FileFailure.silence(nanoseconds: diskLimit, file: current, sent: sent, answer: nil)
    }

    private func refuse(_ slot: Int, _ flight: Flight, _ refusal: CallRefusal) {
        if refusal.lacksDescriptors, postpone(slot, flight) { return }
        var failure = refusal.failure
        if exceedsDescriptors(flight.call, others: inFlight - 1) { failure.lacksDescriptors = false }
        conclude(slot, flight, failure)
    }

    private func conclude(_ slot: Int, _ flight: Flight, _ failure: CallFailure) {
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
    }
}
