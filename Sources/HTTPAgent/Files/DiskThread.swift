// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc
import JobModel

/// The thread for disk work that may block. It starts with the first call that needs it.
@safe final class DiskThread {
    private let handle: OpaquePointer
    /// Readable when the state of a part has changed.
    let descriptor: Int32

    /// Creates the thread. Nil without memory or threads.
    init?(root: String) {
        let holder = "\(DiskThread.host):\(getpid())"
        guard let handle = unsafe cfiles_disk_create(root, holder) else { return nil }
        unsafe self.handle = handle
        descriptor = unsafe cfiles_disk_descriptor(handle)
    }

    deinit { unsafe cfiles_disk_destroy(handle) }

    /// The path of the file on which the thread works, fit for a message. Nil if it is idle.
    var current: String? {
        var path = [CChar](repeating: 0, count: 4096)
        let isPart = unsafe cfiles_disk_current(handle, &path, path.count)
        let text = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? nil : UploadFile.shown(isPart ? text + ".part" : text)
    }

    /// Makes the descriptor unreadable until the next change.
    func drain() { unsafe cfiles_disk_drain(handle) }

    /// Removes partial downloads that are unchanged for so many seconds, in the background.
    func expire(olderThan seconds: Int64) { unsafe cfiles_disk_expire(handle, seconds) }

    /// Begins to open and lock the part of a download. Nil without memory.
    func open(_ download: Download) -> DownloadPart? {
        let part =
            if let hash = download.sha256, hash.count == 32 {
                unsafe hash.withUnsafeBufferPointer { unsafe cfiles_part_open(handle, download.path, $0.baseAddress) }
            } else {
                unsafe cfiles_part_open(handle, download.path, nil)
            }
        return unsafe part.map { unsafe DownloadPart($0, of: self) }
    }

    /// Begins to open a file to be sent, and to read it if it is the first one of a call. Nil without memory.
    func open(_ path: String, isFirst: Bool) -> OpaquePointer? { unsafe cfiles_file_open(handle, path, isFirst) }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 65)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// One file on its way to disk. If it is incomplete, the deinit suspends it.
@safe final class DownloadPart {
    /// The handle for the transfer that fills it. It must not outlive this object.
    let handle: OpaquePointer
    private let disk: DiskThread

    init(_ handle: OpaquePointer, of disk: DiskThread) {
        unsafe self.handle = handle
        self.disk = disk
    }

    deinit { unsafe cfiles_part_free(handle) }

    /// The state of the part.
    var status: cfiles_part_status { unsafe cfiles_part_look(handle) }

    /// Begins to write at byte `offset`. A new note replaces the one on disk. False without memory.
    func begin(at offset: Int64, note: PartNote?) -> Bool {
        unsafe cfiles_part_begin(handle, offset, note?.text)
    }

    /// Writes all bytes that have arrived.
    func flush() { unsafe cfiles_part_flush(handle) }

    /// Records that all bytes have arrived.
    func finish() { unsafe cfiles_part_finish(handle) }

    /// Records that no more bytes arrive in this attempt.
    func suspend() { unsafe cfiles_part_suspend(handle) }
}
