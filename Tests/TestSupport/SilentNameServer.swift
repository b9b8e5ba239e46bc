// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PrivateCluster

/// A name server on 127.0.0.77 that receives questions and never answers. The program has no other name server.
public final class SilentNameServer: Sendable {
    private let socket: Int32
    private let folder: TestFolder

    /// The reason why this machine cannot have such a server, as a sentence; nil if it can.
    public static let obstacle: String? = {
        guard getuid() == 0 else { return "needs root, for port 53 and a resolv.conf of the worker's own" }
        guard let socket = bound() else { return "127.0.0.77:53 cannot be bound" }
        close(socket)
        let tried = try? ChildProcess.run(["unshare", "-m", "mount", "--bind", "/etc/hosts", "/etc/resolv.conf"])
        return tried?.status == 0 ? nil : "unshare -m or mount --bind is refused here"
    }()

    /// Binds the socket and writes the file for the program.
    public init() throws {
        guard let socket = Self.bound() else { throw TestFault(description: "127.0.0.77:53 is taken") }
        self.socket = socket
        folder = try TestFolder()
        // With these options a look-up lasts 60 s, longer than any test waits.
        try folder.write("resolv.conf", "nameserver 127.0.0.77\noptions timeout:30 attempts:2\n")
    }

    deinit { close(socket) }

    /// The command in front of a program's words: it leaves the program only this name server, then runs it by exec.
    public var wrapper: [String] {
        let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""
        return ["unshare", "-m", "/bin/sh", "-c", script, folder.path("resolv.conf")]
    }

    /// Whether a question has arrived.
    public var isAsked: Bool {
        var byte: UInt8 = 0
        return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 1
    }

    private static func bound() -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // Two test processes may check for the obstacle at the same moment.
        var yes: Int32 = 1
        unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_004D).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return socket }
        close(socket)
        return nil
    }
}
