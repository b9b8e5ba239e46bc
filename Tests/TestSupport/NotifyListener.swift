// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The datagram socket of a service manager, as `NOTIFY_SOCKET` names it.
public final class NotifyListener: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    public let address: String
    private let socket: Int32
    private let received = Mutex<[String]>([])

    /// Opens a socket. An address that begins with `@` is abstract, otherwise it is a path.
    public init(_ address: String) throws {
        self.address = address
        let name = [UInt8](address.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &place.sun_path) { path in
            unsafe path.copyBytes(from: name)
            if isAbstract { unsafe path[0] = 0 }
        }
        let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        socket = Glibc.socket(AF_UNIX, Int32(kind), 0)
        let length = socklen_t(2 + name.count + (isAbstract ? 0 : 1))
        let bound = unsafe withUnsafePointer(to: place) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(socket, $0, length) }
        }
        guard bound == 0 else { throw TestFault(description: "\(address) cannot be bound") }
    }

    deinit { close(socket) }

    /// All messages so far.
    public var messages: [String] {
        received.withLock { received in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe recv(socket, &bytes, bytes.count, 0)
                guard count >= 0 else { return received }
                received.append(String(decoding: bytes[..<count], as: UTF8.self))
            }
        }
    }

    /// The lines of all messages so far.
    public var lines: [String] { messages.flatMap { $0.split(separator: "\n").map(String.init) } }

    /// How many messages have this line.
    public func count(of line: String) -> Int { lines.count { $0 == line } }

    /// Waits for a line.
    public func wait(_ seconds: Double = 20, for line: String, times: Int = 1) throws {
        try TestClock.wait(seconds, for: "\(line) in \(messages)") { count(of: line) >= times }
    }
}
