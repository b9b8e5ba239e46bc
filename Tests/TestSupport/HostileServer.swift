// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// An HTTP server that does what no real one does; what, is said by the path (see `HostileAnswer`).
///
/// One thread accepts, one more per connection serves, all blocking: it is for tests with few connections.
/// It listens on loopback, on a free port below the ephemeral range, until the process ends.
public final class HostileServer: Sendable {
    /// Where it listens.
    public let port: UInt16
    private let counts = Mutex<[String: Int]>([:])
    private let received = Mutex<[String: [UInt8]]>([:])

    /// Binds the first free port of `ports` and starts to serve.
    public init(ports: ClosedRange<UInt16> = 21_600...21_899) throws {
        signal(SIGPIPE, SIG_IGN)
        guard let (listener, port) = HostileServer.listen(ports) else { throw NoFreePort(ports: ports) }
        self.port = port
        let server = self
        _ = BackgroundThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                _ = BackgroundThread { server.serve(connection) }
            }
        }
    }

    /// None of these ports was free.
    public struct NoFreePort: Error {
        /// What was tried.
        public let ports: ClosedRange<UInt16>
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// How many requests for this path, without its query, have come.
    public func requests(for path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

    /// The head and body of the last request for this path, as they came.
    public func lastRequest(for path: String) -> String {
        received.withLock { String(decoding: $0[path] ?? [], as: UTF8.self) }
    }

    private func serve(_ descriptor: Int32) {
        var connection = HostileConnection(descriptor)
        while let request = connection.readRequest() {
            let path = String(request.target.prefix { $0 != "?" })
            let count = counts.withLock { counts in
                counts[path, default: 0] += 1
                return counts[path] ?? 1
            }
            received.withLock { $0[path] = request.bytes }
            guard HostileAnswer.write(path: path, request: request, count: count, to: connection) else { break }
        }
        connection.close()
    }

    private static func listen(_ ports: ClosedRange<UInt16>) -> (Int32, UInt16)? {
        for port in ports {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let bound = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if bound == 0, Glibc.listen(descriptor, 1024) == 0 { return (descriptor, port) }
            Glibc.close(descriptor)
        }
        return nil
    }
}
