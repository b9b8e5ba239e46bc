// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import JobModel

/// The thread that does what may block on disk, started with the first call that needs it.
@safe final class DownloadDisk {
    private let handle: OpaquePointer
    /// Readable when a part has news.
    let descriptor: Int32

    /// Nil if memory or threads are out.
    init?(root: String) {
        let holder = "\(DownloadDisk.host):\(getpid())"
        guard let handle = unsafe ccurl_disk_create(root, holder) else { return nil }
        unsafe self.handle = handle
        descriptor = unsafe ccurl_disk_descriptor(handle)
    }

    deinit { unsafe ccurl_disk_destroy(handle) }

    /// The path of the file that the thread is at, as a message may show it; nil: it is at none.
    var current: String? {
        var path = [CChar](repeating: 0, count: 4096)
        let isPart = unsafe ccurl_disk_current(handle, &path, path.count)
        let text = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? nil : UploadFile.shown(isPart ? text + ".part" : text)
    }

    /// Makes the descriptor unreadable until the next news.
    func drain() { unsafe ccurl_disk_drain(handle) }

    /// Removes parts that nobody has touched for so many seconds, in the background.
    func expire(olderThan seconds: Int64) { unsafe ccurl_disk_expire(handle, seconds) }

    /// Begins to open and lock the part of a download; nil if memory is out.
    func open(_ download: Download) -> DownloadPart? {
        let part =
            if let hash = download.sha256, hash.count == 32 {
                unsafe hash.withUnsafeBufferPointer { unsafe ccurl_part_open(handle, download.path, $0.baseAddress) }
            } else {
                unsafe ccurl_part_open(handle, download.path, nil)
            }
        return unsafe part.map { unsafe DownloadPart($0, of: self) }
    }

    /// Begins to open a file that is to be sent, and to read the first of a call; nil if memory is out.
    func open(_ path: String, isFirst: Bool) -> OpaquePointer? { unsafe ccurl_file_open(handle, path, isFirst) }

    private static var host: String {
        var name = [CChar](repeating: 0, count: 65)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// One file on its way to disk; suspended, if it is not at its end, with the object.
@safe final class DownloadPart {
    /// For the transfer that fills it; it must not outlive this object.
    let handle: OpaquePointer
    private let disk: DownloadDisk

    init(_ handle: OpaquePointer, of disk: DownloadDisk) {
        unsafe self.handle = handle
        self.disk = disk
    }

    deinit { unsafe ccurl_part_free(handle) }

    /// How far it is.
    var status: ccurl_part_status { unsafe ccurl_part_look(handle) }

    /// What arrives from now on follows byte `offset`; a new note replaces the one on disk. False: memory is out.
    func begin(at offset: Int64, note: PartNote?) -> Bool {
        unsafe ccurl_part_begin(handle, offset, note?.text)
    }

    /// Writes out what has arrived.
    func flush() { unsafe ccurl_part_flush(handle) }

    /// All has arrived.
    func finish() { unsafe ccurl_part_finish(handle) }

    /// No more will arrive in this attempt.
    func suspend() { unsafe ccurl_part_suspend(handle) }
}
