// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One connection of a `HostileServer`: it reads requests and writes any bytes, both blocking.
struct HostileConnection {
    /// A received request.
    struct Request {
        var method: String
        var target: String
        /// Head and body.
        var bytes: [UInt8]

        /// The target without its query. For a proxy request also without scheme and host.
        var path: String {
            let path = target.prefix { $0 != "?" }
            guard path.hasPrefix("http://") else { return String(path) }
            return String(path.dropFirst(7).drop { $0 != "/" })
        }

        /// The value of a query argument, as written.
        func argument(_ name: String) -> String? {
            guard let query = target.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
            for pair in query.split(separator: "&") where pair.hasPrefix(name + "=") {
                return String(pair.dropFirst(name.count + 1))
            }
            return nil
        }

        /// The bytes of a query argument, as written.
        func bytes(of name: String) -> [UInt8]? { argument(name).map { [UInt8]($0.utf8) } }

        /// The bytes of a query argument, with each `%XX` decoded to any byte.
        func decodedBytes(of name: String) -> [UInt8]? {
            guard let bytes = bytes(of: name) else { return nil }
            var decoded: [UInt8] = []
            var index = 0
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                    let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
                {
                    decoded.append(byte)
                    index += 3
                } else {
                    decoded.append(bytes[index])
                    index += 1
                }
            }
            return decoded
        }
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The head does not end before this place of the buffer.
    private var searched = 0

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next request with its Content-Length body; nil at the end of the connection.
    mutating func readRequest() -> Request? {
        while true {
            if let head = headEnd() {
                let text = String(decoding: buffer[..<head], as: UTF8.self)
                let lines = text.split(separator: "\r\n")
                let words = (lines.first ?? "").split(separator: " ")
                guard words.count >= 2 else { return nil }
                var length = 0
                for line in lines where line.lowercased().hasPrefix("content-length:") {
                    length = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0
                }
                let total = head + 4 + length
                while buffer.count < total { guard fill() else { return nil } }
                let bytes = Array(buffer[..<total])
                buffer.removeFirst(total)
                searched = 0
                return Request(method: String(words[0]), target: String(words[1]), bytes: bytes)
            }
            guard fill() else { return nil }
        }
    }

    /// Writes all bytes. False once the client has closed.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Writes text as UTF-8.
    @discardableResult
    func write(_ text: String) -> Bool { write([UInt8](text.utf8)) }

    /// Waits until the client closes, without a time limit.
    func waitForClose() {
        var byte: UInt8 = 0
        while unsafe recv(descriptor, &byte, 1, 0) > 0 {}
    }

    /// Makes the next close reset the connection (RST).
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { Glibc.close(descriptor) }

    private mutating func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        guard count > 0 else { return false }
        buffer += chunk[..<count]
        return true
    }

    /// The start of the empty line that ends the head; nil if it has not arrived. Each byte is checked once, even in
    /// heads of 500 kB.
    private mutating func headEnd() -> Int? {
        while searched + 3 < buffer.count {
            if buffer[searched] == 13, buffer[searched + 1] == 10, buffer[searched + 2] == 13,
                buffer[searched + 3] == 10
            {
                return searched
            }
            searched += 1
        }
        return nil
    }
}
