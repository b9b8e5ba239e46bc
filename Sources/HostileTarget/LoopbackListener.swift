// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A listening socket on loopback. It stays open until the process ends.
struct LoopbackListener: Sendable {
    /// The loopback address.
    enum Family: Sendable {
        /// 127.0.0.1
        case four
        /// ::1
        case six
    }

    let descriptor: Int32
    let family: Family

    /// Listens. Nil if the port is taken, or if the machine lacks the address. C: `bind`, `listen`.
    init?(_ family: Family, port: UInt16) {
        let descriptor = LoopbackListener.socket(family)
        guard descriptor >= 0 else { return nil }
        // Connections of a previous server may still be closing. A port with a listener stays taken.
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        let isBound = unsafe LoopbackListener.with(family, port: port) { unsafe bind(descriptor, $0, $1) } == 0
        guard isBound, listen(descriptor, 1024) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.family = family
    }

    /// The next connection and its remote port; nil if none could be accepted. C: `accept`.
    func take() -> (descriptor: Int32, from: UInt16)? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let connection = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe accept(descriptor, $0, &length) }
        }
        // The port is at the same place in both kinds of address.
        return connection < 0 ? nil : (connection, UInt16(bigEndian: address.sin6_port))
    }

    /// An unconnected socket with its own port; nil if there are no more.
    func prober() -> (descriptor: Int32, port: UInt16)? {
        let descriptor = LoopbackListener.socket(family)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isNamed =
            unsafe LoopbackListener.with(family, port: 0) { unsafe bind(descriptor, $0, $1) } == 0
            && withUnsafeMutablePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &length)
                }
            } == 0
        guard isNamed else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin6_port))
    }

    /// Connects a socket of this family to a port of this machine.
    func connect(_ descriptor: Int32, to port: UInt16) -> Bool {
        unsafe LoopbackListener.with(family, port: port) { unsafe Glibc.connect(descriptor, $0, $1) } == 0
    }

    private static func socket(_ family: Family) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return Glibc.socket(family == .four ? AF_INET : AF_INET6, kind, 0)
    }

    private static func with(
        _ family: Family, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        switch family {
        case .four:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .six:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}
