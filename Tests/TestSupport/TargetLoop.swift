// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The thread of a `TargetServer`: one `poll` loop over all connections.
final class TargetLoop: @unchecked Sendable {
    // Unchecked, because only the thread in `run` uses its state.
    private struct Connection {
        var input: [UInt8] = []
        var output: [UInt8] = []
        var sent = 0
        var steps: [TargetStep] = []
        /// The index in `book` of the request in progress.
        var request: Int?
        var resumeAt: UInt64 = 0
        var isHanging = false
    }

    private let listener: Int32
    private let stop: Int32
    /// If nil, the server keeps no requests and holds no answers.
    private let book: TargetBook?
    private let answer: @Sendable (TargetRequest) -> [TargetStep]
    private var connections: [Int32: Connection] = [:]
    private var turns: [String: Int] = [:]

    init(listener: Int32, stop: Int32, book: TargetBook?, answer: @escaping @Sendable (TargetRequest) -> [TargetStep]) {
        self.listener = listener
        self.stop = stop
        self.book = book
        self.answer = answer
    }

    /// Serves until the other end of `stop` closes.
    func run() {
        while true {
            var waits = [pollfd(fd: stop, events: Int16(POLLIN), revents: 0)]
            waits.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
            var deadline = UInt64.max
            for (descriptor, connection) in connections {
                let wantsWrite = connection.sent < connection.output.count
                waits.append(
                    pollfd(fd: descriptor, events: Int16(POLLIN | (wantsWrite ? POLLOUT : 0)), revents: 0))
                if connection.resumeAt > 0 { deadline = min(deadline, connection.resumeAt) }
            }
            let now = TestClock.now
            let patience = deadline == .max ? -1 : Int32(deadline > now ? (deadline - now) / 1_000_000 + 1 : 0)
            unsafe poll(&waits, nfds_t(waits.count), patience)
            if waits[0].revents != 0 { break }
            if waits[1].revents != 0 { accept() }
            for wait in waits.dropFirst(2) where wait.revents != 0 { ready(wait.fd) }
            let current = TestClock.now
            for (descriptor, connection) in connections where connection.resumeAt > 0 && connection.resumeAt <= current
            {
                connections[descriptor]?.resumeAt = 0
                advance(descriptor)
            }
        }
        for descriptor in connections.keys { close(descriptor) }
        close(listener)
    }

    private func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        connections[descriptor] = Connection()
    }

    private func ready(_ descriptor: Int32) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                connections[descriptor]?.input += chunk[..<count]
                continue
            }
            if count < 0 && (errno == EAGAIN || errno == EINTR) { break }
            return end(descriptor, isAborted: true)
        }
        takeRequest(descriptor)
        advance(descriptor)
    }

    /// Takes a complete request off the input.
    private func takeRequest(_ descriptor: Int32) {
        guard var connection = connections[descriptor], connection.request == nil,
            let head = headLength(connection.input)
        else { return }
        let lines = String(decoding: connection.input[..<head], as: UTF8.self).split(separator: "\r\n")
        let first = (lines.first ?? "").split(separator: " ").map(String.init)
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: String((parts.count > 1 ? parts[1] : "").drop { $0 == " " }))
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        guard connection.input.count >= head + length else { return }
        connection.input.removeFirst(head + length)
        let path = first.count > 1 ? first[1] : ""
        if book != nil { turns[path, default: 0] += 1 }
        let request = TargetRequest(
            method: first.first ?? "", path: path, headers: headers, turn: turns[path] ?? 1, arrivedAt: TestClock.now)
        connection.request =
            book?.requests.withLock { requests in
                requests.append(request)
                return requests.count - 1
            } ?? 0
        connection.steps = answer(request)
        connections[descriptor] = connection
    }

    private func headLength(_ input: [UInt8]) -> Int? {
        guard input.count >= 4 else { return nil }
        for end in 4...input.count where input[end - 1] == 10 && input[end - 2] == 13 && input[end - 3] == 10 {
            return end
        }
        return nil
    }

    /// Runs the next steps of an answer until one has to wait.
    private func advance(_ descriptor: Int32) {
        while var connection = connections[descriptor], let request = connection.request,
            connection.resumeAt == 0, !connection.isHanging
        {
            if connection.sent < connection.output.count {
                let rest = connection.output.count - connection.sent
                let count = unsafe connection.output.withUnsafeBytes { bytes in
                    unsafe send(
                        descriptor, bytes.baseAddress.map { unsafe $0 + connection.sent }, rest, Int32(MSG_NOSIGNAL))
                }
                if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
                guard count > 0 else { return end(descriptor, isAborted: true) }
                connection.sent += count
                connections[descriptor] = connection
                continue
            }
            guard let step = connection.steps.first else {
                note(request, isAborted: false)
                connection.request = nil
                connection.output = []
                connection.sent = 0
                connections[descriptor] = connection
                takeRequest(descriptor)
                continue
            }
            connection.sent = 0
            connection.output = []
            if case .flood(let bytes) = step {
                connection.output = bytes
            } else {
                connection.steps.removeFirst()
            }
            switch step {
            case .flood: break
            case .send(let bytes): connection.output = bytes
            case .pause(let milliseconds): connection.resumeAt = TestClock.now + UInt64(milliseconds) * 1_000_000
            case .held:
                if let book, !book.isReleased.load(ordering: .acquiring) {
                    connection.steps.insert(.held, at: 0)
                    connection.resumeAt = TestClock.now + 5_000_000
                }
            case .hang: connection.isHanging = true
            case .close: return end(descriptor, isAborted: false)
            case .reset:
                var now = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                return end(descriptor, isAborted: false)
            }
            connections[descriptor] = connection
        }
    }

    private func end(_ descriptor: Int32, isAborted: Bool) {
        guard let connection = connections.removeValue(forKey: descriptor) else { return }
        close(descriptor)
        if let request = connection.request { note(request, isAborted: isAborted) }
    }

    private func note(_ request: Int, isAborted: Bool) {
        book?.requests.withLock { requests in
            requests[request].endedAt = TestClock.now
            requests[request].isAborted = isAborted
        }
    }
}
