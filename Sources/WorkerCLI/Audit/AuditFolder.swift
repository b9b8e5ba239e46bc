// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A temporary directory of the audit with a files root, and with objects next to it that no call may reach.
///
/// `root` contains `up`, a link to the directory above, `link` and `linked.part`, links to the file `outside`, and
/// `pipe`. The deinit removes the directory.
final class AuditFolder: Sendable {
    /// The files root.
    let root: String
    private let path: String

    /// Creates it below TMPDIR, or below /tmp. C: `mkdtemp`.
    init() throws(CommandError) {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/postrider-audit-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw CommandError(.internalError, "cannot make a directory in \(quoted(base)); set TMPDIR")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        root = "\(path)/root"
        let file = unsafe open("\(path)/outside", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let isMade =
            unsafe file >= 0 && mkdir(root, 0o700) == 0 && symlink("..", "\(root)/up") == 0
            && symlink("../outside", "\(root)/link") == 0 && symlink("../outside", "\(root)/linked.part") == 0
            && mkfifo("\(root)/pipe", 0o600) == 0
        close(file)
        guard isMade else { throw CommandError(.internalError, "cannot create files in the directory \(quoted(path))") }
    }

    deinit { AuditFolder.remove(path) }

    /// Whether `outside` is unchanged and no other file was created next to it.
    var isUntouchedOutside: Bool {
        var status = stat()
        guard unsafe lstat("\(path)/outside", &status) == 0, status.st_size == 0 else { return false }
        return AuditFolder.names(path).sorted() == ["outside", "root"]
    }

    /// Whether a file exists below the root.
    func holds(_ name: String) -> Bool { unsafe access("\(root)/\(name)", F_OK) == 0 }

    private static func names(_ path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a directory tree without following links.
    private static func remove(_ path: String) {
        for name in names(path) where unsafe unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}
