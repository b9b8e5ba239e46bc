// SPDX-License-Identifier: Apache-2.0
import CCurl
import CFiles
import JobModel

/// The running downloads, by slot.
struct DownloadTable {
    private let folder: FilesFolder
    private var tasks: [Int: DownloadTask] = [:]

    /// No download runs.
    init(in folder: FilesFolder) { self.folder = folder }

    /// Whether no download runs.
    var isEmpty: Bool { tasks.isEmpty }

    /// The slots of the downloads, in order.
    var slots: [Int] { tasks.keys.sorted() }

    /// The download of a slot. Nil if its call is another one.
    subscript(slot: Int) -> DownloadTask? { tasks.isEmpty ? nil : tasks[slot] }

    /// Begins to open the file of a call. The request is sent when the file is open.
    mutating func open(_ download: Download, _ flight: Flight, slot: Int) throws(CallRefusal) {
        guard folder.isAllowed else {
            throw CallRefusal(
                .config, "download_to needs a directory: start the worker with --files DIR (POSTRIDER_FILES)")
        }
        try DownloadTable.check(download, of: flight.call)
        guard let part = folder.openDisk()?.open(download) else {
            throw CallRefusal(.internal, "the worker is out of memory or threads")
        }
        unsafe ccurl_transfer_set_part(flight.transfer.handle, part.handle)
        tasks[slot] = DownloadTask(download, part: part, url: PartNote.urlHash(of: flight.call), in: folder)
        folder.workBegins()
    }

    /// Refuses a call that must not be a download.
    private static func check(_ download: Download, of call: HTTPCall) throws(CallRefusal) {
        if call.method == .head {
            throw CallRefusal(.config, "a HEAD request has no body for download_to; use GET")
        }
        if let own = call.headers.first(where: { ["range", "if-range"].contains($0.name.lowercased()) }) {
            throw CallRefusal(.badHeader, "header \(own.name) is set by the worker itself for a download")
        }
        guard !download.path.utf8.contains(0), unsafe cfiles_path_is_beneath(download.path),
            !download.path.hasSuffix(".part"), !download.path.hasSuffix(".part.meta"),
            !download.path.hasSuffix(".part.meta.new")
        else {
            throw CallRefusal(
                .file, "download_to must be a relative path without . and .., and must not end in .part")
        }
    }

    /// Writes all bytes that have arrived, so that slow downloads reach the disk, too.
    func flush() {
        for task in tasks.values where task.isWriting { task.part.flush() }
    }

    /// Forgets the download of a slot. Its part is suspended if it is incomplete.
    mutating func remove(_ slot: Int) { if !tasks.isEmpty { tasks[slot] = nil } }

    /// Forgets all downloads.
    mutating func removeAll() { tasks.removeAll() }
}
