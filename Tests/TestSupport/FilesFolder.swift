// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A folder of files for a test, with the traps of a hostile one beside them; removed with the object.
///
/// `a.txt` holds `hello`, `sub/b.bin` 100,000 bytes. `link` points to `a.txt`, `up` to `/etc`, `pipe` is a FIFO.
public final class FilesFolder: Sendable {
    /// Its path.
    public let path: String

    /// Makes it in /tmp.
    public init() throws {
        let script = """
            f=$(mktemp -d /tmp/postrider-files-XXXXXX); cd $f; mkdir sub; printf hello > a.txt
            head -c 100000 /dev/urandom > sub/b.bin; ln -s a.txt link; ln -s /etc up; mkfifo pipe; printf $f
            """
        path = try ChildProcess.run(["/bin/sh", "-ec", script]).output
    }

    deinit { _ = try? ChildProcess.run(["rm", "-rf", path]) }

    /// Writes a file of this many bytes, the same pattern each time, through the file system's cache.
    public func fill(_ name: String, megabytes: Int) throws {
        _ = try ChildProcess.run([
            "/bin/sh", "-ec",
            "yes 'a line of a file that is sent as a part' | head -c \(megabytes << 20) > \(path)/\(name)",
        ])
    }

    /// SHA-256 of a file, in hexadecimal digits.
    public func sha256(_ name: String) throws -> String {
        String(try ChildProcess.run(["sha256sum", "\(path)/\(name)"]).output.prefix(64))
    }

    /// Changes a file's length.
    public func truncate(_ name: String, to bytes: Int) {
        unsafe Glibc.truncate("\(path)/\(name)", bytes)
    }
}
