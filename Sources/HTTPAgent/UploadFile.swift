// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// One file that a part names, below the files root and nowhere else: opened and read by the disk's thread.
@safe final class UploadFile {
    /// For the transfer that sends it; it must not outlive this object.
    let handle: OpaquePointer
    private let part: BodyPart
    /// The path as a message may show it.
    let name: String
    private let disk: DownloadDisk

    /// Begins to open it, and to read it if it is the first of its call; nil if memory is out.
    ///
    /// C: `ccurl_file_open`.
    init?(_ part: BodyPart, path: String, isFirst: Bool, on disk: DownloadDisk) {
        guard let handle = unsafe disk.open(path, isFirst: isFirst) else { return nil }
        unsafe self.handle = handle
        self.part = part
        self.disk = disk
        name = UploadFile.shown(path)
    }

    /// A path as a message may show it: short and on one line.
    static func shown(_ path: String) -> String {
        let shown = path.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? "?" : String($0) }
        return "\"\(shown.joined())\""
    }

    deinit { unsafe ccurl_file_free(handle) }

    /// How far it is.
    var status: ccurl_file_status { unsafe ccurl_file_look(handle) }

    /// Begins to read it, if it was not the first.
    ///
    /// C: `ccurl_file_read`.
    func read() { unsafe ccurl_file_read(handle) }

    /// Why it is not sent; nil: it may be, or is not open yet.
    func refusal(_ status: ccurl_file_status) -> CallRefusal? {
        switch status.state {
        case CCURL_FILE_REFUSED:
            var failure = CallRefusal(.file, sentence(status.refusal))
            failure.lacksDescriptors = status.refusal == CCURL_FILE_DESCRIPTORS
            return failure
        case CCURL_FILE_OPEN:
            guard let most = part.maxBytes, status.size > most else { return nil }
            return CallRefusal(.file, "the file \(name) has \(status.size) bytes and may have \(most) (max_bytes)")
        case CCURL_FILE_CHANGED:
            return CallRefusal(
                .file, "the file \(name) changed or became unreadable before it was sent; send it again as it is now")
        default: return nil
        }
    }

    private func sentence(_ refusal: ccurl_file_refusal) -> String {
        switch refusal {
        case CCURL_FILE_ROOT: "the worker's folder for files (--files) cannot be opened"
        case CCURL_FILE_ABSENT: "the file \(name) is not in the worker's folder for files (--files)"
        case CCURL_FILE_OUTSIDE:
            "the path \(name) leaves the worker's folder for files; give it relative to --files, without . and .."
        case CCURL_FILE_LINK: "the path \(name) goes over a symbolic link; name the file itself"
        case CCURL_FILE_KIND: "\(name) is not a regular file; only those are sent"
        case CCURL_FILE_DESCRIPTORS:
            "the file \(name) could not be opened: the worker is out of file descriptors; raise its limit (ulimit -n)"
        default: "the file \(name) cannot be read by the worker; mend its permissions"
        }
    }
}
