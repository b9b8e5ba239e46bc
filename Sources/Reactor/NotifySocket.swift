// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The socket of the service manager that started this process, such as systemd.
///
/// C: the protocol of `sd_notify(3)`, one datagram for each message.
public final class NotifySocket: Sendable {
    /// The manager restarts the process after this time without `WATCHDOG=1`, in nanoseconds; nil: it does not.
    public let watchdogTimeout: UInt64?
    private let socket: Descriptor
    private let address: sockaddr_un
    private let length: socklen_t

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///
    /// Nil without `NOTIFY_SOCKET`, or if it is neither a path nor, with a leading `@`, the name of an abstract socket.
    public init?(environment: [String: String]) {
        let name = [UInt8]((environment["NOTIFY_SOCKET"] ?? "").utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard isAbstract || name.first == UInt8(ascii: "/"), name.count <= room else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: name)
            // The name of an abstract socket begins with a zero byte. Its end is known by the length only.
            if isAbstract { unsafe path[0] = 0 }
        }
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = Glibc.socket(AF_UNIX, Int32(kind), 0)
        guard number >= 0 else { return nil }
        socket = Descriptor(owning: number)
        self.address = address
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
        watchdogTimeout = NotifySocket.watchdogTimeout(environment, process: getpid())
    }

    /// The time in nanoseconds that `WATCHDOG_USEC` states in microseconds; nil if it is meant for another process.
    static func watchdogTimeout(_ environment: [String: String], process: Int32) -> UInt64? {
        guard let time = environment["WATCHDOG_USEC"].flatMap(UInt64.init), time > 0 else { return nil }
        if let owner = environment["WATCHDOG_PID"], Int32(owner) != process { return nil }
        let (nanoseconds, isTooLong) = time.multipliedReportingOverflow(by: 1000)
        return isTooLong ? nil : nanoseconds
    }

    /// Sends assignments like `READY=1`, one a line. It never waits.
    ///
    /// Returns false if the manager's queue is full, or if nothing listens at the address. C: `sendto`.
    public func send(_ text: String) -> Bool {
        let bytes = [UInt8](text.utf8)
        return unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(socket.rawValue, bytes, bytes.count, 0, address, length)
            }
        } == bytes.count
    }
}
