// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// An `/etc/hosts` for one program. The test can change the address of its one name while the program runs.
public final class HostsFile: Sendable {
    private let folder: TestFolder

    /// The reason why this machine cannot have such a file, as a sentence; nil if it can.
    public static let obstacle: String? = {
        guard getuid() == 0 else { return "needs root, for an /etc/hosts of the worker's own" }
        let tried = try? ChildProcess.run(["unshare", "-m", "mount", "--bind", "/etc/resolv.conf", "/etc/hosts"])
        return tried?.status == 0 ? nil : "unshare -m or mount --bind is refused here"
    }()

    /// Makes the file with one name at this address.
    public init(_ name: String, at address: String) throws {
        folder = try TestFolder()
        try move(name, to: address)
    }

    /// Changes the address of the name.
    public func move(_ name: String, to address: String) throws {
        // One write of constant length, because another process may read the file at the same time.
        let line = [UInt8]("\(address) \(name)".utf8)
        let text = line + [UInt8](repeating: 32, count: max(0, 127 - line.count)) + [10]
        let file = unsafe open(folder.path("hosts"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(file) }
        guard unsafe pwrite(file, text, text.count, 0) == text.count else {
            throw TestFault(description: "hosts cannot be written")
        }
    }

    /// The command in front of a program's words: it mounts this file and then runs the program by exec.
    public var wrapper: [String] {
        let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\""
        return ["unshare", "-m", "/bin/sh", "-c", script, folder.path("hosts")]
    }
}
