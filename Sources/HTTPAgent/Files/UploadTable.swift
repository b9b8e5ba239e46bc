// SPDX-License-Identifier: Apache-2.0
import CCurl
import CFiles
import JobModel

/// The files that calls send, by slot and in the order of their parts.
///
/// A call with files goes through three steps. The disk thread opens all files and reads the beginning of the first
/// one. Then the agent builds the body and libcurl sends it, and waits for the disk if that is slower.
///
/// So the body follows the request's head at once. If the connection was closed while a call waited between the two,
/// libcurl would not send the request again.
struct UploadTable {
    private let folder: FilesFolder
    private var files: [Int: [UploadFile]] = [:]
    /// The slots of calls whose files are not all open or have no byte yet. Nothing was sent of these calls.
    private var opening: Set<Int> = []

    /// No call sends files.
    init(in folder: FilesFolder) { self.folder = folder }

    /// Whether no call sends files.
    var isEmpty: Bool { files.isEmpty }

    /// The slots of calls that wait until they can be sent.
    var openingSlots: Set<Int> { opening }

    /// Whether the call of a slot waits until it can be sent.
    func isOpening(_ slot: Int) -> Bool { !opening.isEmpty && opening.contains(slot) }

    /// Begins to open the files of a call's parts, in order. Empty if it sends none.
    func open(for call: HTTPCall) throws(CallRefusal) -> [UploadFile] {
        guard case .parts(let parts) = call.body, call.method != .head else { return [] }
        var files: [UploadFile] = []
        for part in parts {
            guard case .file(let path) = part.content else { continue }
            guard folder.isAllowed else {
                throw CallRefusal(
                    .config,
                    "a part names a file, which needs a directory: start the worker with --files DIR (POSTRIDER_FILES)")
            }
            guard !path.utf8.contains(0), !path.isEmpty else {
                throw CallRefusal(.file, "a part's file has no name, or one with a NUL in it")
            }
            guard let disk = folder.openDisk(),
                let file = UploadFile(part, path: path, isFirst: files.isEmpty, on: disk)
            else { throw .memory }
            files.append(file)
        }
        if !files.isEmpty { folder.workBegins() }
        return files
    }

    /// Keeps the files of a call, which waits for them before it is sent.
    mutating func add(_ opened: [UploadFile], slot: Int) {
        files[slot] = opened
        opening.insert(slot)
    }

    /// The step of a call before its request. It is sent once all its files are open, and the files at the beginning
    /// of its body have bytes in memory.
    mutating func advance(opening slot: Int) -> UploadStep {
        guard let opened = files[slot] else { return .wait }
        var bytesBefore: Int64 = 0
        var unread: [UploadFile] = []
        for file in opened {
            let status = file.status
            if let refusal = file.refusal(status) { return .refuse(refusal) }
            guard status.state == CFILES_FILE_OPEN else { return wait(for: file, status) }
            if status.size > 0, !status.has_bytes, bytesBefore < Int64(CFILES_FILE_AHEAD) { unread.append(file) }
            bytesBefore += status.size
        }
        for file in unread { file.read() }
        if let file = unread.first { return wait(for: file, file.status) }
        opening.remove(slot)
        return .send(opened)
    }

    /// Keeps the call waiting, or ends it if the disk has been silent for too long.
    private func wait(for file: UploadFile, _ status: cfiles_file_status) -> UploadStep {
        folder.isSilent(since: status.waits_since) ? .abandon(folder.silence(file.name, sent: .no)) : .wait
    }

    /// The step of a transfer that waits for bytes of a file. It ends if the disk has been silent for too long.
    func advance(_ slot: Int, _ transfer: CurlTransfer) -> UploadStep {
        let awaited = unsafe ccurl_transfer_awaited(transfer.handle)
        guard let file = files[slot]?.first(where: { unsafe $0.handle == awaited }) else { return .wait }
        let status = file.status
        // A server that has answered may not want the rest of the body. But libcurl ends no transfer while its sending
        // is paused.
        let isAnswered = unsafe ccurl_transfer_take_answered(transfer.handle)
        if status.has_bytes || status.state != CFILES_FILE_OPEN || isAnswered { return .resume }
        guard folder.isSilent(since: status.waits_since) else { return .wait }
        return unsafe transfer.result.answer_whole ? .endAnswered : .end(folder.silence(file.name, sent: .maybe))
    }

    /// Forgets the files of a slot.
    mutating func remove(_ slot: Int) {
        guard !files.isEmpty else { return }
        files[slot] = nil
        opening.remove(slot)
    }

    /// Forgets all files.
    mutating func removeAll() {
        files.removeAll()
        opening.removeAll()
    }
}
