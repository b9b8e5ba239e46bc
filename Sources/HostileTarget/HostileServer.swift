// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Reactor
internal import Synchronization

/// An HTTP server with answers that no correct server gives. The path selects the answer (see `HostileAnswer`).
///
/// One thread accepts on each address, and one serves each connection, all blocking. So it is for few connections. It
/// listens on loopback, over IPv4 and, if available, IPv6. Its port is free and below the range from which the system
/// assigns ports. It runs until the process ends.
public final class HostileServer: Sendable {
    /// The port on which it listens.
    public let port: UInt16
    /// Whether it also listens on ::1.
    public let hasIPv6: Bool
    private let listeners: [LoopbackListener]
    private let counts = Mutex<[String: Int]>([:])
    private let received = Mutex<[String: [UInt8]]>([:])
    private let accepted = Mutex(Accepted())

    private struct Accepted {
        /// How many connections were not probes.
        var count = 0
        /// The local ports of the probes.
        var probes: Set<UInt16> = []
    }

    /// Binds the first free port of `ports` and starts serving.
    public init(ports: ClosedRange<UInt16> = 21_600...21_899) throws(NoFreePort) {
        var found: (port: UInt16, listeners: [LoopbackListener])?
        for port in ports {
            guard let four = LoopbackListener(.four, port: port) else { continue }
            found = (port, [four] + [LoopbackListener(.six, port: port)].compactMap(\.self))
            break
        }
        guard let found else { throw NoFreePort(ports: ports) }
        port = found.port
        listeners = found.listeners
        hasIPv6 = found.listeners.count == 2
        let server = self
        for listener in listeners {
            guard DetachedThread.start({ server.accept(listener) }) else { throw NoFreePort(ports: ports) }
        }
    }

    /// None of these ports was free, or the system refused a thread.
    public struct NoFreePort: Error {
        /// The ports that were tried.
        public let ports: ClosedRange<UInt16>
    }

    /// The URL `http://127.0.0.1:port` with the path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// How many requests for this path arrived, regardless of the query.
    public func requests(for path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

    /// How many requests arrived in all.
    public var requests: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// The head and body of the last request for this path.
    public func lastRequest(for path: String) -> String {
        received.withLock { String(decoding: $0[path] ?? [], as: UTF8.self) }
    }

    /// How many connections were made before this call, including those without a byte.
    ///
    /// The kernel returns connections in the order of their arrival. So once a probe of its own is accepted, no earlier
    /// connection is missing.
    public func connections() -> Int {
        for listener in listeners {
            guard let (descriptor, from) = listener.prober() else { continue }
            accepted.withLock { _ = $0.probes.insert(from) }
            if listener.connect(descriptor, to: port) {
                // The server closes a probe as soon as it has accepted it.
                var byte: UInt8 = 0
                while unsafe recv(descriptor, &byte, 1, 0) < 0 && errno == EINTR {}
            }
            close(descriptor)
            accepted.withLock { _ = $0.probes.remove(from) }
        }
        return accepted.withLock(\.count)
    }

    private func accept(_ listener: LoopbackListener) {
        while true {
            guard let (connection, from) = listener.take() else {
                // A temporary error, such as a lack of descriptors. The connection still waits.
                usleep(1_000)
                continue
            }
            let isProbe = accepted.withLock { accepted in
                if accepted.probes.contains(from) { return true }
                accepted.count += 1
                return false
            }
            if isProbe || !DetachedThread.start({ self.serve(connection) }) { close(connection) }
        }
    }

    private func serve(_ descriptor: Int32) {
        var connection = HostileConnection(descriptor)
        while let request = connection.readRequest() {
            let path = request.path
            let count = counts.withLock { counts in
                counts[path, default: 0] += 1
                return counts[path] ?? 1
            }
            received.withLock { $0[path] = request.bytes }
            guard HostileAnswer.write(path: path, request: request, count: count, to: connection) else { break }
        }
        connection.close()
    }
}
