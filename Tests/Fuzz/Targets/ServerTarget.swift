// SPDX-License-Identifier: Apache-2.0

import CHTTPServer
import Glibc
import Synchronization

@testable import Admin
@testable import JobModel
@testable import WorkerCLI

/// Bytes that a client sends to the HTTP server of the pages, over a connection.
enum ServerTarget {
    /// The broken rule that a thread of the server has seen.
    private static let broken = Mutex<String?>(nil)

    /// The port of the server, which the first input starts; 0 if it cannot be started.
    private static let port: UInt16 = {
        signal(SIGPIPE, SIG_IGN)
        let port = LoopbackPort.free()
        let error = unsafe chttpserver_start(
            "127.0.0.1", port, "/act",
            { _, exchange in
                unsafe ServerTarget.answer(exchange)
            }, nil)
        return error == 0 ? port : 0
    }()

    static func run(_ input: [UInt8]) throws(Finding) {
        guard port > 0 else { return }
        let answer = send(input, to: port)
        try expect(answer.isEmpty || answer.starts(with: "HTTP/1.".utf8), "an answer is no HTTP")
        if let rule = broken.withLock({ $0 }) { throw Finding(description: rule) }
    }

    private static func answer(_ exchange: OpaquePointer) {
        let request = unsafe AdminRequest(exchange)
        if let form = request.form {
            _ = try? FormBody.decode(form)
            if form.count > 64 << 10 { broken.withLock { $0 = "a form of \(form.count) bytes" } }
        }
        if request.arguments.count > 50 { broken.withLock { $0 = "\(request.arguments.count) arguments" } }
        let body = Array(SanitizedText.escape(request.path).utf8)
        unsafe chttpserver_answer(exchange, 200, "text/plain", nil, body, body.count)
    }

    /// Sends the bytes and the end of the stream, and reads until the server closes.
    static func send(_ bytes: [UInt8], to port: UInt16) -> [UInt8] {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe connect(file, rebound, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return [] }
        // At once a reset, without an answer in the way of the next input.
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(file, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        _ = unsafe Glibc.send(file, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        shutdown(file, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while answer.count < 1 << 16 {
            let count = unsafe recv(file, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            answer += chunk[..<count]
        }
        return answer
    }
}
