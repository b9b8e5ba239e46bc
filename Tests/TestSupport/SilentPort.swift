// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A port of 127.0.0.1 that neither accepts nor refuses connections, like a host behind a strict firewall.
public final class SilentPort: Sendable {
    /// The port number.
    public let port: UInt16
    private let sockets: [Int32]

    /// Takes the next free port of `TestPorts` and fills its queue of connections, which the test never empties.
    public init() throws {
        let (listener, port) = try TestPorts.listen()
        self.port = port
        Glibc.listen(listener, 0)
        // A queue of length 0 takes one connection. The kernel then ignores further ones.
        var sockets = [listener, TargetServer.connect(port)]
        for _ in 1...3 {
            let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let client = socket(AF_INET, Int32(kind), 0)
            _ = unsafe TargetServer.withLoopback(port) { unsafe Glibc.connect(client, $0, $1) }
            sockets.append(client)
        }
        self.sockets = sockets
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    /// Listens on the same port of ::1.
    func listenBeside() throws -> Int32 {
        let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        if bound == 0, Glibc.listen(listener, 1024) == 0 { return listener }
        close(listener)
        throw TestFault(description: "port \(port) of ::1 is taken")
    }
}
