// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An HTTP/1.1 server that answers each request as soon as its first bytes arrive.
///
/// All answers are the same bytes. Each connection has a thread, so the answer may arrive before the client has written
/// its whole request.
public final class InstantAnswerServer: Sendable {
    /// The port on which the server listens.
    public let port: UInt16
    private let listener: Int32
    private let thread: BackgroundThread

    /// Listens on the next free port of `TestPorts`.
    public init(answer: [UInt8]) throws {
        let (listener, port) = try TestPorts.listen()
        self.listener = listener
        self.port = port
        thread = BackgroundThread {
            while true {
                let line = accept(listener, nil, nil)
                guard line >= 0 else { return }
                _ = BackgroundThread { InstantAnswerServer.serve(line, answer) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }

    /// `http://127.0.0.1:PORT`.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Requests have no bodies, so an empty line ends each. One read may bring the end of a request and the start of the
    /// next one. The client sends it as soon as the answer has arrived.
    private static func serve(_ line: Int32, _ answer: [UInt8]) {
        defer { close(line) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var isInsideRequest = false
        var lastBytes: [UInt8] = []
        while true {
            let count = unsafe recv(line, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            let received = lastBytes + chunk[0..<count]
            let ends = emptyLines(received)
            let begun = (isInsideRequest ? 0 : 1) + ends.count { $0 < received.count }
            for _ in 0..<begun {
                let sent = unsafe send(line, answer, answer.count, Int32(MSG_NOSIGNAL))
                guard sent == answer.count else { return }
            }
            isInsideRequest = ends.last != received.count
            lastBytes = received.suffix(3)
        }
    }

    /// The places behind all empty lines.
    private static func emptyLines(_ bytes: [UInt8]) -> [Int] {
        var places: [Int] = []
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress else { return }
            var place = 0
            while place < all.count, let found = unsafe memchr(base + place, 10, all.count - place) {
                place = unsafe UnsafeRawPointer(found) - base + 1
                if place >= 4, unsafe memcmp(base + place - 4, "\r\n\r\n", 4) == 0 { places.append(place) }
            }
        }
        return places
    }
}
