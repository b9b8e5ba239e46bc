// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Opens the files that parts name, below the files root and nowhere else.
struct PartFiles {
    /// The folder that the worker was given; nil: no file may be sent.
    let root: String?

    /// A regular file, open, at most `maxBytes` long. Throws `file` with a sentence that names the path.
    ///
    /// C: `ccurl_open_beneath`.
    func open(_ path: String, maxBytes: Int64?) throws(CallRefusal) -> OpaquePointer {
        guard let root else {
            throw CallRefusal(
                .config,
                "a part names a file, which needs a directory: start the worker with --files DIR (POSTRIDER_FILES)")
        }
        let name = PartFiles.quoted(path)
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw CallRefusal(.file, "a part's file has no name, or one with a NUL in it")
        }
        var size: Int64 = 0
        var refusal = CCURL_FILE_ROOT
        guard let file = unsafe ccurl_file_open(root, path, &size, &refusal) else {
            var failure = CallRefusal(.file, PartFiles.sentence(refusal, name))
            failure.lacksDescriptors = refusal == CCURL_FILE_DESCRIPTORS
            throw failure
        }
        if let maxBytes, size > maxBytes {
            unsafe ccurl_file_close(file)
            throw CallRefusal(.file, "the file \(name) has \(size) bytes and may have \(maxBytes) (max_bytes)")
        }
        return unsafe file
    }

    private static func sentence(_ refusal: ccurl_file_refusal, _ name: String) -> String {
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

    /// The path as a message may show it: short and on one line.
    private static func quoted(_ path: String) -> String {
        let shown = path.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? "?" : String($0) }
        return "\"\(shown.joined())\""
    }
}
