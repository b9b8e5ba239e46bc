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

    private static func serve(_ line: Int32, _ answer: [UInt8]) {
        defer { close(line) }
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var isInsideRequest = false
        var tail: [UInt8] = []
        while true {
            let count = unsafe recv(line, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            if !isInsideRequest {
                let sent = unsafe send(line, answer, answer.count, Int32(MSG_NOSIGNAL))
                guard sent == answer.count else { return }
            }
            // A request without a body ends with an empty line, and so does a chunked body.
            tail = (tail + chunk[max(0, count - 4)..<count]).suffix(4)
            isInsideRequest = tail != [13, 10, 13, 10]
        }
    }
}
