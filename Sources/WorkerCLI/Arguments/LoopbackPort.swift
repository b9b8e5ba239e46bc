// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Ports of 127.0.0.1 for the servers that a command starts.
enum LoopbackPort {
    /// A port that is free now. It is below the range from which the system assigns ports, so it probably stays free.
    static func free() -> UInt16 {
        let (port, descriptor) = reserve()
        close(descriptor)
        return port
    }

    /// Reserves a port while the descriptor is open: the preferred one if it is free, otherwise another one.
    ///
    /// A server that sets SO_REUSEADDR, as all do, may still bind it, since this socket never listens (socket(7)).
    static func reserve(preferring preferred: UInt16? = nil) -> (port: UInt16, descriptor: Int32) {
        var port = preferred ?? .random(in: 20_000..<32_000)
        while true {
            let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            // The option is set after this bind, so that only a later bind of a server may share the port.
            if unsafe withAddress(port, { unsafe bind(probe, $0, $1) }) == 0 {
                var on: Int32 = 1
                unsafe setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
                return (port, probe)
            }
            close(probe)
            port = .random(in: 20_000..<32_000)
        }
    }

    /// Whether a server listens on the port.
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
