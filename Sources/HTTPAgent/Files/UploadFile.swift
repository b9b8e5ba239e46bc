// SPDX-License-Identifier: Apache-2.0
import CFiles
import JobModel

/// One file of a part. It lies below the files root. The disk thread opens and reads it.
@safe final class UploadFile {
    /// The handle for the transfer that sends it. It must not outlive this object.
    let handle: OpaquePointer
    private let part: BodyPart
    /// The path in a form that is fit for messages.
    let name: String
    private let disk: DiskThread

    /// Begins to open it, and to read it if it is the first file of its call. Nil without memory.
    ///
    /// C: `cfiles_file_open`.
    init?(_ part: BodyPart, path: String, isFirst: Bool, on disk: DiskThread) {
        guard let handle = unsafe disk.open(path, isFirst: isFirst) else { return nil }
        unsafe self.handle = handle
        self.part = part
        self.disk = disk
        name = UploadFile.shown(path)
    }

    /// A path that is fit for messages: short and on one line.
    static func shown(_ path: String) -> String {
        let shown = path.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? "?" : String($0) }
        return "\"\(shown.joined())\""
    }

    deinit { unsafe cfiles_file_free(handle) }

    /// The state of the file.
    var status: cfiles_file_status { unsafe cfiles_file_look(handle) }

    /// Begins to read a file that was not the first one.
    ///
    /// C: `cfiles_file_read`.
    func read() { unsafe cfiles_file_read(handle) }

    /// Why it is not sent. Nil if it may be sent, or is not open yet.
    func refusal(_ status: cfiles_file_status) -> CallRefusal? {
        switch status.state {
        case CFILES_FILE_REFUSED:
            var failure = CallRefusal(.file, sentence(status.refusal))
            failure.lacksDescriptors = status.refusal == CFILES_FILE_DESCRIPTORS
            return failure
        case CFILES_FILE_OPEN:
            guard let most = part.maxBytes, status.size > most else { return nil }
            return CallRefusal(
                .file, "the file \(name) has \(status.size) bytes, more than the limit of \(most) (max_bytes)")
        case CFILES_FILE_CHANGED:
            return CallRefusal(
                .file, "the file \(name) changed or became unreadable before it was sent; send it again as it is now")
        default: return nil
        }
    }

    private func sentence(_ refusal: cfiles_file_refusal) -> String {
        switch refusal {
        case CFILES_FILE_ROOT: "the worker's folder for files (--files) cannot be opened"
        case CFILES_FILE_ABSENT: "the file \(name) is not in the worker's folder for files (--files)"
        case CFILES_FILE_OUTSIDE:
            "the path \(name) leaves the worker's folder for files; give it relative to --files, without . and .."
        case CFILES_FILE_LINK: "the path \(name) leads through a symbolic link; name the file itself"
        case CFILES_FILE_KIND: "\(name) is not a regular file; only regular files are sent"
        case CFILES_FILE_DESCRIPTORS:
            "the file \(name) could not be opened: the worker is out of file descriptors; raise its limit (ulimit -n)"
        default: "the file \(name) cannot be read by the worker; correct its permissions"
        }
    }
}
