// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A TCP proxy on loopback that cuts each connection after a number of bytes of answers.
///
/// It counts the bytes and the connections. It lives until the process ends.
public final class CuttingProxy: Sendable {
    /// The port on which the proxy listens.
    public let port: UInt16
    private let target: UInt16
    private let total = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let limit: Atomic<Int>
    private let pace: Atomic<Int>

    /// Forwards connections to a loopback port. Each connection ends after `limit` bytes of answers.
    public init(to target: Int, cutEvery limit: Int = .max) throws {
        signal(SIGPIPE, SIG_IGN)
        let (listener, port) = try TestPorts.listen()
        self.port = port
        self.target = UInt16(target)
        self.limit = Atomic(limit)
        pace = Atomic(0)
        let proxy = self
        _ = BackgroundThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                proxy.accepted.add(1, ordering: .relaxed)
                _ = BackgroundThread { proxy.serve(client) }
            }
        }
    }

    /// The bytes of answers that the proxy has forwarded, including the heads.
    public var bytes: Int { total.load(ordering: .relaxed) }

    /// The number of connections so far.
    public var connections: Int { accepted.load(ordering: .relaxed) }

    /// Cuts each connection after this many bytes from now on.
    public func cut(after bytes: Int) { limit.store(bytes, ordering: .relaxed) }

    /// Pauses for this many milliseconds after each 64 KB from now on.
    public func slow(milliseconds: Int) { pace.store(milliseconds, ordering: .relaxed) }

    private func serve(_ client: Int32) {
        let server = TargetServer.connect(target)
        guard server >= 0 else {
            close(client)
            return
        }
        var left = limit.load(ordering: .relaxed)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var ready = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: server, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&ready, 2, -1) > 0 {
            if ready[0].revents != 0 {
                let count = unsafe recv(client, &chunk, chunk.count, 0)
                guard count > 0, send(server, chunk, count) else { break }
            }
            if ready[1].revents != 0 {
                let count = unsafe recv(server, &chunk, min(chunk.count, left), 0)
                guard count > 0, send(client, chunk, count) else { break }
                total.add(count, ordering: .relaxed)
                left -= count
                if left == 0 {
                    // The forwarded bytes must arrive before the connection ends.
                    TestClock.sleep(milliseconds: 20)
                    break
                }
                let pause = pace.load(ordering: .relaxed)
                if pause > 0 { TestClock.sleep(milliseconds: pause) }
            }
        }
        close(server)
        close(client)
    }

    private func send(_ socket: Int32, _ bytes: [UInt8], _ count: Int) -> Bool {
        var sent = 0
        while sent < count {
            let more = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return false }
            sent += more
        }
        return true
    }
}
