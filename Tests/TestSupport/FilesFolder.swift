// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A folder of files for a test, together with traps that a hostile user may set. The object removes it at its end.
///
/// `a.txt` holds `hello`, `sub/b.bin` holds 100,000 bytes. `link` points to `a.txt`, `up` to `/etc`, `pipe` is a FIFO.
public final class FilesFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes the folder in /tmp.
    public init() throws {
        let script = """
            f=$(mktemp -d /tmp/postrider-files-XXXXXX); cd $f; mkdir sub; printf hello > a.txt
            head -c 100000 /dev/urandom > sub/b.bin; ln -s a.txt link; ln -s /etc up; mkfifo pipe; printf $f
            """
        path = try ChildProcess.run(["/bin/sh", "-ec", script]).output
    }

    deinit { _ = try? ChildProcess.run(["rm", "-rf", path]) }

    /// Writes a file of this many megabytes through the file system's cache. The pattern is always the same.
    public func fill(_ name: String, megabytes: Int) throws {
        _ = try ChildProcess.run([
            "/bin/sh", "-ec",
            "yes 'a line of a file that is sent as a part' | head -c \(megabytes << 20) > \(path)/\(name)",
        ])
    }

    /// The SHA-256 of a file, in hexadecimal digits.
    public func sha256(_ name: String) throws -> String {
        String(try ChildProcess.run(["sha256sum", "\(path)/\(name)"]).output.prefix(64))
    }

    /// Changes a file's length.
    public func truncate(_ name: String, to bytes: Int) {
        unsafe Glibc.truncate("\(path)/\(name)", bytes)
    }
}
