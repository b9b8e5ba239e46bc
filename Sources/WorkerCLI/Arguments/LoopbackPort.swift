// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Ports of 127.0.0.1, for what a command starts beside itself.
enum LoopbackPort {
    /// One that is free now, below the range from which the system takes ports by itself, where one could be taken at
    /// any moment.
    static func free() -> UInt16 {
        let (port, descriptor) = reserve()
        close(descriptor)
        return port
    }

    /// One that nobody else gets while the descriptor is open: the preferred one if it is free, else another.
    ///
    /// A server that sets SO_REUSEADDR, as they all do, may bind it all the same, since this socket never listens
    /// (socket(7)).
    static func reserve(preferring preferred: UInt16? = nil) -> (port: UInt16, descriptor: Int32) {
        var port = preferred ?? .random(in: 20_000..<32_000)
        while true {
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            // Only the bind of a server may share the port, so the option comes after ours.
            if unsafe withAddress(port, { unsafe bind(probe, $0, $1) }) == 0 {
                var on: Int32 = 1
                unsafe setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
                return (port, probe)
            }
            close(probe)
            port = .random(in: 20_000..<32_000)
        }
    }

    /// Whether somebody listens there.
    static func answers(_ port: UInt16) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        return unsafe withAddress(port) { unsafe connect(probe, $0, $1) } == 0
    }

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe body(rebound, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
