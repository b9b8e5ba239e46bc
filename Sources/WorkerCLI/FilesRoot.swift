// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The directory of `--files`. Jobs read and write files only below it.
enum FilesRoot {
    /// Checks whether the directory can be used.
    ///
    /// - Throws: `usage` if it is missing, not a directory, or not writable.
    static func check(_ path: String) throws(CommandError) {
        let remedy = "give a directory that this user may write, like --files /var/lib/postrider"
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw .usage("--files", "\(quoted(path)) does not exist", remedy)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .usage("--files", "\(quoted(path)) is not a directory", remedy)
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            throw .usage("--files", "\(quoted(path)) cannot be written", remedy)
        }
    }
}
